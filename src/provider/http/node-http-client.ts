import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import type { Agent } from 'node:https'
import type { Duplex } from 'node:stream'
import type { Model } from '../model.ts'
import type { BodyPiece } from '../../wire/history/encoded-messages.ts'
import type { Wire } from '../../wire/wire.ts'
import { withSignIn } from '../auth/with-sign-in.ts'
import { countBodyBytes, createFullBodyWriter, type RequestBodyWriter } from './request-body.ts'
import { type Clock, systemClock } from '../clock.ts'
import { type EndpointCodec, getOrigin, loadEndpointCodec } from '../prepare-request.ts'
import { type RequestDependencies, sendRequest } from '../send-request.ts'
import { readBody } from './read-body.ts'
import { stripIpv6Brackets, getPort, type HttpProxy, findProxy } from './proxy.ts'
import type { Environment, Endpoint } from '../endpoint.ts'
import type { HttpRequest, HttpClient, HttpResponse } from './http-client.ts'
import { ProxyError, UNSUPPORTED_PROXY_CODE } from './transport-faults.ts'
import { DEFAULT_TIMEOUTS, type Timeouts } from './timeouts.ts'
import { defined } from '../../model/defined.ts'
import { tryParseJson } from '../../model/json.ts'

/** All options have a default. */
export interface ModelOptions {
  readonly httpClient?: HttpClient
  readonly clock?: Clock
  readonly timeouts?: Partial<Timeouts>
  readonly createBodyWriter?: (wire: Wire) => RequestBodyWriter
}

export function createModel(endpoint: Endpoint, options: ModelOptions = {}): Model {
  let codec: Promise<EndpointCodec> | undefined
  const dependencies: RequestDependencies = {
    endpoint,
    httpClient: options.httpClient ?? getSharedHttpClient(),
    loadCodec: () => (codec ??= loadEndpointCodec(endpoint, options.createBodyWriter ?? createFullBodyWriter)),
    clock: options.clock ?? systemClock,
    timeouts: { ...DEFAULT_TIMEOUTS, ...options.timeouts },
  }
  const { window, serverTools } = endpoint.profile
  const inner: Model = {
    origin: getOrigin(endpoint),
    ...defined({ window, serverTools }),
    stream: (request, requestOptions) => sendRequest(dependencies, request, requestOptions),
  }
  return withSignIn(endpoint, inner, dependencies.httpClient)
}

let sharedClient: HttpClient | undefined

export function getSharedHttpClient(): HttpClient {
  return (sharedClient ??= createHttpClient(process.env))
}

interface TlsOptions {
  /** Certificates that are trusted in addition to the usual ones. */
  readonly ca?: string
}

/** Keeps connections open for later requests, but keeps no process alive. */
export function createHttpClient(env: Environment, tls: TlsOptions = {}): HttpClient {
  const connections = new Map<string, Promise<HttpConnection>>()
  const connectionTo = (url: URL): Promise<HttpConnection> => {
    const known = connections.get(url.origin) ?? openConnection(url, env, tls)
    connections.set(url.origin, known)
    return known
  }
  return async (httpRequest, signal) => {
    const connection = await connectionTo(httpRequest.url)
    for (let attempt = 1; ; attempt++) {
      const sent = await sendOverConnection(connection, httpRequest, signal)
      if ('status' in sent) return sent
      // A server may close an idle connection just when it is used; then it has not read the request.
      if (!sent.isStale || signal.aborted || attempt > MAX_STALE_RETRIES) throw sent.error
    }
  }
}

const MAX_STALE_RETRIES = 3

/** Undefined if no JSON comes in time. */
export async function tryFetchJson(url: string, ms: number): Promise<unknown> {
  const { request } = await import('node:http')
  const text = await new Promise<string>((resolve) => {
    const outgoing = request(url, { agent: false, timeout: ms }, (incoming) => {
      let body = ''
      incoming.setEncoding('utf8')
      incoming.on('data', (piece: string) => (body += piece))
      incoming.on('end', () => resolve(body))
      incoming.on('error', () => resolve(''))
    })
    const timer = setTimeout(() => outgoing.destroy(), ms)
    outgoing.on('error', () => resolve(''))
    outgoing.on('close', () => {
      clearTimeout(timer)
      resolve('')
    })
    outgoing.end()
  })
  return tryParseJson(text)
}

interface HttpConnection {
  readonly request: (options: ConnectionOptions, answered: (incoming: IncomingMessage) => void) => ClientRequest
  readonly options: (url: URL) => ConnectionOptions
  /** Set if requests go to the proxy itself, and not through a tunnel. */
  readonly proxy?: string
}

