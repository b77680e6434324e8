import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { isObject } from '../../src/model/json.ts'
import { dragoman, stage } from '../support/command.ts'

/** Two calls at once after a thought, then words; the server wants its signatures back. */
const SCRIPT = {
  requires: 'signatures',
  steps: [
    {
      think: 'Two files.',
      say: 'I look.',
      call: [
        { name: 'read_file', args: { path: '{cwd}/a.txt' } },
        { name: 'read_file', args: { path: '{cwd}/b.txt' } },
      ],
    },
    { think: 'Now I know.', say: 'They say heron and egret.' },
  ],
} as const

/** The ways to reach the Interactions API. */
const WAYS: readonly [way: string, env: Record<string, string>, settings?: object][] = [
  ['by the name of the provider', { DRAGOMAN_MODEL: 'gemini-interactions/script' }],
  ['by a variable', { DRAGOMAN_MODEL: 'gemini/script', DRAGOMAN_GEMINI_WIRE: 'interactions' }],
  ['by a setting', { DRAGOMAN_MODEL: 'gemini/script' }, { providers: { gemini: { wire: 'interactions' } } }],
]

describe('the command on the Interactions API', () => {
  for (const [way, more, settings] of WAYS) {
    test(way, async () => {
      const { env, server, work, home } = await stage(SCRIPT)
      writeFileSync(join(work, 'a.txt'), 'heron')
      writeFileSync(join(work, 'b.txt'), 'egret')
      mkdirSync(join(home, '.config/dragoman'), { recursive: true })
      writeFileSync(join(home, '.config/dragoman/config.json'), JSON.stringify(settings ?? {}))
      const here = {
        work,
        env: {
          ...env,
          GEMINI_API_KEY: 'k',
          DRAGOMAN_GEMINI_BASE_URL: server.url,
          DRAGOMAN_GEMINI_INTERACTIONS_BASE_URL: server.url,
          ...more,
        },
      }
      const { code, out, err } = await dragoman(['-p', 'What do they say?'], here)
      assert.deepEqual([code, out.trim().endsWith('They say heron and egret.')], [0, true], out + err)
      assert.deepEqual(server.failures, [])
      const [first, second] = server.requests
      assert.deepEqual(
        server.requests.map(({ wire, path }) => [wire, path]),
        [
          ['interactions', '/v1beta/interactions'],
          ['interactions', '/v1beta/interactions'],
        ],
      )
      assert.equal(first?.body['store'], false)
      const steps = second?.body['input']
      const kinds = Array.isArray(steps) ? steps.map((step) => (isObject(step) ? step['type'] : '')) : []
      assert.deepEqual(kinds.slice(-6), [
        'thought',
        'model_output',
        'function_call',
        'function_call',
        'function_result',
        'function_result',
      ])
      const [before, after] = [first?.bytes.toString() ?? '', second?.bytes.toString() ?? '']
      assert.ok(after.startsWith(before.slice(0, -2)), 'the second request extends the first')
    })
  }

  test('a variable with an unknown wire is one sentence', async () => {
    const { env, work } = await stage([])
    const wrong = { ...env, DRAGOMAN_MODEL: 'gemini/x', GEMINI_API_KEY: 'k', DRAGOMAN_GEMINI_WIRE: 'interaction' }
    const { code, err } = await dragoman(['-p', 'x'], { work, env: wrong })
    assert.equal(code, 42)
    assert.match(err, /DRAGOMAN_GEMINI_WIRE is not a wire: gemini, interactions/)
  })
})
