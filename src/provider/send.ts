import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import type { Agent } from 'node:https'
import type { Duplex } from 'node:stream'
import type { ModelPort } from './port.ts'
import type { Wire } from '../wire/wire.ts'
import { signedIn } from './auth/signed-in.ts'
import { lengthOf, startWriter, type WriteBody } from './body.ts'
import { type Clock, systemClock } from './clock.ts'
import { exchange, learnSpeech, originOf, type Speech } from './exchange.ts'
import { bare, portOf, type Proxy, proxyFor } from './proxy.ts'
import type { Environment, Target } from './target.ts'
import type { Letter, Post, Reply } from './transport.ts'
import { ProxyError } from './trouble.ts'
import { LIMITS, type Limits } from './watch.ts'

/** What a port may be given; all of it has a default. */
export interface PortOptions {
  readonly post?: Post
  readonly clock?: Clock
  readonly limits?: Partial<Limits>
  /** Makes the writer of the port's request bodies. */
  readonly writer?: (wire: Wire) => WriteBody
}

/** The model at the end of a wire. */
export function port(target: Target, options: PortOptions = {}): ModelPort {
  let speech: Promise<Speech> | undefined
  const means = {
    target,
    post: options.post ?? sharedPost(),
    speech: () => (speech ??= learnSpeech(target, options.writer ?? startWriter)),
    clock: options.clock ?? systemClock,
    limits: { ...LIMITS, ...options.limits },
  }
  const { window, serverTools } = target.profile
  const inner: ModelPort = {
    origin: originOf(target),
    ...(window !== undefined && { window }),
    ...(serverTools && { serverTools }),
    ask: (request, sending) => exchange(means, request, sending),
  }
  return signedIn(target, inner, means.post)
}

let shared: Post | undefined

/** The client that all ports share, with its connections, unless they are told otherwise. */
export function sharedPost(): Post {
  return (shared ??= startPost(process.env))
}

/** How connections are made. */
export interface Trust {
  /** Certificates that are trusted besides the usual ones. */
  readonly ca?: string
}

/** Starts an HTTP client. It keeps one set of connections per origin open for the next request, but no process alive. */
export function startPost(env: Environment, trust: Trust = {}): Post {
  const lanes = new Map<string, Promise<Lane>>()
  const laneTo = (url: URL): Promise<Lane> => {
    const known = lanes.get(url.origin) ?? openLane(url, env, trust)
    lanes.set(url.origin, known)
    return known
  }
  return async (letter, signal) => {
    const lane = await laneTo(letter.url)
    for (let attempt = 1; ; attempt++) {
      const sent = await deliver(lane, letter, signal)
      if ('status' in sent) return sent
      // A server may close an idle connection in the very moment in which we use it; nobody has read the request then.
      if (!sent.stale || signal.aborted || attempt > MAX_STALE) throw sent.error
    }
  }
}

const MAX_STALE = 3

