import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { answers } from '../provider/support/answers.ts'
import { reply, serve, type Script, stream } from '../provider/support/server.ts'
import { dragoman, stage } from '../support/command.ts'
import { root } from '../support/paths.ts'

const KEY = 'gsk_canary0123456789abcdefghij'

/** A vendor that takes one key only. */
const picky: Script = (response, { headers, url }) => {
  if (headers.authorization !== `Bearer ${KEY}`)
    return reply(response, { error: { message: `wrong key ${headers.authorization}` } }, 401)
  if (url.endsWith('/models')) return reply(response, { data: [{ id: 'm' }] })
  return stream(response, answers['openai-chat'].text('Hello.').events)
}

async function place(t: Parameters<typeof serve>[0], script: Script = picky) {
  const vendor = await serve(t, script)
  const { work, home, env } = await stage([])
  const { OPENAI_API_KEY: _unused, DRAGOMAN_MODEL: _model, ...rest } = env
  return {
    vendor,
    work,
    home,
    env: { ...rest, DRAGOMAN_GROQ_BASE_URL: `${vendor.url}/v1`, DRAGOMAN_OPENROUTER_BASE_URL: `${vendor.url}/api/v1` },
    file: join(home, '.local/share/dragoman/keys.json'),
  }
}

describe('dragoman login', () => {
  test('a key that is piped in is tried, stored for nobody else to read, and used', async (t) => {
    const here = await place(t)
    const signed = await dragoman(['login', 'groq'], here, { input: `${KEY}\n` })
    assert.deepEqual([signed.code, signed.out], [0, 'Signed in to groq.\n'])
    assert.deepEqual(
      here.vendor.heard.map(({ method, url }) => `${method} ${url}`),
      ['GET /v1/models'],
    )
    assert.equal(statSync(here.file).mode & 0o777, 0o600)
    assert.equal(statSync(join(here.file, '..')).mode & 0o777, 0o700)

    const run = await dragoman(['-m', 'groq/m', '-p', 'hi'], here)
    assert.deepEqual([run.code, run.out], [0, 'Hello.\n'])
    const unnamed = await dragoman(['-p', 'hi'], here)
    assert.equal(unnamed.out, 'Hello.\n', 'with no model named it is that of the stored key')

    const listed = await dragoman(['login', '--list'], here)
    assert.equal(listed.out, 'groq            a stored key\n')
    assert.equal((await dragoman(['logout', 'groq'], here)).code, 0)
    assert.ok(!readFileSync(here.file, 'utf8').includes(KEY))
    assert.equal((await dragoman(['-m', 'groq/m', '-p', 'hi'], here)).code, 41)
    assert.equal(here.vendor.heard.at(-1)?.headers.authorization, undefined)
    for (const { out, err } of [signed, run, unnamed, listed]) assert.ok(!`${out}${err}`.includes(KEY))
  })

  test('a key that is refused is not stored, and is not repeated', async (t) => {
    const here = await place(t)
    const { code, out, err } = await dragoman(['login', 'groq'], here, { input: 'gsk_wrong0123456789abcdefghij' })
    assert.equal(code, 41)
    assert.match(err, /^dragoman: the key was not stored: groq rejects it \(401\)\n$/)
    assert.ok(!existsSync(here.file))
    assert.ok(!`${out}${err}`.includes('gsk_wrong'))
  })

  test('where the list of models is open to all, the key is tried elsewhere', async (t) => {
    const here = await place(t, (response, { url }) => reply(response, {}, url === '/api/v1/key' ? 401 : 200))
    assert.equal((await dragoman(['login', 'openrouter'], here, { input: 'sk-or-v1-0123456789' })).code, 41)
  })

  test('a page that answers every key is nobody who takes it', async (t) => {
    const here = await place(t, (response) => {
      response.writeHead(200, { 'content-type': 'text/html' })
      response.end('<!doctype html><title>Hotel</title>Please sign in')
    })
    const { code, err } = await dragoman(['login', 'groq'], here, { input: KEY })
    assert.equal(code, 1)
    assert.match(err, /could not be checked .*: groq \(127.*something other than JSON; check DRAGOMAN_GROQ_BASE_URL/)
    assert.ok(!existsSync(here.file))
  })

  test('a key does not belong on the command line', async (t) => {
    const here = await place(t)
    for (const args of [
      ['login', 'groq', KEY],
      ['login', 'groq', `--key=${KEY}`],
      ['login', `--${KEY}`],
    ]) {
      const { code, out, err } = await dragoman(args, here)
      assert.equal(code, 42)
      assert.ok(!`${out}${err}`.includes(KEY), err)
    }
    assert.ok(!existsSync(here.file))
  })

  test('who cannot be reached, unless the person says so', async (t) => {
    const here = await place(t)
    const env = { ...here.env, DRAGOMAN_GROQ_BASE_URL: 'http://127.0.0.1:9/v1' }
    const failed = await dragoman(['login', 'groq'], { ...here, env }, { input: KEY })
    assert.equal(failed.code, 1)
    assert.match(failed.err, /could not be checked \(--no-check stores it anyway\): /)
    assert.equal((await dragoman(['login', 'groq', '--no-check'], { ...here, env }, { input: KEY })).code, 0)
    assert.ok(readFileSync(here.file, 'utf8').includes(KEY))
  })

  test('what else can be wrong', async (t) => {
    const here = await place(t)
    const wrong: [string[], string, number, RegExp][] = [
      [['login', 'nobody'], KEY, 42, /unknown provider “nobody”/],
      [['login', 'groq'], '', 42, /no key was entered/],
      [['login', 'groq'], 'two words', 42, /this is not a valid key/],
      [['login', 'groq', '--client-file', 'x.json'], '', 42, /does not support browser sign-in/],
      [['login', 'code-assist'], '', 41, /--client-file.*gcloud auth application-default login/],
      [['login', 'code-assist', '--client-file', 'absent.json'], '', 42, /credential file absent\.json does not exist/],
      [['logout', 'groq'], '', 42, /nothing is stored for "groq"/],
    ]
    for (const [args, input, code, words] of wrong) {
      const ended = await dragoman(args, here, { input })
      assert.deepEqual([ended.code, ended.err.trim().split('\n').length], [code, 1], ended.err)
      assert.match(ended.err, words)
    }
    writeFileSync(join(here.home, 'x'), '')
    const broken = { ...here, env: { ...here.env, XDG_DATA_HOME: here.work } }
    await dragoman(['login', 'groq'], broken, { input: KEY })
    writeFileSync(join(here.work, 'dragoman/keys.json'), `{"groq": "${KEY}`)
    const ended = await dragoman(['login', '--list'], broken)
    assert.equal(ended.code, 52)
    assert.ok(!ended.err.includes(KEY))
  })

  test(
    'typed on a terminal: it is not shown',
    { skip: existsSync('/usr/bin/script') ? false : 'there is no script(1)' },
    async (t) => {
      const here = await place(t)
      const child = spawn(
        '/usr/bin/script',
        ['-qec', `${process.execPath} ${join(root, 'bin/dragoman')} login groq`, '/dev/null'],
        { cwd: here.work, env: { ...here.env, SHELL: '/bin/sh' }, stdio: ['pipe', 'pipe', 'inherit'] },
      )
      let screen = ''
      let typed = false
      child.stdout.on('data', (text: Buffer) => {
        screen += text.toString()
        if (typed || !screen.includes('(hidden)')) return
        typed = true
        // A slip, mended; and the marks that a terminal puts around what is pasted.
        child.stdin.write(`\u001b[200~${KEY}x\u001b[201~\u007f\r`)
      })
      const code = await new Promise((resolve) => child.on('close', resolve))
      assert.equal(code, 0, screen)
      assert.match(screen, /API key for groq \(hidden\): \r?\n[^]*Signed in to groq/)
      assert.ok(!screen.includes('gsk_'), screen)
      assert.ok(readFileSync(here.file, 'utf8').includes(KEY))
    },
  )
})

describe('Google’s credentials', () => {
  test('Code Assist with one’s own client: the browser, the sign-up, and then a run', async (t) => {
    const tokens: string[] = []
    const here = await place(t, (response, { url, body }) => {
      const asked = new URL(url, 'http://x')
      if (asked.pathname === '/auth') {
        const to = new URL(asked.searchParams.get('redirect_uri') ?? '')
        to.search = `?state=${asked.searchParams.get('state')}&code=the-code`
        return reply(response, '', 302, { location: to.href })
      }
      if (asked.pathname === '/token') {
        tokens.push(String(body['unreadable']))
        const grown = { access_token: `ya29.token-${tokens.length}-0123456789`, expires_in: 3600 }
        return reply(
          response,
          tokens.length === 1 ? { ...grown, refresh_token: '1//0canary-refresh-token-abcdef' } : grown,
        )
      }
      if (asked.pathname.endsWith('loadCodeAssist'))
        return reply(response, { currentTier: { id: 'standard-tier' }, cloudaicompanionProject: 'theirs' })
      return stream(response, answers['code-assist'].text('Hello.').events)
    })
    const { url, heard } = here.vendor
    const client = { client_id: 'me.apps', client_secret: 'GOCSPX-canary-0123456789abcdef' }
    writeFileSync(
      join(here.work, 'client.json'),
      JSON.stringify({ installed: { ...client, auth_uri: `${url}/auth`, token_uri: `${url}/token` } }),
    )
    const browser = join(here.work, 'browser')
    writeFileSync(browser, `#!${process.execPath}\nvoid fetch(process.argv[2])\n`)
    chmodSync(browser, 0o755)
    const env = { ...here.env, BROWSER: browser, DRAGOMAN_CODE_ASSIST_BASE_URL: url }
    const signed = await dragoman(['login', 'code-assist', '--client-file', 'client.json'], { ...here, env })
    assert.equal(signed.code, 0, signed.err)
    assert.equal(signed.out, 'Code Assist: standard-tier, project theirs.\nSigned in to code-assist.\n')
    assert.equal(statSync(here.file).mode & 0o777, 0o600)
    assert.equal(
      (await dragoman(['login', '--list'], { ...here, env })).out,
      'code-assist     a sign-in with Google, project theirs\n',
    )
    const before = heard.length
    const run = await dragoman(['-m', 'code-assist/gemini-2.5-pro', '-p', 'hi'], { ...here, env })
    assert.deepEqual([run.code, run.out], [0, 'Hello.\n'], run.err)
    assert.deepEqual(
      heard.slice(before).map((one) => one.url),
      ['/token', '/v1internal:streamGenerateContent?alt=sse'],
      'the project is known, so nobody asks for it again',
    )
    assert.equal(heard.at(-1)?.body['project'], 'theirs')
    assert.equal(heard.at(-1)?.headers.authorization, `Bearer ya29.token-${tokens.length}-0123456789`)
    assert.match(tokens[0] ?? '', /code_verifier=/)
    for (const { out, err } of [signed, run]) assert.doesNotMatch(`${out}${err}`, /GOCSPX|1\/\/0|ya29/)
  })

  test('a refresh token that is good for one use: many processes at once, and nobody is signed out', async (t) => {
    let refresh = 'refresh-0'
    const counts = { granted: 0, refused: 0 }
    const here = await place(t, (response, { url, body }) => {
      if (url !== '/token') return stream(response, answers.gemini.text('Hello.').events)
      const fields = new URLSearchParams(String(body['unreadable']))
      if (fields.get('refresh_token') !== refresh) {
        counts.refused++
        return reply(response, { error: 'invalid_grant' }, 400)
      }
      refresh = `refresh-${++counts.granted}`
      const tokens = { access_token: `ya29.${counts.granted}`, expires_in: 3600, refresh_token: refresh }
      setTimeout(() => reply(response, tokens), 100)
      return undefined
    })
    const { url } = here.vendor
    const client = { client_id: 'a', client_secret: 'b', token_uri: `${url}/token` }
    const credential = { type: 'authorized_user', refresh_token: refresh, ...client }
    mkdirSync(dirname(here.file), { recursive: true })
    writeFileSync(here.file, JSON.stringify({ vertex: { kind: 'google', credential, project: 'p' } }))
    const env = { ...here.env, DRAGOMAN_VERTEX_BASE_URL: url }
    const runs = Array.from({ length: 6 }, () =>
      dragoman(['-m', 'vertex/gemini-3.8-flash', '-p', 'hi'], { ...here, env }),
    )
    for (const { code, out, err } of await Promise.all(runs)) assert.deepEqual([code, out], [0, 'Hello.\n'], err)
    assert.deepEqual(counts, { granted: 6, refused: 0 })
    assert.match(readFileSync(here.file, 'utf8'), /"refresh-6"/)
  })

  test('Vertex with the file that GOOGLE_APPLICATION_CREDENTIALS names, and with gcloud’s own', async (t) => {
    const here = await place(t, (response, { url }) =>
      url === '/token'
        ? reply(response, { access_token: 'ya29.of-gcloud-0123456789', expires_in: 3600 })
        : stream(response, answers.gemini.text('Hello.').events),
    )
    const { url, heard } = here.vendor
    const credential = {
      type: 'authorized_user',
      client_id: 'a',
      client_secret: 'b',
      refresh_token: 'c',
      quota_project_id: 'payer',
      token_uri: `${url}/token`,
    }
    const path = join(here.work, 'application_default_credentials.json')
    writeFileSync(path, JSON.stringify(credential))
    for (const variable of [{ GOOGLE_APPLICATION_CREDENTIALS: path }, { CLOUDSDK_CONFIG: here.work }]) {
      const env = { ...here.env, ...variable, DRAGOMAN_VERTEX_BASE_URL: url }
      const run = await dragoman(['-m', 'vertex/gemini-3.8-flash', '-p', 'hi'], { ...here, env })
      assert.deepEqual([run.code, run.out], [0, 'Hello.\n'], run.err)
      const last = heard.at(-1)
      assert.ok(last)
      const { headers, url: asked } = last
      assert.equal(headers.authorization, 'Bearer ya29.of-gcloud-0123456789')
      assert.equal(headers['x-goog-user-project'], 'payer')
      assert.match(asked, /^\/v1beta1\/projects\/payer\/locations\/global\//)
    }
    const wrong = { ...here.env, GOOGLE_APPLICATION_CREDENTIALS: '/no/such/file' }
    const failed = await dragoman(['-m', 'vertex/gemini-3.8-flash', '-p', 'hi'], { ...here, env: wrong })
    assert.equal(failed.code, 41)
    assert.match(failed.err, /The credential file \/no\/such\/file does not exist/)
  })
})
