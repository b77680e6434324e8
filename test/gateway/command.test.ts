import assert from 'node:assert/strict'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { GATEWAY_CLIENTS } from '../../src/gateway/clients/all-clients.ts'
import { dragoman, stage } from '../support/command.ts'
import { post } from '../rehearsal/support.ts'

describe('dragoman gateway', () => {
  test('--json prints the address first; it answers, records, and ends when told', async () => {
    const place = await stage([{ say: 'Hello from the model.' }])
    let answered: string | undefined
    const record = join(place.work, 'recording')
    const ended = await dragoman(['gateway', '--json', '--token', 'token-of-this-test-1', '--record', record], place, {
      started(child) {
        let out = ''
        child.stdout?.on('data', (piece: Buffer) => {
          out += piece.toString()
          if (!out.includes('\n') || answered !== undefined) return
          const { url, token, inspector } = JSON.parse(out.split('\n')[0] ?? '') as Record<string, string>
          answered = ''
          const body = { model: 'claude-x', max_tokens: 100, messages: [{ role: 'user', content: 'Go.' }] }
          void post(`${url}/v1/messages`, body, { headers: { 'x-api-key': token ?? '' } })
            .then(({ text }) => (answered = `${text} ${inspector}`))
            .finally(() => child.kill('SIGTERM'))
        })
      },
    })
    assert.equal(ended.code, 0, ended.err)
    assert.match(
      answered ?? '',
      /Hello from the model\.".*"stop_reason":"end_turn".*\/inspector\/#token-of-this-test-1$/,
    )
    const recorded = readdirSync(record).map((name) => readFileSync(join(record, name), 'utf8'))
    assert.ok(recorded.some((text) => text.includes('/v1/chat/completions')))
    const key = join(place.home, '.local/share/dragoman/gateway/envelope.key')
    assert.equal(statSync(key).mode & 0o777, 0o600)
  })

  test('run starts a client with the gateway, and ends with its exit code', async () => {
    const place = await stage([{ say: 'Hello from the model.' }])
    const bin = join(place.home, 'bin')
    mkdirSync(bin)
    const program = `#!${process.execPath}
const { ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: token, ANTHROPIC_API_KEY: key } = process.env
const body = JSON.stringify({ model: 'claude-x', max_tokens: 9, messages: [{ role: 'user', content: 'Go.' }] })
const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' }
const answer = await fetch(url + '/v1/messages', { method: 'POST', headers, body })
console.log(JSON.stringify({ args: process.argv.slice(2), key: key ?? null, answer: await answer.json() }))
process.exit(7)
`
    writeFileSync(join(bin, 'claude'), program.replaceAll(/^(const|console|process)/gm, '$1'))
    chmodSync(join(bin, 'claude'), 0o755)
    writeFileSync(join(bin, 'package.json'), '{"type":"module"}')
    const env = { ...place.env, PATH: `${bin}:${place.env['PATH'] ?? ''}`, ANTHROPIC_API_KEY: 'own-key' }
    const ended = await dragoman(['gateway', 'run', 'claude', '--', '-p', '--help'], { ...place, env })
    assert.equal(ended.code, 7, ended.err)
    const { args, key, answer } = JSON.parse(ended.out) as { args: string[]; key: null; answer: { content: unknown } }
    assert.deepEqual(args, ['-p', '--help'])
    assert.equal(key, null)
    assert.deepEqual(answer.content, [{ type: 'text', text: 'Hello from the model.', citations: null }])
    const missing = await dragoman(['gateway', 'run', 'goose'], { ...place, env: { ...env, PATH: bin } })
    assert.equal(missing.code, 42)
    assert.match(missing.err, /goose was not found/)
  })

  test('run tells opencode and pi to ask a Responses model for its reasoning, and only such a model', async () => {
    const place = await stage([])
    const bin = join(place.home, 'bin')
    mkdirSync(bin)
    const programs = { opencode: 'printenv OPENCODE_CONFIG_CONTENT', pi: 'cat "$PI_CODING_AGENT_DIR/models.json"' }
    for (const [name, command] of Object.entries(programs)) {
      writeFileSync(join(bin, name), `#!/bin/sh\n${command}\n`)
      chmodSync(join(bin, name), 0o755)
    }
    const keys = { OPENAI_API_KEY: 'sk-test', ANTHROPIC_API_KEY: 'sk-ant-test' }
    const env = { ...place.env, ...keys, PATH: `${bin}:${place.env['PATH'] ?? ''}` }
    const show = async (client: string, model: string): Promise<string> => {
      const { code, out, err } = await dragoman(['gateway', 'run', client, '-m', model], { ...place, env })
      assert.equal(code, 0, err)
      return out
    }
    for (const client of Object.keys(programs)) {
      assert.match(await show(client, 'openai/gpt-5.1'), /"reasoning": ?true/)
      assert.doesNotMatch(await show(client, 'openai/gpt-4.1'), /"reasoning"/)
      assert.doesNotMatch(await show(client, 'anthropic/claude-sonnet-4-5'), /"reasoning"/)
    }
  })

  test('run gives Qwen Code the API of Anthropic’s models, on which it sends signatures back, and chat completions for others', async () => {
    const place = await stage([])
    const bin = join(place.home, 'bin')
    mkdirSync(bin)
    const program = '#!/bin/sh\necho "$ANTHROPIC_MODEL,$OPENAI_MODEL"\ncat "$QWEN_CODE_SYSTEM_SETTINGS_PATH"\n'
    writeFileSync(join(bin, 'qwen'), program)
    chmodSync(join(bin, 'qwen'), 0o755)
    const keys = { GEMINI_API_KEY: 'test', ANTHROPIC_API_KEY: 'test' }
    const env = { ...place.env, ...keys, PATH: `${bin}:${place.env['PATH'] ?? ''}` }
    const show = async (model: string): Promise<string> =>
      (await dragoman(['gateway', 'run', 'qwen', '-m', model], { ...place, env })).out
    assert.match(await show('anthropic/claude-sonnet-4-5'), /^anthropic\/.+,\n.*"selectedType":"anthropic"/)
    assert.match(await show('gemini/gemini-3-pro-preview'), /^,gemini\/.+\n.*"selectedType":"openai"/)
  })

  test('env prints what a shell needs, for each client', async () => {
    const place = await stage([])
    const address = ['--url', 'http://127.0.0.1:4000', '--token', "it's a token"]
    for (const { id } of GATEWAY_CLIENTS) {
      const { code, out, err } = await dragoman(['gateway', 'env', id, ...address], place)
      assert.equal(code, 0, err)
      assert.match(out, new RegExp(`^# ${id}\\b`, 'm'))
      assert.match(out, /^export [A-Z_]+=/m)
    }
    assert.ok(!existsSync(join(place.home, '.gemini')), 'nothing of the client itself is changed')
  })

  test('a client that reads one folder only gets its own folder with other settings', async () => {
    const place = await stage([])
    const own = join(place.home, '.gemini')
    mkdirSync(join(own, 'commands'), { recursive: true })
    const settings =
      '{\n  // mine\n  "ui": { "theme": "dark" },\n  "security": { "auth": { "selectedType": "oauth-personal" } },\n}\n'
    writeFileSync(join(own, 'settings.json'), settings)
    writeFileSync(join(own, 'GEMINI.md'), 'Be brief.\n')
    const address = ['--url', 'http://127.0.0.1:4000', '--token', 'the-token']
    // A second time over the first one.
    await dragoman(['gateway', 'env', 'gemini', ...address], place)
    const { out } = await dragoman(['gateway', 'env', 'gemini', '--json', ...address], place)
    const { env } = JSON.parse(out) as { env: Record<string, string> }
    const folder = join(env['GEMINI_CLI_HOME'] ?? '', '.gemini')
    assert.deepEqual(JSON.parse(readFileSync(join(folder, 'settings.json'), 'utf8')), {
      ui: { theme: 'dark' },
      security: { auth: { selectedType: 'gemini-api-key' } },
    })
    assert.equal(readFileSync(join(folder, 'GEMINI.md'), 'utf8'), 'Be brief.\n')
    assert.ok(statSync(join(folder, 'commands')).isDirectory())
    assert.equal(readFileSync(join(own, 'settings.json'), 'utf8'), settings)
    assert.equal(statSync(join(folder, 'settings.json')).mode & 0o777, 0o600)
  })

  test('what was spent today counts after a restart', async () => {
    const usage = { input: 1_000_000, cacheRead: 0, cacheWrite: 0, output: 10, reasoning: 0 }
    const place = await stage([{ say: 'Hello.', usage }])
    const config = join(place.home, '.config/dragoman')
    mkdirSync(config, { recursive: true })
    const card = { price: { input: 1, output: 1 } }
    const settings = { gateway: { maxCostPerDay: 1.05 }, catalog: { 'openai-chat/script': card } }
    writeFileSync(join(config, 'config.json'), JSON.stringify(settings))
    const ask = (): Promise<{ status: number; text: string }> =>
      new Promise((resolve, reject) => {
        let out = ''
        void dragoman(['gateway', '--json', '--token', 'token-of-this-test-1'], place, {
          started: (child) =>
            child.stdout?.on('data', (piece: Buffer) => {
              out += piece.toString()
              if (!out.includes('\n')) return
              const { url } = JSON.parse(out.split('\n')[0] ?? '') as { url: string }
              const body = { model: 'x', max_tokens: 100, messages: [{ role: 'user', content: 'Go.' }] }
              post(`${url}/v1/messages`, body, { headers: { 'x-api-key': 'token-of-this-test-1' } })
                .then(resolve, reject)
                .finally(() => child.kill('SIGTERM'))
            }),
        }).then(({ code, err }) => (code === 0 ? undefined : reject(new Error(err))))
      })
    assert.equal((await ask()).status, 200)
    // The file can be damaged, and others can write to it.
    const folder = join(place.home, '.local/share/dragoman/gateway')
    const [file = ''] = readdirSync(folder).filter((name) => name.startsWith('spending-'))
    appendFileSync(join(folder, file), 'garbage\n{"key":"all","dollars":0.03}\n')
    const second = await ask()
    assert.equal(second.status, 200, second.text)
    const third = await ask()
    assert.equal(third.status, 429, third.text)
    assert.match(third.text, /\$\d+\.\d+ of \$1\.05 are spent/)
  })

  test('wrong words get one sentence', async () => {
    const place = await stage([])
    for (const [args, words] of [
      [['run', 'vim'], /unknown client “vim”; the clients are claude/],
      [['run'], /needs a client/],
      [['env', 'claude'], /needs --url and --token/],
      [['fly'], /unknown subcommand “fly”/],
      [['--port', 'x'], /--port must be a number/],
      [['--model', 'nobody/x'], /no provider “nobody”/],
    ] as const) {
      const { code, err } = await dragoman(['gateway', ...args], place)
      assert.equal(code, 42, err)
      assert.match(err, words)
    }
  })
})
