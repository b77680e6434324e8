import assert from 'node:assert/strict'
import { createServer, request as httpRequest } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { findProxy } from '../../src/provider/http/proxy.ts'
import { createModel, createHttpClient } from '../../src/provider/http/node-http-client.ts'
import { answers } from './support/answers.ts'
import { aimed, answerOf, eventsOf } from './support/ask.ts'
import { certificate } from './support/certificate.ts'
import { serve, stream } from './support/server.ts'

const chat = answers['openai-chat']

describe('which proxy', () => {
  const via = (url: string, env: Record<string, string>): string | undefined => {
    const found = findProxy(new URL(url), env)
    return found && ('problem' in found ? found.problem : `${found.host}:${found.port}`)
  }

  test('by scheme, in both spellings, and one for all', () => {
    const env = { HTTPS_PROXY: 'http://secure:3128', HTTP_PROXY: 'plain:8080' }
    assert.equal(via('https://a.example', env), 'secure:3128')
    assert.equal(via('http://a.example', env), 'plain:8080')
    assert.equal(via('https://a.example', { https_proxy: 'http://small', ...env }), 'small:80')
    assert.equal(via('https://a.example', { all_proxy: 'http://all:1' }), 'all:1')
    assert.equal(via('https://a.example', {}), undefined)
    assert.equal(via('https://a.example', { HTTPS_PROXY: '' }), undefined)
  })

  test('never for this machine', () => {
    const env = { HTTP_PROXY: 'http://plain:8080' }
    for (const host of ['127.0.0.1:1234', 'localhost', '[::1]:8080', 'a.localhost'])
      assert.equal(via(`http://${host}/`, env), undefined, host)
  })

  test('NO_PROXY', () => {
    const env = {
      HTTPS_PROXY: 'http://p:1',
      NO_PROXY: 'one.example, .two.example *.three.example four.example:8443,10.0.0.1 [fe80::1]',
    }
    for (const host of [
      'one.example',
      'x.one.example',
      'a.two.example',
      'b.three.example',
      'four.example:8443',
      '10.0.0.1',
      '[fe80::1]',
    ])
      assert.equal(via(`https://${host}/`, env), undefined, host)
    for (const host of ['none.example', 'xone.example', 'four.example', '10.0.0.11'])
      assert.equal(via(`https://${host}/`, env), 'p:1', host)
    assert.equal(via('https://a.example', { ...env, no_proxy: '*' }), undefined)
  })

  test('only what we speak', () => {
    assert.equal(
      via('https://a.example', { HTTPS_PROXY: 'socks5://p:1' }),
      'HTTPS_PROXY must name an http:// proxy; other kinds are not supported.',
    )
  })
})

