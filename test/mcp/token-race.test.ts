import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { dragoman, stage } from '../support/command.ts'

/** A server whose refresh tokens are good for one use, and whose access tokens can be made to expire. */
async function rotatingServer(t: TestContext) {
  const counts = { granted: 0, refused: 0 }
  let access = new Set<string>()
  let refresh = ''
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const url = new URL(request.url ?? '/', base)
      const json = (value: unknown, status = 200, headers = {}) =>
        response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
      if (url.pathname.startsWith('/.well-known/oauth-protected-resource'))
        return json({ resource: `${base}/mcp`, authorization_servers: [base] })
      if (url.pathname.startsWith('/.well-known/'))
        return json({
          issuer: base,
          authorization_endpoint: `${base}/authorize`,
          token_endpoint: `${base}/token`,
          registration_endpoint: `${base}/register`,
          response_types_supported: ['code'],
          code_challenge_methods_supported: ['S256'],
          token_endpoint_auth_methods_supported: ['none'],
        })
      if (url.pathname === '/register') return json({ ...(JSON.parse(body) as object), client_id: 'c' }, 201)
      if (url.pathname === '/token') {
        const fields = new URLSearchParams(body)
        if (fields.get('grant_type') === 'refresh_token' && fields.get('refresh_token') !== refresh) {
          counts.refused++
          return json({ error: 'invalid_grant' }, 400)
        }
        refresh = `refresh-${++counts.granted}`
        access.add(`access-${counts.granted}`)
        const tokens = { access_token: `access-${counts.granted}`, refresh_token: refresh, token_type: 'Bearer' }
        // Long enough for everybody else to come along with the old one.
        return setTimeout(() => json({ ...tokens, expires_in: 3600 }), 300)
      }
      if (!access.has(String(request.headers.authorization).replace('Bearer ', ''))) {
        const where = `${base}/.well-known/oauth-protected-resource/mcp`
        return json({}, 401, { 'www-authenticate': `Bearer resource_metadata="${where}"` })
      }
      if (request.method !== 'POST') return response.writeHead(405).end()
      const { id, method } = JSON.parse(body) as { id?: number; method: string }
      if (id === undefined) return response.writeHead(202).end()
      const result = RESULTS[method]
      return json({ jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32_601, message: 'no' } }) })
    })
  })
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url: `${base}/mcp`, counts, expire: () => void (access = new Set()) }
}

const RESULTS: Readonly<Record<string, unknown>> = {
  initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } },
  'tools/list': { tools: [{ name: 'ping_it', inputSchema: { type: 'object' } }] },
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString()
}

/** A person who has signed in to such a server. */
async function signedIn(t: TestContext) {
  const server = await rotatingServer(t)
  const { work, home, env: plain } = await stage([])
  mkdirSync(join(home, '.config/dragoman'), { recursive: true })
  const settings = { mcpServers: { inner: { httpUrl: server.url } } }
  writeFileSync(join(home, '.config/dragoman/config.json'), JSON.stringify(settings))
  const browser = join(home, 'browser')
  const agrees = `const url = new URL(process.argv[2]); fetch(url.searchParams.get('redirect_uri') + '?code=x&state=' + url.searchParams.get('state'))`
  writeFileSync(browser, `#!${process.execPath}\n${agrees}\n`, { mode: 0o755 })
  const here = { work, env: { ...plain, BROWSER: browser } }
  const login = await dragoman(['mcp', 'login', 'inner'], here)
  assert.match(login.out, /inner: ready/, login.err)
  const tokens = join(home, '.local/share/dragoman/mcp/tokens')
  return { server, here, tokens }
}

const PROCESSES = 12

test('many processes with an expired token: one renews it, all go on, and nobody is signed out', async (t) => {
  const { server, here, tokens } = await signedIn(t)
  for (let round = 0; round < 2; round++) {
    server.expire()
    const before = server.counts.granted
    const ended = await Promise.all(Array.from({ length: PROCESSES }, () => dragoman(['mcp', 'list'], here)))
    for (const { out, err } of ended) assert.match(out, /inner: ready/, err)
    assert.deepEqual([server.counts.granted - before, server.counts.refused], [1, 0])
  }
  assert.match((await dragoman(['mcp', 'list'], here)).out, /inner: ready/)
  assert.deepEqual(
    readdirSync(tokens).filter((name) => name.includes('lock')),
    [],
    'no lock is left',
  )
})

test('the lock of a process that has died is taken over', async (t) => {
  const { server, here, tokens } = await signedIn(t)
  const [file = ''] = readdirSync(tokens)
  writeFileSync(join(tokens, `${file}.work.lock`), '999999 1')
  server.expire()
  assert.match((await dragoman(['mcp', 'list'], here)).out, /inner: ready/)
})

test('a refresh token that is refused for good leads to a new sign-in, and is removed; what others keep stays', async (t) => {
  const { server, here, tokens } = await signedIn(t)
  const [file = ''] = readdirSync(tokens)
  const path = join(tokens, file)
  const kept = JSON.parse(readFileSync(path, 'utf8')) as { tokens: { refresh_token: string } }
  server.expire()
  writeFileSync(path, JSON.stringify({ ...kept, tokens: { ...kept.tokens, refresh_token: 'used-before' } }))
  assert.match((await dragoman(['mcp', 'list'], here)).out, /sign-in is required/)
  assert.equal(server.counts.refused, 1)
  assert.doesNotMatch(readFileSync(path, 'utf8'), /used-before/)
  assert.match(readFileSync(path, 'utf8'), /"client_id":"c"/)
})
