import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { dragoman, stage } from '../support/command.ts'

test('a server with an address is reached through the proxy that the variables name, and said goodbye to', async () => {
  const seen: string[] = []
  const keys = new Set<string>()
  // The proxy is asked for whole addresses, and answers in the place of a server that there is not.
  const proxy = createServer((request, response) => {
    keys.add(String(request.headers['x-key']))
    seen.push(`${request.method} ${request.url} ${request.headers['proxy-authorization'] ?? ''}`)
    let body = ''
    request.on('data', (bytes: Buffer) => (body += bytes.toString()))
    request.on('end', () => {
      if (request.method === 'DELETE') return response.writeHead(204).end()
      if (request.method !== 'POST') return response.writeHead(405).end()
      const { id, method, params } = JSON.parse(body) as { id?: number; method: string; params?: unknown }
      const result = ANSWERS[method]?.(params)
      if (id === undefined) return response.writeHead(202).end()
      const error = { code: -32_601, message: 'no such method' }
      const text = JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error }) })
      const stream = method === 'tools/call'
      const type = stream ? 'text/event-stream' : 'application/json'
      response.writeHead(200, { 'content-type': type, 'mcp-session-id': 'one' })
      return response.end(stream ? `event: message\ndata: ${text}\n\n` : text)
    })
  })
  await new Promise<void>((done) => void proxy.listen(0, '127.0.0.1', done))
  try {
    const { port } = proxy.address() as AddressInfo
    const world = await stage([])
    const { home } = world
    const env = {
      PATH: world.env['PATH'] ?? '',
      HOME: home,
      http_proxy: `http://me:pass@127.0.0.1:${port}`,
      POND_KEY: 'k-1',
    }
    const added = await dragoman(
      ['mcp', 'add', 'far', 'http://pond.example/mcp', '--type', 'http', '--header', 'X-Key: $POND_KEY'],
      { ...world, env },
    )
    assert.equal(added.code, 0, added.out + added.err)
    const called = await dragoman(['mcp', 'test', 'far', 'echo', '{"word":"hello"}'], { ...world, env })
    assert.equal(called.out, 'Echo: hello\n', called.err)
    const introduced = `Basic ${Buffer.from('me:pass').toString('base64')}`
    assert.ok(seen.includes(`POST http://pond.example/mcp ${introduced}`), seen.join('\n'))
    assert.ok(seen.includes(`DELETE http://pond.example/mcp ${introduced}`), seen.join('\n'))

    assert.deepEqual([...keys], ['k-1'], 'a header may name a variable')
    const settings = readFileSync(join(home, '.config/dragoman/config.json'), 'utf8')
    assert.ok(settings.includes('$POND_KEY') && !settings.includes('k-1'))
    const { POND_KEY: _unset, ...without } = env
    assert.match((await dragoman(['mcp', 'test', 'far'], { ...world, env: without })).out, /POND_KEY is not set/)

    const before = seen.length
    const spared = { ...env, no_proxy: 'pond.example' }
    assert.equal((await dragoman(['mcp', 'test', 'far'], { ...world, env: spared })).code, 1)
    assert.equal(seen.length, before, 'NO_PROXY is honoured')
  } finally {
    proxy.closeAllConnections()
    proxy.close()
  }
})

const ANSWERS: Readonly<Record<string, (params: unknown) => object>> = {
  initialize: () => ({
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'far', version: '1' },
  }),
  'tools/list': () => ({
    tools: [{ name: 'echo', inputSchema: { type: 'object', properties: { word: { type: 'string' } } } }],
  }),
  'tools/call': (params) => {
    const { arguments: input } = params as { arguments: { word: string } }
    return { content: [{ type: 'text', text: `Echo: ${input.word}` }] }
  },
}