/** Asks a URL for JSON; undefined if it does not come in time. */
export async function probe(url: string, ms: number): Promise<unknown> {
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
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A way to an origin. */
interface Lane {
  readonly request: (options: Place, answered: (incoming: IncomingMessage) => void) => ClientRequest
  readonly options: (url: URL) => Place
  /** The proxy that stands between, where we speak to it and not to the origin. */
  readonly proxy?: string
}

interface Place extends RequestOptions {
  readonly headers?: Readonly<Record<string, string>>
  /** Ends the making of a connection; the agent hands it on to whoever makes it. */
  readonly stop?: AbortSignal
}

async function openLane(url: URL, env: Environment, trust: Trust): Promise<Lane> {
  const proxy = proxyFor(url, env)
  if (proxy && 'problem' in proxy) throw new ProxyError('', 'unspoken', proxy.problem)
  const http = await import('node:http')
  const keep = { keepAlive: true, keepAliveMsecs: 30_000 }
  const place = (to: URL): Place => ({
    host: bare(to.hostname),
    port: portOf(to),
    path: to.pathname + to.search,
  })
  if (url.protocol === 'http:') {
    const agent = new http.Agent(keep)
    if (!proxy) return { request: http.request, options: (to) => ({ ...place(to), agent }) }
    // A proxy is asked for the whole address.
    const options = (to: URL): Place => ({
      host: proxy.host,
      port: proxy.port,
      path: `${to.origin}${to.pathname}${to.search}`,
      headers: { ...proxy.headers, host: to.host },
      agent,
    })
    return { request: http.request, options, proxy: nameOf(proxy) }
  }
  const https = await import('node:https')
  const usual = trust.ca === undefined ? [] : (await import('node:tls')).rootCertificates
  const agent = new https.Agent({ ...keep, ...(trust.ca !== undefined && { ca: [...usual, trust.ca] }) })
  if (proxy) tunnel(agent, proxy, http.request)
  return { request: https.request, options: (to) => ({ ...place(to), agent }) }
}

/** Makes an agent connect through a proxy, with CONNECT; from there on the connection is ours, and sealed. */
function tunnel(agent: Agent, proxy: Proxy, request: typeof import('node:http').request): void {
  type Connect = (
    options: Place & { socket?: Duplex },
    created?: (error: Error | null, socket?: Duplex) => void,
  ) => Duplex | undefined
  const maker = agent as unknown as { createConnection: Connect }
  const secure = maker.createConnection.bind(agent)
  maker.createConnection = (options, created) => {
    let isOver = false
    const fail = (code: string, message: string): void => {
      if (!isOver) created?.(new ProxyError(nameOf(proxy), code, message))
      isOver = true
    }
    const to = `${options.host?.includes(':') ? `[${options.host}]` : options.host}:${options.port}`
    const asked = request({
      host: proxy.host,
      port: proxy.port,
      method: 'CONNECT',
      path: to,
      headers: { ...proxy.headers, host: to },
      agent: false,
      timeout: PROXY_PATIENCE,
    })
    const stop = (): void => void asked.destroy()
    options.stop?.addEventListener('abort', stop)
    asked.once('close', () => options.stop?.removeEventListener('abort', stop))
    asked.once('timeout', () => asked.destroy(new Error('it does not answer')))
    asked.once('error', (error: Error & { code?: string }) => fail(error.code ?? '', error.code ?? error.message))
    asked.once('close', () => fail('', 'it closed the connection'))
    asked.once('upgrade', (incoming, socket) => {
      socket.destroy()
      fail(String(incoming.statusCode), `it answered ${incoming.statusCode}`)
    })
    asked.once('connect', (incoming, socket, head) => {
      const status = incoming.statusCode ?? 0
      if (status === 200) {
        isOver = true
        options.stop?.removeEventListener('abort', stop)
        if (head.length > 0) socket.unshift(head)
        created?.(null, secure({ ...options, socket }))
        return
      }
      socket.destroy()
      fail(String(status), `it answered ${status}`)
    })
    asked.once('response', (incoming) => {
      incoming.destroy()
      fail(String(incoming.statusCode), `it answered ${incoming.statusCode}`)
    })
    asked.end()
    return undefined
  }
}

/** How long a proxy may take to connect. */
const PROXY_PATIENCE = 60_000

function nameOf({ host, port: at }: Proxy): string {
  return `${host}:${at}`
}

type Delivered = Reply | { readonly error: unknown; readonly stale: boolean }

function deliver(lane: Lane, letter: Letter, signal: AbortSignal): Promise<Delivered> {
  return new Promise((resolve) => {
    const length = letter.length ?? lengthOf(letter.body)
    const { headers, ...options } = lane.options(letter.url)
    const size = letter.method === 'GET' ? {} : { 'content-length': String(length) }
    const all = { ...headers, ...letter.headers, ...size }
    // With an error it would be thrown at nobody where the whole answer is here, but not yet read.
    const stop = (): void => void outgoing.destroy()
    let isAnswered = false
    const outgoing = lane.request(
      { ...options, method: letter.method ?? 'POST', headers: all, stop: signal },
      (incoming) => {
        isAnswered = true
        const done = (): void => signal.removeEventListener('abort', stop)
        incoming.once('end', done).once('close', done)
        // Whoever reads the body hears of it; if nobody does, it is no matter.
        incoming.on('error', done)
        if (lane.proxy !== undefined && incoming.statusCode === 407) {
          incoming.resume()
          resolve({ stale: false, error: new ProxyError(lane.proxy, '407', '') })
        } else void replyOf(incoming).then(resolve)
      },
    )
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      signal.removeEventListener('abort', stop)
      const stale = outgoing.reusedSocket && STALE.has(error.code ?? '')
      const through = lane.proxy !== undefined && error.syscall === 'connect'
      resolve({
        stale,
        error: through ? new ProxyError(lane.proxy, error.code ?? '', error.code ?? error.message) : error,
      })
    })
    // 101 Switching Protocols: the connection is no HTTP any more.
    outgoing.once('upgrade', (incoming, socket) => {
      isAnswered = true
      socket.destroy()
      signal.removeEventListener('abort', stop)
      resolve({ status: incoming.statusCode ?? 101, headers: {}, body: NOTHING })
    })
    // However else it ends: somebody waits for it.
    outgoing.once('close', () => {
      if (isAnswered) return
      signal.removeEventListener('abort', stop)
      resolve({ stale: false, error: new Error('the connection was closed') })
    })
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    if (letter.gone) outgoing.once('finish', letter.gone)
    void write(outgoing, letter.body)
  })
}