interface ConnectionOptions extends RequestOptions {
  readonly headers?: Readonly<Record<string, string>>
  /** Aborts the connecting; the agent passes it to `createConnection`. */
  readonly stop?: AbortSignal
}

async function openConnection(url: URL, env: Environment, tls: TlsOptions): Promise<HttpConnection> {
  const proxy = findProxy(url, env)
  if (proxy && 'problem' in proxy) throw new ProxyError('', UNSUPPORTED_PROXY_CODE, proxy.problem)
  const http = await import('node:http')
  const keep = { keepAlive: true, keepAliveMsecs: 30_000 }
  const toAddress = (to: URL): ConnectionOptions => ({
    host: stripIpv6Brackets(to.hostname),
    port: getPort(to),
    path: to.pathname + to.search,
  })
  if (url.protocol === 'http:') {
    const agent = new http.Agent(keep)
    if (!proxy) return { request: http.request, options: (to) => ({ ...toAddress(to), agent }) }
    // A proxy gets the absolute URL.
    const options = (to: URL): ConnectionOptions => ({
      host: proxy.host,
      port: proxy.port,
      path: `${to.origin}${to.pathname}${to.search}`,
      headers: { ...proxy.headers, host: to.host },
      agent,
    })
    return { request: http.request, options, proxy: formatProxyAddress(proxy) }
  }
  const https = await import('node:https')
  const usual = tls.ca === undefined ? [] : (await import('node:tls')).rootCertificates
  const agent = new https.Agent({ ...keep, ...(tls.ca !== undefined && { ca: [...usual, tls.ca] }) })
  if (proxy) tunnelThroughProxy(agent, proxy, http.request)
  return { request: https.request, options: (to) => ({ ...toAddress(to), agent }) }
}

/** Makes an agent connect through a proxy with CONNECT; the tunnel is encrypted end to end. */
function tunnelThroughProxy(agent: Agent, proxy: HttpProxy, request: typeof import('node:http').request): void {
  type Connect = (
    options: ConnectionOptions & { socket?: Duplex },
    created?: (error: Error | null, socket?: Duplex) => void,
  ) => Duplex | undefined
  const maker = agent as unknown as { createConnection: Connect }
  const secure = maker.createConnection.bind(agent)
  maker.createConnection = (options, created) => {
    let isOver = false
    const fail = (code: string, message: string): void => {
      if (!isOver) created?.(new ProxyError(formatProxyAddress(proxy), code, message))
      isOver = true
    }
    const to = `${options.host?.includes(':') ? `[${options.host}]` : options.host}:${options.port}`
    const proxyRequest = request({
      host: proxy.host,
      port: proxy.port,
      method: 'CONNECT',
      path: to,
      headers: { ...proxy.headers, host: to },
      agent: false,
      timeout: PROXY_TIMEOUT_MS,
    })
    const stop = (): void => void proxyRequest.destroy()
    options.stop?.addEventListener('abort', stop)
    proxyRequest.once('close', () => options.stop?.removeEventListener('abort', stop))
    proxyRequest.once('timeout', () => proxyRequest.destroy(new Error('it does not respond')))
    proxyRequest.once('error', (error: Error & { code?: string }) =>
      fail(error.code ?? '', error.code ?? error.message),
    )
    proxyRequest.once('close', () => fail('', 'it closed the connection'))
    const refuse = ({ statusCode }: IncomingMessage, stream: { destroy(): unknown }): void => {
      stream.destroy()
      fail(String(statusCode), `it answered ${statusCode}`)
    }
    proxyRequest.once('upgrade', refuse)
    proxyRequest.once('connect', (incoming, socket, head) => {
      if (incoming.statusCode !== 200) return refuse(incoming, socket)
      isOver = true
      options.stop?.removeEventListener('abort', stop)
      if (head.length > 0) socket.unshift(head)
      created?.(null, secure({ ...options, socket }))
    })
    proxyRequest.once('response', (incoming) => refuse(incoming, incoming))
    proxyRequest.end()
    return undefined
  }
}

const PROXY_TIMEOUT_MS = 60_000

function formatProxyAddress({ host, port: at }: HttpProxy): string {
  return `${host}:${at}`
}

type SendResult = HttpResponse | { readonly error: unknown; readonly isStale: boolean }

