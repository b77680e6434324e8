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
    assert.match(err + out, /(?:There is no|Unknown) model .{1,3}nosuchmodel/)
  }
})

test('an address at which there is only a web page is no wrong model: 1', async () => {
  const here = await stage([{ misbehave: [{ kind: 'status', status: 404, body: 'html' }], say: 'ok' }])
  assert.equal((await dragoman(['-p', 'hi'], here)).code, 1)
})

describe('whoever reads JSON reads in JSON why nothing ran', () => {
  const wrong: [args: string[], code: number, type: string, words: RegExp][] = [
    [['-m', 'nobody/x'], 42, 'input', /nobody/],
    [['--no-such-flag'], 42, 'input', /unknown option --no-such-flag/],
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

describe('dragoman sessions', () => {
  test('list: local time, how many prompts, with whom, and what was forked, in 80 columns', async () => {
    const here = await stage([{ say: 'One.' }, { say: 'Two.' }, { say: 'Three.' }])
    const long = 'a question that is long enough to need more room than there is on a terminal of the usual width'
    await dragoman(['-p', long], here)
    await dragoman(['-p', 'second', '--resume'], here)
    await dragoman(['-p', 'third', '--fork'], here)
    const places = ['UTC', 'Asia/Tokyo', 'America/New_York']
    const lists = await Promise.all(
      places.map(async (TZ) => (await dragoman(['sessions', 'list'], { ...here, env: { ...here.env, TZ } })).out),
    )
    const [fork = '', about = '', first = '', title = ''] = lists[0]?.split('\n') ?? []
    assert.match(fork, /^\S+ {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}3 prompts {3}openai-chat\/script$/)
    assert.match(first, /^\S+ {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}2 prompts {3}openai-chat\/script$/)
    assert.ok(about.startsWith(`  ⑂ of ${first.split(' ')[0]}  a question that is`), about)
    assert.match(title, /^ {2}a question .*…$/)
    for (const row of lists[0]?.split('\n') ?? []) assert.ok(row.length <= 80, row)
    const [utc = 0, ...others] = lists.map((list) => Date.parse(`${/\d{4}-\d\d-\d\d \d\d:\d\d/.exec(list)?.[0]}Z`))
    const hours = others.map((time) => (time - utc) / 3_600_000)
    assert.equal(hours[0], 9)
    assert.ok(hours[1] === -4 || hours[1] === -5, `${hours[1]}`)
  })

  test('export: what was said, and nothing else', async () => {
    const here = await stage([{ say: 'One.' }, { say: 'Two.' }])
    await dragoman(['-p', 'first'], here)
    await dragoman(['-p', 'second', '--resume'], here)
    for (const format of ['gemini', 'interactions', 'code-assist', 'openai-chat', 'openai-responses', 'anthropic']) {
      const { out } = await dragoman(['sessions', 'export', '--format', format], here)
      assert.match(out, /first[^]*One\.[^]*second[^]*Two\./, format)
      assert.doesNotMatch(out, /\(continue\)/, format)
    }
  })
})

describe('small words', () => {
  test('version alone is --version', async () => {
    const here = await stage([])
    const { out, code } = await dragoman(['version'], here)
    assert.deepEqual([code, out], [0, (await dragoman(['--version'], here)).out])
    assert.match(out, /^\d+\.\d+\.\d+\S*\n$/)
    assert.equal(here.server.requests.length, 0)
  })

  test('completion without a shell prints nothing that a shell could run', async () => {
    const { out, err, code } = await dragoman(['completion'], await stage([]))
    assert.deepEqual([code, out], [42, ''])
    assert.match(err, /^dragoman: name the shell: .*bash \| zsh \| fish\n$/)
  })

  test('models are completed the usual one first, then the newer before the older', async () => {
    const here = await stage([])
    for (const provider of ['openai', 'anthropic', 'gemini']) {
      const { out } = await dragoman(['__complete', 'fish', '--', 'dragoman', '-m', `${provider}/`], here)
      const shown = out.trim().split('\n')
      const offers = JSON.parse((await dragoman(['models', '--json'], here)).out) as {
        providers: { provider: string; models: { id: string; default?: true }[] }[]
      }
      const { models = [] } = offers.providers.find((one) => one.provider === provider) ?? {}
      assert.equal(models[0]?.default, true, provider)
      assert.deepEqual(
        shown,
        models.map(({ id }) => `${provider}/${id}`),
      )
    }
    const { out } = await dragoman(['__complete', 'fish', '--', 'dragoman', '-m', 'openai/gpt-'], here)
    const newer = out.trim().split('\n').slice(0, 10)
    for (const model of newer) assert.match(model, /^openai\/gpt-(?:[6-9]|5\.[4-9])/, newer.join(' '))
  })
})