/** Sends a body. A long one goes out as fast as it is taken: its bytes are never all in memory. */
async function write(outgoing: ClientRequest, body: readonly string[]): Promise<void> {
  outgoing.cork()
  let waiting = 0
  for (const piece of body)
    for (const part of partsOf(piece)) {
      outgoing.write(part)
      waiting += part.length
      if (waiting < PART) continue
      outgoing.uncork()
      if (outgoing.writableNeedDrain) await taken(outgoing)
      if (outgoing.destroyed) return
      outgoing.cork()
      waiting = 0
    }
  outgoing.end()
}

/** When what was written has gone out, or cannot any more. */
function taken(outgoing: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off('drain', done).off('close', done)
      resolve()
    }
    outgoing.on('drain', done).on('close', done)
  })
}

/** A long text in parts that do not divide a character. */
function* partsOf(text: string): Generator<string> {
  for (let at = 0, end: number; at < text.length; at = end) {
    end = at + PART
    if (/[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end++
    yield text.slice(at, end)
  }
}

/** In characters. */
const PART = 2 ** 20

const NOTHING: AsyncIterable<Uint8Array> = (async function* () {})()

const STALE = new Set(['ECONNRESET', 'EPIPE'])

async function replyOf(incoming: IncomingMessage): Promise<Reply> {
  const headers = Object.entries(incoming.headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(', ') : (value ?? ''),
  ])
  return { status: incoming.statusCode ?? 0, headers: Object.fromEntries(headers), body: await unpacked(incoming) }
}

/** We ask for plain bytes; some servers compress all the same (T115). */
async function unpacked(incoming: IncomingMessage): Promise<AsyncIterable<Uint8Array>> {
  const packing = incoming.headers['content-encoding'] ?? 'identity'
  if (packing === 'identity') return incoming
  const [zlib, { pipeline }] = await Promise.all([import('node:zlib'), import('node:stream')])
  const flush = { flush: zlib.constants.Z_SYNC_FLUSH, finishFlush: zlib.constants.Z_SYNC_FLUSH }
  if (packing === 'gzip' || packing === 'deflate') return pipeline(incoming, zlib.createUnzip(flush), () => {})
  if (packing === 'br') return pipeline(incoming, zlib.createBrotliDecompress(), () => {})
  return incoming
}
