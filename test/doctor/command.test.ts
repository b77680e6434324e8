import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import type { ExaminationReport } from '../../src/doctor/examine-endpoint.ts'
import { doctorScript } from '../../src/rehearsal/builtin-scripts/doctor.ts'
import { dragoman, stage } from '../support/command.ts'

/** The patient behind a server that refuses a parameter by name; it counts the refusals. */
async function strict(t: TestContext, parameter: string) {
  const here = await stage(doctorScript.steps)
  const seen = { refused: 0, asked: 0 }
  const server = createServer((incoming, outgoing) => {
    const pieces: Buffer[] = []
    incoming.on('data', (piece: Buffer) => pieces.push(piece))
    incoming.on('end', () => {
      const body = Buffer.concat(pieces)
      seen.asked++
      if (body.includes(`"${parameter}"`)) {
        seen.refused++
        outgoing.writeHead(400, { 'content-type': 'application/json' })
        outgoing.end(JSON.stringify({ error: { message: `Unknown parameter: '${parameter}'.`, param: parameter } }))
        return
      }
      const passed = request(`${here.server.url}${incoming.url}`, { method: 'POST' }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 0, answer.headers)
        answer.pipe(outgoing)
      })
      outgoing.on('close', () => passed.destroy())
      passed.on('error', () => outgoing.destroy())
      passed.end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  return { ...here, seen, env: { ...here.env, DRAGOMAN_OPENAI_CHAT_BASE_URL: url } }
}

describe('dragoman doctor', () => {
  test('a table, one line a behaviour, and 0 where tools can be used', async () => {
    const here = await stage([])
    const { code, out, err } = await dragoman(['doctor', 'rehearsal/patient'], here)
    assert.deepEqual([code, err], [0, ''])
    assert.equal(out.match(/^ *\d+ .* passes /gm)?.length, 30)
    assert.match(out, /30 pass, 0 degraded, 0 fail, 0 not offered; \d+ tokens, [\d.]+ s\.\nTools can be used/)
  })

  test('1 where they cannot', async () => {
    const here = await stage([])
    const { code, out } = await dragoman(['doctor', 'rehearsal/hello', '--json'], here)
    assert.equal(code, 1)
    const report = JSON.parse(out) as ExaminationReport
    assert.equal(report.usable, false)
    assert.equal(report.behaviours.length, 30)
  })

  test('nobody there, a wrong key, a wrong name: one sentence, at once', async () => {
    const here = await stage([{ loop: [{ misbehave: [{ kind: 'status', status: 401 }] }] }])
    const dead = { ...here, env: { ...here.env, DRAGOMAN_OPENAI_CHAT_BASE_URL: 'http://127.0.0.1:9/v1' } }
    const cases = [
      [dead, ['doctor', 'openai-chat/x'], 1, /refuses the connection/],
      [here, ['doctor', 'openai-chat/script'], 41, /Incorrect API key/],
      [here, ['doctor', 'nowhere/x'], 42, /There is no provider “nowhere”/],
      [here, ['doctor', 'anthropic/x'], 41, /anthropic needs a key/],
      [here, ['doctor', 'a', 'b'], 42, /unexpected argument “b”/],
      [here, ['doctor', '--timeout', 'soon'], 42, /--timeout needs a number/],
    ] as const
    for (const [where, args, wanted, sentence] of cases) {
      const { code, err } = await dragoman(args, where)
      assert.equal(code, wanted, args.join(' '))
      assert.match(err, sentence)
      assert.equal(err.trim().split('\n').length, 1, err)
    }
    assert.equal(here.server.countRequests(), 1)
  })

  test('somebody who does not get to the second question: what is odd is said all the same', async () => {
    const here = await stage([{ loop: [{ say: 'ready', misbehave: ['finish-missing'] }] }])
    const url = `${here.env['DRAGOMAN_OPENAI_CHAT_BASE_URL']}?key=canary-0123456789`
    const env = { ...here.env, DRAGOMAN_OPENAI_CHAT_BASE_URL: url }
    const { code, out, err } = await dragoman(['doctor', 'openai-chat/script'], { ...here, env })
    assert.equal(code, 1)
    assert.doesNotMatch(out, /canary/, 'a key in the address is not shown')
    assert.match(out, /^This server ends responses without a finish reason: /m)
    assert.match(`${out}${err}`, /The response ended without an end signal\./)
  })

  test('--list', async () => {
    const { code, out } = await dragoman(['doctor', '--list'], await stage([]))
    assert.equal(code, 0)
    assert.equal(out.trim().split('\n').length, 30)
  })
})

describe('--write-profile', () => {
  test('what was found out holds from the next run on, at this address only', async (t) => {
    const here = await strict(t, 'stream_options')
    const { code, out } = await dragoman(['doctor', 'openai-chat/script', '--write-profile'], here)
    assert.equal(code, 0, out)
    assert.match(out, /refuses: \["stream_options"\]/)
    const file = join(here.home, '.config/dragoman/profiles.json')
    const kept = JSON.parse(readFileSync(file, 'utf8')) as Record<string, { flags: unknown }>
    const name = `openai-chat/script ${here.env['DRAGOMAN_OPENAI_CHAT_BASE_URL']}`
    assert.deepEqual(kept[name]?.flags, { refuses: ['stream_options'] })

    here.seen.refused = here.seen.asked = 0
    const run = await dragoman(['-p', 'Reply with the single word: ready.'], here)
    assert.deepEqual([run.code, run.out.trim()], [0, 'ready'])
    assert.deepEqual(here.seen, { refused: 0, asked: 1 })

    const elsewhere = { ...here, env: { ...here.env, DRAGOMAN_OPENAI_CHAT_BASE_URL: `${here.server.url}/v1` } }
    await dragoman(['-p', 'Reply with the single word: ready.'], elsewhere)
    assert.ok(here.server.requests.at(-1)?.bytes.includes('stream_options'))

    writeFileSync(file, '{"half":')
    const broken = await dragoman(['-p', 'x'], here)
    assert.equal(broken.code, 52)
    assert.match(broken.err, /profiles\.json is damaged/)
  })
})
