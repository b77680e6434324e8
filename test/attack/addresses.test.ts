import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, test } from 'node:test'
import { dragoman } from '../support/command.ts'
import { preload } from '../support/preload.ts'
import { type Evil, PUBLIC, scene } from './evil-site.ts'

/** A hostile server names an address; nothing may open or fetch it. */
const NAMED: readonly (readonly [name: string, evil: Evil])[] = [
  ['a file to open', { server: { authorization_endpoint: 'file:///etc/passwd' } }],
  ['a program to start', { server: { authorization_endpoint: 'vscode://vscode.git/clone?url=x' } }],
  ['a share to mount', { server: { authorization_endpoint: 'smb://evil.example/share' } }],
  ['an inner service to open in the browser', { server: { authorization_endpoint: 'http://{canary}/shutdown' } }],
  ['the same behind a name', { server: { authorization_endpoint: 'https://accounts.example@{canary}/' } }],
  ['metadata of the resource at an inner service', { resourceMetadata: 'http://{canary}/metadata' }],
  ['the same written as a number', { resourceMetadata: 'http://2130706433:{port}/metadata' }],
  ['an authorization server at an inner service', { resource: { authorization_servers: ['http://{canary}'] } }],
  ['a registration at an inner service', { server: { registration_endpoint: 'http://{canary}/register' } }],
  ['tokens from an inner service', { server: { token_endpoint: 'http://{canary}/token' } }],
  ['metadata of the cloud', { resourceMetadata: 'http://169.254.169.254/latest/meta-data' }],
  ['an authorization server without https', { resource: { authorization_servers: ['http://other.example'] } }],
  ['a name that leads to this machine', { resource: { authorization_servers: ['https://inner.example:{port}'] } }],
]

/** A name service that the attacker has: one of its names leads to this machine. */
const NAMES = preload(`
  import dns from 'node:dns'
  import promises from 'node:dns/promises'
  const found = (options) => options?.all ? [{ address: '127.0.0.1', family: 4 }] : '127.0.0.1'
  const old = dns.lookup
  dns.lookup = (name, options, done) => name === 'inner.example' ? (done ?? options)(null, found(options), 4) : old(name, options, done)
  const later = promises.lookup
  promises.lookup = (name, options) => name === 'inner.example' ? Promise.resolve(found(options)) : later(name, options)
`)

describe('mcp login to a server that names', () => {
  for (const [name, evil] of NAMED) {
    test(name, async (t) => {
      const at = await scene(t, evil)
      const env = { ...at.env, ...NAMES, no_proxy: `${at.env['no_proxy']},inner.example` }
      const { code, err } = await dragoman(['mcp', 'login', 'evil'], { work: at.work, env })
      assert.deepEqual(at.reached, [], 'the inner service was reached')
      assert.deepEqual(
        at.opened().filter((url) => !url.startsWith('https://mcp.evil.example/authorize?')),
        [],
        'the browser was told to open it',
      )
      assert.deepEqual(
        at.seen.filter((line) => !line.includes(PUBLIC)),
        [],
        'it was fetched',
      )
      assert.equal(code, 41, err)
      assert.match(err, /the sign-in failed: .*(?:not opened|not fetched|https only)/s)
    })
  }
})

test('a server that sends every request on to an inner service does not lead there', async (t) => {
  const at = await scene(t, { mcp: { status: 307, headers: { location: 'http://{canary}/admin' } } }, 'loopback')
  const { out } = await dragoman(['mcp', 'list'], at)
  assert.deepEqual(at.reached, [])
  assert.match(out, /evil: failed: the server answered with HTTP status 307/)
})

test('a server on loopback may name its own host, and no other service there', async (t) => {
  const good = await scene(t, {}, 'loopback')
  const signedIn = await dragoman(['mcp', 'login', 'evil'], good)
  assert.match(signedIn.out, /^Signed in to evil\./, signedIn.err)
  const bad = await scene(t, { server: { registration_endpoint: 'http://127.0.0.1:6379/' } }, 'loopback')
  assert.match((await dragoman(['mcp', 'login', 'evil'], bad)).err, /Port 6379 belongs to another service/)
})

test('a sign-in goes on whatever comes to its own server', async (t) => {
  const at = await scene(t, {}, 'loopback')
  const env = { ...at.env, BROWSER: '' }
  const answers: string[] = []
  const ended = await dragoman(
    ['mcp', 'login', 'evil'],
    { work: at.work, env },
    {
      started(child) {
        let said = ''
        child.stderr?.on('data', (text: Buffer) => {
          said += text.toString()
          const consent = /\n {2}(http:\S+authorize\S+)/.exec(said)?.[1]
          if (consent === undefined || answers.length > 0) return
          answers.push('begun')
          void attack(new URL(consent), answers).catch((error: unknown) => answers.push(String(error)))
        })
      },
    },
  )
  assert.match(ended.out, /^Signed in to evil\./, `${ended.err}\n${answers.join('\n')}`)
  assert.equal(answers.filter((line) => line.startsWith('HTTP/1.1 2')).length, 0, answers.join('\n'))
  assert.equal(answers.length, 1 + WRONG.length, answers.join('\n'))
})

/** Requests that are no answer to the sign-in; `{path}` is right, with the right state. */
const WRONG = [
  'GET // HTTP/1.1\r\nHost: {host}\r\n\r\n',
  'GET //[ HTTP/1.1\r\nHost: {host}\r\n\r\n',
  'GET http://[::1 HTTP/1.1\r\nHost: {host}\r\n\r\n',
  'GET http://evil.example{path} HTTP/1.1\r\nHost: {host}\r\n\r\n',
  'GET {path} HTTP/1.1\r\nHost: evil.example\r\n\r\n',
  'POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nHost: {host}\r\n\r\n',
  `GET {path} HTTP/1.1\r\nHost: {host}\r\nX: ${'x'.repeat(200_000)}\r\n\r\n`,
  'GET /%zz%00 HTTP/1.1\r\nHost: {host}\r\n\r\n',
  '\u0016\u0003\u0001\u0000not http at all\r\n\r\n',
]

/** Sends them all, one after the other, and then comes back as the browser would. */
async function attack(consent: URL, answers: string[]): Promise<void> {
  const back = new URL(consent.searchParams.get('redirect_uri') ?? '')
  back.search = `?code=x&state=${consent.searchParams.get('state')}`
  for (const request of WRONG) {
    const filled = request.replaceAll('{host}', back.host).replaceAll('{path}', `${back.pathname}${back.search}`)
    answers.push(await spoken(Number(back.port), filled))
  }
  await pause(50)
  // Who holds all connections and says nothing keeps the browser out for a moment, and not for good.
  const silent = Array.from({ length: 150 }, () => connect(Number(back.port), '127.0.0.1').on('error', () => undefined))
  await pause(200)
  const come = (): Promise<boolean> =>
    fetch(back, { signal: AbortSignal.timeout(1000) }).then(
      ({ ok }) => ok,
      () => false,
    )
  for (const end = Date.now() + 25_000; Date.now() < end && !(await come());) await pause(250)
  for (const socket of silent) socket.destroy()
}

function spoken(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    let heard = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    socket.setTimeout(5000, () => socket.destroy())
    socket.on('data', (bytes) => (heard += bytes.toString('latin1')))
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(heard.split('\r\n', 1)[0] ?? ''))
  })
}
