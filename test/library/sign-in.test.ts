import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, afterEach, describe, test, type TestContext } from 'node:test'
import { agent, type Model, provider } from '../../src/index.ts'
import { answers } from '../provider/support/answers.ts'
import { reply, type Script, serve, stream } from '../provider/support/server.ts'
import { clearAway } from '../support/clear.ts'
import { dragoman } from '../support/command.ts'
import { onBrokenDisk, systemError } from '../support/faulty-disk.ts'

const folder = mkdtempSync(join(tmpdir(), 'dragoman-sign-in-'))
const before = { ...process.env }
afterEach(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
  Object.assign(process.env, before)
})
after(() => clearAway(folder))

/** A home folder of its own, and variables of this process that lead to it. */
function moveHome(variables: Record<string, string>): { home: string; keys: string } {
  const home = mkdtempSync(join(folder, 'home-'))
  Object.assign(process.env, { HOME: home, XDG_DATA_HOME: join(home, 'data'), ...variables })
  return { home, keys: join(home, 'data/dragoman/keys.json') }
}

function store(path: string, content: unknown): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

async function ask(model: string | Model): Promise<string> {
  const helper = agent({ model })
  const { text, fault } = await helper.run('Hi.')
  await helper.close()
  return fault?.message ?? text
}

const chatServer: Script = (response, { url }) =>
  url.endsWith('/models')
    ? reply(response, { data: [{ id: 'm' }] })
    : stream(response, answers['openai-chat'].text('Hello.').events)

/** Google's token server and both of its APIs. Each refresh replaces the refresh token. */
const googleServer: Script = (response, { url }, turn) => {
  if (url.endsWith('/token'))
    return reply(response, { access_token: 'access', expires_in: 3600, refresh_token: `next-${turn}` })
  const wire = url.includes('v1internal') ? 'code-assist' : 'gemini'
  return stream(response, answers[wire].text('Hello.').events)
}

const toUser = (url: string) => ({
  type: 'authorized_user',
  client_id: 'id',
  client_secret: 'secret',
  refresh_token: 'first',
  token_uri: `${url}/token`,
})

async function serveGroq(t: TestContext) {
  const { url, heard } = await serve(t, chatServer)
  return { ...moveHome({ DRAGOMAN_GROQ_BASE_URL: `${url}/v1` }), url, heard }
}

describe('the library uses the sign-ins of the command', () => {
  test('the key that dragoman login stored', async (t) => {
    const { home, heard } = await serveGroq(t)
    const env = Object.fromEntries(Object.entries(process.env).map(([name, value]) => [name, value ?? '']))
    const { code, err } = await dragoman(['login', 'groq'], { env, work: home }, { input: 'gsk_stored0123456789\n' })
    assert.equal(code, 0, err)
    heard.length = 0
    assert.equal(await ask('groq/m'), 'Hello.')
    assert.equal(await ask(provider('groq')('m')), 'Hello.')
    process.env['GROQ_API_KEY'] = 'of-the-variable'
    assert.equal(await ask('groq/m'), 'Hello.')
    assert.deepEqual(
      heard.map(({ headers }) => headers.authorization),
      ['Bearer gsk_stored0123456789', 'Bearer gsk_stored0123456789', 'Bearer of-the-variable'],
    )
  })

  test('no file is read for a key that is passed, or in a variable', async (t) => {
    const { url, heard } = await serveGroq(t)
    const opened: string[] = []
    const readFile = (path: unknown) => {
      if (String(path).startsWith(folder)) opened.push(String(path))
      throw systemError('EACCES')
    }
    const baseUrl = `${url}/v1`
    await onBrokenDisk({ readFileSync: () => readFile as never }, async () => {
      assert.throws(() => provider('groq')('m'), /the stored keys in .*keys\.json cannot be read/)
      opened.length = 0
      assert.equal(await ask(provider('groq', { apiKey: 'passed' })('m')), 'Hello.')
      assert.equal(await ask(provider('mine', { baseUrl, apiKey: () => 'made' })('m')), 'Hello.')
      process.env['GROQ_API_KEY'] = 'of-the-variable'
      assert.equal(await ask('groq/m'), 'Hello.')
    })
    assert.deepEqual(opened, [])
    assert.deepEqual(
      // A local server is also asked about its context window, at any time.
      heard.filter((one) => one.url === '/v1/chat/completions').map(({ headers }) => headers.authorization),
      ['Bearer passed', 'Bearer made', 'Bearer of-the-variable'],
    )
  })

  test('GOOGLE_APPLICATION_CREDENTIALS, and those of gcloud', async (t) => {
    const { url, heard } = await serve(t, googleServer)
    const { home } = moveHome({ DRAGOMAN_VERTEX_BASE_URL: url, GOOGLE_CLOUD_PROJECT: 'p' })
    process.env['GOOGLE_APPLICATION_CREDENTIALS'] = store(join(home, 'named.json'), toUser(url))
    assert.equal(await ask('vertex/gemini-2.5-flash'), 'Hello.')
    delete process.env['GOOGLE_APPLICATION_CREDENTIALS']
    store(join(home, '.config/gcloud/application_default_credentials.json'), toUser(url))
    assert.equal(await ask(provider('vertex')('gemini-2.5-flash')), 'Hello.')
    const sent = heard.filter((one) => !one.url.endsWith('/token'))
    assert.deepEqual(
      sent.map(({ headers }) => headers.authorization),
      ['Bearer access', 'Bearer access'],
    )
  })

  test('a stored sign-in of Code Assist; a replaced refresh token is stored', async (t) => {
    const { url, heard } = await serve(t, googleServer)
    const { keys } = moveHome({ DRAGOMAN_CODE_ASSIST_BASE_URL: url })
    store(keys, { 'code-assist': { kind: 'google', credential: toUser(url), project: 'billed' } })
    assert.equal(await ask('code-assist/gemini-2.5-pro'), 'Hello.')
    assert.equal(heard.at(-1)?.headers.authorization, 'Bearer access')
    assert.equal(heard.at(-1)?.body['project'], 'billed')
    assert.match(readFileSync(keys, 'utf8'), /"refresh_token": "next-0"/)
  })

  test('a file that is damaged is named, and not quoted', () => {
    const { keys } = moveHome({})
    for (const content of ['{"openai": "sk-secret', '[]']) {
      store(keys, content)
      assert.throws(
        () => agent({ model: 'openai/gpt-5.2' }),
        ({ message }: Error) => message.includes(keys) && !message.includes('sk-secret'),
      )
    }
    store(keys, { vertex: { kind: 'google', credential: { type: 'unknown' } } })
    assert.throws(() => agent({ model: 'vertex/m' }), /The stored sign-in of vertex cannot be used: Its type, unknown/)
  })

  test('without any, the error says how to sign in', () => {
    moveHome({})
    assert.throws(() => agent({ model: 'groq/m' }), /groq needs a key: set GROQ_API_KEY.*dragoman login groq/)
    assert.throws(() => provider('vertex')('m'), /vertex needs a key.*gcloud auth/)
  })

  test('a relative HOME is not a folder of the project', () => {
    moveHome({ HOME: 'project' })
    delete process.env['XDG_DATA_HOME']
    assert.throws(() => agent({ model: 'groq/m' }), /groq needs a key/)
  })
})
