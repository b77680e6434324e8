import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { describe, test, type TestContext } from 'node:test'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import type { WebPage, WebFailure, WebRequest } from '../../src/host/host.ts'
import { createGuardedWebClient, type GuardedWebClientOptions } from '../../src/host/web/guarded-web-client.ts'
import { createUrlGuard } from '../../src/policy/url/url-guard.ts'
import { certificate } from '../provider/support/certificate.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** A real server on this machine; gives its port. */
async function serve(t: TestContext, handler: Handler, secure?: { key: string; cert: string }): Promise<number> {
  const server = secure ? createSecureServer(secure, handler) : createServer(handler)
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** A web to which these hosts were opened, and for which every name is this machine. */
function webTo(
  open: readonly string[],
  more: Partial<GuardedWebClientOptions> = {},
): (request: WebRequest) => Promise<Fetched> {
  const web = createGuardedWebClient({
    urlPolicy: createUrlGuard({ open }),
    resolve: () => Promise.resolve(['127.0.0.1']),
    ...more,
  })
  return async (request) => (await web.fetch(request)) as Fetched
}

type Fetched = WebPage & WebFailure

describe('a page of a real server', () => {
  test('is fetched where the person opened its host, and not where they did not', async (t) => {
    let asked = 0
    const port = await serve(t, (_request, response) => {
      asked++
      response.setHeader('content-type', 'text/html; charset=utf-8').end('<p>grüezi')
    })
    const url = `http://127.0.0.1:${port}/`
    const page = await webTo([`127.0.0.1:${port}`])({ url })
    assert.deepEqual(page, { url, status: 200, type: 'text/html', size: 10, text: '<p>grüezi' })
    assert.match((await webTo([])({ url })).problem, /this machine/)
    assert.match((await webTo(['127.0.0.1:1'])({ url })).problem, /this machine/)
    assert.match((await webTo([])({ url: `http://public.example:${port}/` })).problem, /leads to 127\.0\.0\.1/)
    assert.equal(asked, 1)
  })

  test('over TLS, the certificate is that of the name, and the address the one that was judged', async (t) => {
    const { key, cert } = certificate('page.example')
    const port = await serve(t, (request, response) => void response.end(`host ${request.headers.host}`), { key, cert })
    const fetch = webTo([`page.example:${port}`, `other.example:${port}`], { ca: cert })
    assert.equal((await fetch({ url: `https://page.example:${port}/` })).text, `host page.example:${port}`)
    assert.match((await fetch({ url: `https://other.example:${port}/` })).problem, /could not be reached/)
  })

  test('is unpacked, but never to more than the limit', async (t) => {
    const packed = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync }
    const bomb = gzipSync(Buffer.alloc(50_000_000, 97))
    const port = await serve(t, (request, response) => {
      const packing = (request.url ?? '').slice(1)
      if (packing === 'bomb') response.setHeader('content-encoding', 'gzip').end(bomb)
      else if (packing === 'twice') response.setHeader('content-encoding', 'gzip, gzip').end(gzipSync(bomb))
      else response.setHeader('content-encoding', packing).end(packed[packing as 'gzip']('a page'))
    })
    const fetch = webTo(['127.0.0.1'], { limits: { maxBytes: 100_000 } })
    for (const packing of Object.keys(packed)) {
      assert.equal((await fetch({ url: `http://127.0.0.1:${port}/${packing}` })).text, 'a page', packing)
    }
    const cut = await fetch({ url: `http://127.0.0.1:${port}/bomb` })
    assert.equal(cut.text?.length, 100_000)
    assert.equal(cut.cut, true)
    assert.match((await fetch({ url: `http://127.0.0.1:${port}/twice` })).problem, /content encoding is not supported/)
  })

  test('is read in its own coding, and only if it is text', async (t) => {
    const pages: Record<string, [type: string, body: Buffer]> = {
      header: ['text/plain; charset=iso-8859-1', Buffer.from('caf\xe9', 'latin1')],
      meta: ['text/html', Buffer.from('<meta charset="windows-1252">caf\xe9', 'latin1')],
      mark: ['text/plain', Buffer.from('\ufeffcafé', 'utf16le')],
      unknown: ['text/plain; charset=klingon', Buffer.from('café')],
      picture: ['image/png', Buffer.from([0x89, 0x50])],
    }
    const port = await serve(t, (request, response) => {
      const [type = '', body] = pages[(request.url ?? '').slice(1)] ?? []
      response.setHeader('content-type', type).end(body)
    })
    const fetch = webTo(['127.0.0.1'])
    for (const name of ['header', 'meta', 'mark', 'unknown']) {
      assert.match((await fetch({ url: `http://127.0.0.1:${port}/${name}` })).text ?? '', /café$/, name)
    }
    const picture = await fetch({ url: `http://127.0.0.1:${port}/picture` })
    assert.deepEqual([picture.type, picture.size, picture.text], ['image/png', 2, undefined])
  })

  test('that does not come is given up, and so is one that nobody wants any more', async (t) => {
    const port = await serve(t, () => undefined)
    const fetch = webTo(['127.0.0.1'], { limits: { timeoutMs: 150 } })
    assert.match((await fetch({ url: `http://127.0.0.1:${port}/` })).problem, /within 0\.15 seconds/)
    const slow = webTo(['127.0.0.1'])({ url: `http://127.0.0.1:${port}/`, signal: AbortSignal.timeout(50) })
    assert.ok((await slow).problem)
  })
})

