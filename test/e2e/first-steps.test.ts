import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { dragoman, stage } from '../support/command.ts'

/** The same place without a key. */
function keyless({ work, env: { PATH = '', HOME = '' } }: { work: string; env: Record<string, string> }) {
  return { work, env: { PATH, HOME } }
}

describe('what is piped in, and nothing else', () => {
  test('is a prompt: one answer, nothing but the answer on standard output', async () => {
    const here = await stage([{ say: 'A message.' }])
    const { code, out } = await dragoman([], here, { input: 'the diff\n' })
    assert.deepEqual([code, out], [0, 'A message.\n'])
    assert.match(JSON.stringify(here.server.requests[0]?.conversation.messages.at(-1)), /the diff"/)
  })

  test('is not thrown away where there is no key: 41, and no tour', async () => {
    const { work, env } = keyless(await stage([]))
    // A server on this machine would do without a key.
    const named = { ...env, DRAGOMAN_MODEL: 'anthropic/claude-sonnet-4-5' }
    const { code, out, err } = await dragoman([], { work, env: named }, { input: 'the diff' })
    assert.deepEqual([code, out], [41, ''])
    assert.match(err, /ANTHROPIC_API_KEY/)
  })

  test('npm start alone waits for nobody: with an open pipe it takes the tour, or says which model there is', async () => {
    const { work, env } = keyless(await stage([]))
    const npm = { npm_lifecycle_event: 'start', npm_package_name: 'dragoman' }
    const { code, out } = await dragoman([], { work, env: { ...env, ...npm } }, { open: true })
    assert.equal(code, 0)
    assert.match(out, /^A scratch project with a failing test|^The model is /m)
  })
})

test('a model that the server does not have is a wrong input: 42', async () => {
  const here = await stage([])
  for (const format of ['text', 'json']) {
    const { code, err, out } = await dragoman(['-m', 'openai-chat/nosuchmodel', '-p', 'hi', '-o', format], here)
    assert.equal(code, 42, err)
    assert.match(err + out, /There is no model .{1,3}nosuchmodel/)
  }
})

test('an address at which there is only a web page is no wrong model: 1', async () => {
  const here = await stage([{ misbehave: [{ kind: 'status', status: 404, body: 'html' }], say: 'ok' }])
  assert.equal((await dragoman(['-p', 'hi'], here)).code, 1)
})

describe('whoever reads JSON reads in JSON why nothing ran', () => {
  const wrong: [args: string[], code: number, type: string, words: RegExp][] = [
    [['-m', 'nobody/x'], 42, 'input', /nobody/],
    [['--no-such-flag'], 42, 'input', /no option --no-such-flag/],
    [['-m', 'anthropic/claude-sonnet-4-5'], 41, 'auth', /ANTHROPIC_API_KEY/],
    [['--system-file', '/no/such/file'], 52, 'config', /system prompt/],
  ]
  for (const [args, code, type, words] of wrong)
    test(args.join(' '), async () => {
      const here = await stage([])
      const json = await dragoman(['-p', 'hi', '-o', 'json', ...args], here)
      assert.equal(json.code, code)
      const { error, response } = JSON.parse(json.out) as { error: { type: string; message: string }; response: string }
      assert.deepEqual([error.type, response], [type, ''])
      assert.match(error.message, words)
      assert.match(json.err, words, 'the sentence is still on standard error')
      const stream = await dragoman(['-p', 'hi', '--output-format=stream-json', ...args], here)
      assert.equal(stream.code, code)
      const lines = stream.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { type: string; status?: string; error?: object })
      assert.deepEqual(
        lines.map((line) => line.type),
        ['error', 'result'],
      )
      assert.deepEqual([lines[1]?.status, lines[1]?.error], ['error', error])
    })
})