/** A proxy on loopback that leads every name to one port, and writes down what it was asked for. */
async function proxy(t: TestContext, to: number, password?: string): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = []
  const sockets: Socket[] = []
  const refused = (headers: Record<string, unknown>): boolean =>
    password !== undefined && headers['proxy-authorization'] !== `Basic ${Buffer.from(password).toString('base64')}`
  const server = createServer((incoming, outgoing) => {
    asked.push(`${incoming.method} ${incoming.url} (${incoming.headers.host})`)
    if (refused(incoming.headers)) return void outgoing.writeHead(407).end()
    const { pathname } = new URL(incoming.url ?? '')
    const onward = httpRequest(
      { host: '127.0.0.1', port: to, path: pathname, method: 'POST', headers: incoming.headers },
      (back) => {
        outgoing.writeHead(back.statusCode ?? 0, back.headers)
        back.pipe(outgoing)
      },
    )
    return void incoming.pipe(onward)
  })
  server.on('connection', (socket) => sockets.push(socket.on('error', () => {})))
  server.on('connect', (incoming, socket, head) => {
    asked.push(`CONNECT ${incoming.url}`)
    if (refused(incoming.headers))
      return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n')
    const onward = connect(to, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      onward.write(head)
      onward.pipe(socket).pipe(onward)
    })
    sockets.push(onward.on('error', () => {}))
    return undefined
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { url: `127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

async function secureServer(
  t: TestContext,
  pair: { key: string; cert: string },
): Promise<{ port: number; connections: () => number }> {
  let connections = 0
  const server = createSecureServer(pair, (request, response) => {
    request.resume()
    request.on('end', () => stream(response, chat.text('Yes.').events))
  })
  server.on('secureConnection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, connections: () => connections }
}

describe('through a proxy', () => {
  test('http: the whole address is asked for', async (t) => {
    const { url, heard } = await serve(t, (response) => stream(response, chat.text('Yes.').events))
    const { url: address, asked } = await proxy(t, Number(new URL(url).port))
    const model = createModel(aimed('openai-chat/gpt-4.1', 'http://model.test/v1'), {
      httpClient: createHttpClient({ HTTP_PROXY: `http://${address}` }),
    })
    for (let n = 0; n < 2; n++) assert.equal((await answerOf(model)).turn.finish.reason, 'stop')
    assert.equal(asked[0], 'POST http://model.test/v1/chat/completions (model.test)')
    assert.equal(heard[0]?.url, '/v1/chat/completions')
  })

  test('https: CONNECT, with a password, and the connection is kept', async (t) => {
    const pair = certificate('model.test')
    const server = await secureServer(t, pair)
    const { url: address, asked } = await proxy(t, server.port, 'me:p@ss')
    const post = createHttpClient({ HTTPS_PROXY: `http://me:p%40ss@${address}` }, { ca: pair.cert })
    const model = createModel(aimed('openai-chat/gpt-4.1', 'https://model.test/v1'), { httpClient: post })
    for (let n = 0; n < 3; n++) assert.equal((await answerOf(model)).turn.finish.reason, 'stop')
    assert.deepEqual(asked, ['CONNECT model.test:443'])
    assert.equal(server.connections(), 1)
  })

  const faultOf = async (env: Record<string, string>, url = 'https://model.test/v1') => {
    const last = (
      await eventsOf(createModel(aimed('openai-chat/gpt-4.1', url), { httpClient: createHttpClient(env) }))
    ).at(-1)
    assert.ok(last?.type === 'finish' && last.fault)
    return last.fault
  }

  test('a certificate that nobody knows is no passing trouble', async (t) => {
    const server = await secureServer(t, certificate('model.test'))
    const { url: address } = await proxy(t, server.port)
    const fault = await faultOf({ HTTPS_PROXY: `http://${address}` })
    assert.equal(fault.kind, 'invalid')
    assert.match(fault.message, /certificate of openai-chat \(model\.test\) is not trusted.*NODE_EXTRA_CA_CERTS/)
  })

  test('a proxy that wants a password, in no sentence of ours', async (t) => {
    const { url: address } = await proxy(t, 9, 'me:secret-word')
    for (const url of ['https://model.test/v1', 'http://model.test/v1']) {
      const fault = await faultOf({ ALL_PROXY: `http://me:wrong-word@${address}` }, url)
      assert.ok(!JSON.stringify(fault).includes('wrong-word'))
      assert.deepEqual([fault.kind, fault.status], ['auth', 407])
    }
  })

  test('a proxy that is not there', async () => {
    for (const url of ['https://model.test/v1', 'http://model.test/v1']) {
      const fault = await faultOf({ ALL_PROXY: 'http://127.0.0.1:9' }, url)
      assert.equal(fault.kind, 'transport')
      assert.match(fault.message, /The proxy 127\.0\.0\.1:9 cannot be used \(ECONNREFUSED\)/)
    }
  })

  test('a proxy of another kind', async () => {
    const fault = await faultOf({ ALL_PROXY: 'socks5://127.0.0.1:9' })
    assert.deepEqual(fault, {
      kind: 'invalid',
      message: 'ALL_PROXY must name an http:// proxy; other kinds are not supported.',
    })
  })

  test('abort while the proxy connects', async (t) => {
    const abort = new AbortController()
    const server = createServer()
    const seen = { end: false }
    server.on('connect', (_request, socket) => {
      socket.on('error', () => {})
      socket.on('end', () => {
        seen.end = true
        socket.end()
      })
      socket.resume()
      abort.abort()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.after(() => {
      server.closeAllConnections()
      server.close()
    })
    const env = { HTTPS_PROXY: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
    const model = createModel(aimed('openai-chat/gpt-4.1', 'https://model.test/v1'), {
      httpClient: createHttpClient(env),
    })
    const events = await eventsOf(model, undefined, { signal: abort.signal })
    assert.deepEqual(events.at(-1), { type: 'finish', reason: 'aborted' })
    for (let n = 0; n < 6000 && !seen.end; n++) await pause(5)
    assert.ok(seen.end)
  })
})