describe('redirects', () => {
  test('headers of the first host stay with it', async (t) => {
    const seen: string[] = []
    const port = await serve(t, (request, response) => {
      seen.push(`${request.headers.host?.split(':')[0]} ${request.headers.authorization ?? 'none'}`)
      if (request.url === '/') response.writeHead(302, { location: '/again' }).end()
      else if (request.url === '/again')
        response.writeHead(302, { location: `http://second.example:${port}/end` }).end()
      else response.end('end')
    })
    const fetch = webTo([`first.example:${port}`, `second.example:${port}`])
    const page = await fetch({ url: `http://first.example:${port}/`, headers: { authorization: 'Bearer x' } })
    assert.equal(page.url, `http://second.example:${port}/end`)
    assert.deepEqual(seen, ['first.example Bearer x', 'first.example Bearer x', 'second.example none'])
  })

  test('end after five, and an address that was set up may not send on at all', async (t) => {
    let asked = 0
    const port = await serve(t, (_request, response) => {
      asked++
      response.writeHead(302, { location: `/${asked}` }).end()
    })
    assert.match((await webTo(['127.0.0.1'])({ url: `http://127.0.0.1:${port}/` })).problem, /More than 5 redirects/)
    assert.equal(asked, 6)
    const trusted = await webTo([])({ url: `http://127.0.0.1:${port}/`, trusted: true })
    assert.match(trusted.problem, /is not configured/)
    assert.equal(asked, 7)
  })
})

describe('a proxy', () => {
  test('is told the address that was judged, never the name; and inner addresses are refused as without it', async (t) => {
    const { key, cert } = certificate('page.example')
    const port = await serve(t, (_request, response) => void response.end('through'), { key, cert })
    const asked: string[] = []
    const proxy = createServer()
    proxy.on('connect', (request, socket) => {
      asked.push(request.url ?? '')
      const onward = connect(port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        onward.pipe(socket).pipe(onward)
      })
      onward.on('error', () => socket.destroy())
      socket.on('error', () => onward.destroy())
    })
    await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve))
    t.after(() => {
      proxy.closeAllConnections()
      proxy.close()
    })
    const to = { host: '127.0.0.1', port: (proxy.address() as AddressInfo).port, headers: {} }
    const names: Record<string, string[]> = { 'page.example': ['93.184.215.14'], 'evil.example': ['10.0.0.1'] }
    const resolve = (name: string) => Promise.resolve(names[name] ?? [])
    const fetch = webTo([], { ca: cert, resolve, proxy: () => to })
    assert.equal((await fetch({ url: 'https://page.example/' })).text, 'through')
    assert.match((await fetch({ url: 'https://evil.example/' })).problem, /10\.0\.0\.1/)
    assert.match((await fetch({ url: 'https://unknown.example/' })).problem, /no address/)
    assert.deepEqual(asked, ['93.184.215.14:443'])
  })
})
