import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { dragoman, stage } from '../support/command.ts'

/** A server that lets nobody in without a token, with its own authorization server, which forgets tokens on demand. */
async function guarded() {
  const codes = new Map<string, string>()
  const seen: string[] = []
  let valid = ''
  let count = 0
  const site = createServer((request, response) => {
    const answer = async (): Promise<unknown> => {
      const body = await bodyOf(request)
      const { pathname, searchParams } = new URL(request.url ?? '/', origin)
      const json = (value: unknown, status = 200) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
      seen.push(`${request.method} ${pathname}`)
      if (pathname === '/.well-known/oauth-protected-resource/mcp')
        return json({ resource: `${origin}/mcp`, authorization_servers: [origin] })
      if (pathname === '/.well-known/oauth-authorization-server')
        return json({
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          response_types_supported: ['code'],
          code_challenge_methods_supported: ['S256'],
          token_endpoint_auth_methods_supported: ['none'],
        })
      if (pathname === '/register') return json({ ...(JSON.parse(body) as object), client_id: 'us' }, 201)
      if (pathname === '/authorize') {
        const code = `code-${count++}`
        codes.set(code, searchParams.get('code_challenge') ?? '')
        const back = new URL(searchParams.get('redirect_uri') ?? '')
        back.searchParams.set('code', code)
        back.searchParams.set('state', searchParams.get('state') ?? '')
        return response.writeHead(302, { location: back.href }).end()
      }
      if (pathname === '/token') {
        const given = new URLSearchParams(body)
        const challenge = createHash('sha256')
          .update(given.get('code_verifier') ?? '')
          .digest('base64url')
        const isCode = codes.get(given.get('code') ?? '') === challenge
        if (!isCode && given.get('refresh_token') !== 'again') return json({ error: 'invalid_grant' }, 400)
        seen.push(isCode ? 'code' : 'refresh')
        valid = `token-${count++}`
        return json({ access_token: valid, token_type: 'Bearer', expires_in: 3600, refresh_token: 'again' })
      }
      if (request.headers.authorization !== `Bearer ${valid}` || valid === '') {
        const where = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`
        return response.writeHead(401, { 'www-authenticate': where }).end()
      }
      if (request.method !== 'POST') return response.writeHead(405).end()
      const { id, method } = JSON.parse(body) as { id?: number; method: string }
      if (id === undefined) return response.writeHead(202).end()
      const results: Record<string, unknown> = {
        initialize: {
          protocolVersion: '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: 'inner', version: '1' },
        },
        'tools/list': { tools: [{ name: 'secret_pond', inputSchema: { type: 'object' } }] },
      }
      const result = results[method]
      return json({ jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32_601, message: 'no' } }) })
    }
    void answer()
  })
  await new Promise<void>((done) => void site.listen(0, '127.0.0.1', done))
  const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  after(() => {
    site.closeAllConnections()
    site.close()
  })
  return { url: `${origin}/mcp`, seen, forget: () => void (valid = 'forgotten') }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString()
}

test('dragoman mcp login: signs in with PKCE, keeps the tokens where only the person can read them, and renews them', async () => {
  const server = await guarded()
  const world = await stage([])
  const { work, home } = world
  // A browser that follows every link and agrees to everything.
  const browser = join(work, 'browser')
  writeFileSync(browser, `#!${process.execPath}\nfetch(process.argv[2])\n`, { mode: 0o755 })
  const env = { ...world.env, BROWSER: browser }

  const added = await dragoman(['mcp', 'add', 'inner', server.url], { work, env })
  assert.equal(added.code, 1)
  assert.match(added.out, /failed: sign-in is required; sign in with dragoman mcp login inner/)
  assert.ok(!server.seen.includes('POST /register'), 'nobody is registered without being asked')

  const signedIn = await dragoman(['mcp', 'login', 'inner'], { work, env })
  assert.equal(signedIn.code, 0, signedIn.err)
  assert.match(signedIn.out, /Signed in to inner\.\ninner: ready/)
  const place = join(home, '.local/share/dragoman/mcp/tokens')
  const [file = ''] = readdirSync(place)
  assert.equal(statSync(join(place, file)).mode & 0o777, 0o600)
  assert.equal(statSync(place).mode & 0o777, 0o700)
  assert.match(readFileSync(join(place, file), 'utf8'), /token-/)

  server.forget()
  const again = await dragoman(['mcp', 'list'], { work, env })
  assert.match(again.out, /inner: ready/, again.out)
  assert.equal(server.seen.filter((one) => one === 'refresh').length, 1)
  assert.equal(server.seen.filter((one) => one === 'code').length, 1, 'no browser was needed')

  assert.equal((await dragoman(['mcp', 'logout', 'inner'], { work, env })).code, 0)
  assert.doesNotMatch(readFileSync(join(place, file), 'utf8'), /token-/)
  assert.match((await dragoman(['mcp', 'list'], { work, env })).out, /sign-in is required/)
})