function sendOverConnection(
  connection: HttpConnection,
  httpRequest: HttpRequest,
  signal: AbortSignal,
): Promise<SendResult> {
  return new Promise((resolve) => {
    const length = httpRequest.bodyBytes ?? countBodyBytes(httpRequest.body)
    const { headers, ...options } = connection.options(httpRequest.url)
    const size = httpRequest.method === 'GET' ? {} : { 'content-length': String(length) }
    const all = { ...headers, ...httpRequest.headers, ...size }
    // Destroying it with an error would throw if the whole response has arrived but was not read yet.
    const stop = (): void => void outgoing.destroy()
    let isAnswered = false
    const outgoing = connection.request(
      { ...options, method: httpRequest.method ?? 'POST', headers: all, stop: signal },
      (incoming) => {
        isAnswered = true
        const done = (): void => signal.removeEventListener('abort', stop)
        incoming.once('end', done).once('close', done)
        // The reader of the body gets the error; without a reader it does not matter.
        incoming.on('error', done)
        if (connection.proxy !== undefined && incoming.statusCode === 407) {
          incoming.resume()
          resolve({ isStale: false, error: new ProxyError(connection.proxy, '407', '') })
        } else void toHttpResponse(incoming).then(resolve)
      },
    )
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      signal.removeEventListener('abort', stop)
      const stale = outgoing.reusedSocket && STALE_SOCKET_CODES.has(error.code ?? '')
      const through = connection.proxy !== undefined && error.syscall === 'connect'
      resolve({
        isStale: stale,
        error: through ? new ProxyError(connection.proxy, error.code ?? '', error.code ?? error.message) : error,
      })
    })
    // 101 Switching Protocols: this connection is no longer HTTP.
    outgoing.once('upgrade', (incoming, socket) => {
      isAnswered = true
      socket.destroy()
      signal.removeEventListener('abort', stop)
      resolve({ status: incoming.statusCode ?? 101, headers: {}, body: EMPTY_BODY })
    })
    // However else it ends, the promise must settle.
    outgoing.once('close', () => {
      if (isAnswered) return
      signal.removeEventListener('abort', stop)
      resolve({ isStale: false, error: new Error('the connection was closed') })
    })
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    if (httpRequest.onSent) outgoing.once('finish', httpRequest.onSent)
    void writeBody(outgoing, httpRequest.body)
  })
}

/** Writes a long body only as fast as it is sent, so that its bytes are never all in memory. */
async function writeBody(outgoing: ClientRequest, body: readonly BodyPiece[]): Promise<void> {
  outgoing.cork()
  let waiting = 0
  for (const piece of body)
    for (const part of splitLongPiece(piece)) {
      outgoing.write(part)
      waiting += part.length
      if (waiting < CHUNK_LENGTH) continue
      outgoing.uncork()
      if (outgoing.writableNeedDrain) await waitForDrain(outgoing)
      if (outgoing.destroyed) return
      outgoing.cork()
      waiting = 0
    }
  outgoing.end()
}

/** Resolves when the buffer has drained, or the connection is closed. */
function waitForDrain(outgoing: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off('drain', done).off('close', done)
      resolve()
    }
    outgoing.on('drain', done).on('close', done)
  })
}

/** Splits a long text without splitting a character. */
function* splitLongPiece(piece: BodyPiece): Generator<BodyPiece> {
  for (let at = 0, end: number; at < piece.length; at = end) {
    end = at + CHUNK_LENGTH
    if (typeof piece === 'string' && /[\uD800-\uDBFF]/.test(piece.charAt(end - 1))) end++
    yield typeof piece === 'string' ? piece.slice(at, end) : piece.subarray(at, end)
  }
}

/** In characters or bytes. */
const CHUNK_LENGTH = 2 ** 20

const EMPTY_BODY: AsyncIterable<Uint8Array> = (async function* () {})()

const STALE_SOCKET_CODES = new Set(['ECONNRESET', 'EPIPE'])

async function toHttpResponse(incoming: IncomingMessage): Promise<HttpResponse> {
  const headers = Object.entries(incoming.headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(', ') : (value ?? ''),
  ])
  return {
    status: incoming.statusCode ?? 0,
    headers: Object.fromEntries(headers),
    body: await decompressBody(incoming),
  }
}

/** We request uncompressed bodies; some servers compress anyway (T115). */
async function decompressBody(incoming: IncomingMessage): Promise<AsyncIterable<Uint8Array>> {
  const encoding = incoming.headers['content-encoding'] ?? 'identity'
  if (encoding === 'identity') return readBody(incoming)
  const [zlib, { pipeline }] = await Promise.all([import('node:zlib'), import('node:stream')])
  const flush = { flush: zlib.constants.Z_SYNC_FLUSH, finishFlush: zlib.constants.Z_SYNC_FLUSH }
  if (encoding === 'gzip' || encoding === 'deflate') return pipeline(incoming, zlib.createUnzip(flush), () => {})
  if (encoding === 'br') return pipeline(incoming, zlib.createBrotliDecompress(), () => {})
  return incoming
}
