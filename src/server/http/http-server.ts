import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getErrorMessage } from '../../model/error-message.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'
import type { SessionService } from '../session-service.ts'
import { ApiError, toApiError } from './api-error.ts'
import {
  assertKnownHost,
  assertKnownOrigin,
  assertQuery,
  getBearerToken,
  parseBody,
  readBody,
} from './check-request.ts'
import type { Metrics } from './metrics.ts'
import type { Reply, Route } from './route.ts'
import { createServerLimits } from './server-limits.ts'
import { createTokenCheck, hasScope, type TenantConfig } from './tenants.ts'

export interface HttpServerOptions {
  readonly service: SessionService
  readonly routes: readonly Route[]
  readonly tenants: Readonly<Record<string, TenantConfig>>
  readonly metrics: Metrics
  readonly port?: number
  readonly host?: string
  /** Host names beside `localhost` and numbers. */
  readonly hosts?: readonly string[]
  /** Origins of web pages that may use the server. */
  readonly origins?: readonly string[]
  readonly maxBodyBytes?: number
  readonly requestTimeoutMs?: number
  readonly onError?: (message: string) => void
}

export interface HttpServer {
  readonly url: string
  /** Answers no more requests, and ends the streams. */
  close(): Promise<void>
}

/** Serves routes. What is refused is refused before the work begins: host, origin, token, scope, body. */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { metrics, requestTimeoutMs = 60_000, onError = () => {} } = options
  const findCaller = createTokenCheck(options.tenants)
  const limits = createServerLimits()
  const closing = new AbortController()
  const matchers = options.routes.map((route) => ({ route, pattern: toPattern(route.path) }))

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const started = performance.now()
    let operation = 'unknown'
    const count = (status: number): void =>
      metrics.countRequest(operation, status, (performance.now() - started) / 1000)
    try {
      assertKnownHost(request, options.hosts ?? [])
      assertKnownOrigin(request, options.origins ?? [])
      allowOrigin(request, response)
      if (request.method === 'OPTIONS') return void response.writeHead(204).end()
      const url = parseTarget(request.url ?? '/')
      const { route, params } = findRoute(request.method ?? '', url.pathname)
      ;({ operation } = route)
      const { tenant, config } = authenticate(request, route)
      assertQuery(route, url.searchParams)
      const bytes = await readBody(
        request,
        route.body ? (options.maxBodyBytes ?? MAX_BODY_BYTES) : MAX_UNUSED_BODY_BYTES,
      )
      const body = parseBody(route, request, bytes)
      const gone = new AbortController()
      response.once('close', () => gone.abort())
      const signal = AbortSignal.any([gone.signal, closing.signal])
      const { service } = options
      const { headers } = request
      const query = url.searchParams
      const reply = await route.handle({
        tenant,
        config,
        params,
        query,
        headers,
        body,
        service,
        limits,
        metrics,
        signal,
      })
      await send(response, reply)
      count(response.statusCode)
    } catch (error) {
      const refusal = toApiError(error)
      if (refusal.code === 'internal-error') onError(`${operation}: ${getErrorMessage(error)}`)
      count(refusal.status)
      if (response.headersSent) return void response.destroy()
      const { code, message, status } = refusal
      sendJson(response, status, { error: { code, message } }, refusal.headers)
    }
  }

  /** CORS, for the origins of the settings only. */
  function allowOrigin(request: IncomingMessage, response: ServerResponse): void {
    if (request.headers.origin === undefined) return
    response.setHeader('access-control-allow-origin', request.headers.origin)
    response.setHeader('vary', 'origin')
    response.setHeader('access-control-allow-methods', 'GET, POST, PUT, DELETE')
    response.setHeader('access-control-allow-headers', 'authorization, content-type, idempotency-key, last-event-id')
  }

  function findRoute(method: string, path: string): { route: Route; params: Record<string, string> } {
    const found = matchers.flatMap(({ route, pattern }) => {
      const match = pattern.exec(path)
      return match ? [{ route, match }] : []
    })
    const own = found.find(({ route }) => route.method === method || (method === 'HEAD' && isProbe(route)))
    if (own) return { route: own.route, params: decodeParams(own.match.groups ?? {}) }
    if (found.length === 0) throw new ApiError('not-found', 'There is no such path; /openapi.json has the list.')
    const allow = found.map(({ route }) => route.method).join(', ')
    throw new ApiError('method-not-allowed', `This path takes ${allow}.`, { allow })
  }

  function authenticate(request: IncomingMessage, { scope }: Route): { tenant: string; config: TenantConfig } {
    if (!scope) return { tenant: '', config: { tokens: [] } }
    const token = getBearerToken(request)
    const caller = token === undefined ? undefined : findCaller(token)
    const config = caller && options.tenants[caller.tenant]
    if (!config)
      throw new ApiError('unauthorized', 'A valid token is needed: Authorization: Bearer <token>.', {
        'www-authenticate': 'Bearer',
      })
    if (!hasScope(caller, scope)) throw new ApiError('forbidden', `The token does not have the scope “${scope}”.`)
    return { tenant: caller.tenant, config }
  }

  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: requestTimeoutMs, headersTimeout: 15_000 },
    (request, response) => {
      handle(request, response).catch((error: unknown) => onError(getErrorMessage(error)))
    },
  )
  const url = await listen(server, options.host ?? '127.0.0.1', options.port ?? 0)
  return {
    url,
    async close() {
      closing.abort()
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve())
      })
      server.closeIdleConnections()
      // Requests in progress get a moment to end.
      setTimeout(() => server.closeAllConnections(), CLOSE_MS).unref()
      await closed
    },
  }
}

const MAX_BODY_BYTES = 16 * 2 ** 20
/** Of a route that takes no body. */
const MAX_UNUSED_BODY_BYTES = 2 ** 16
const CLOSE_MS = 2000

/** Longer than proxies and load balancers keep a connection, so that none of them sends on one that is being closed. */
const KEEP_ALIVE_MS = 65_000

function listen(server: Server, host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      const { port: actual } = server.address() as AddressInfo
      const name = host.includes(':') ? `[${host}]` : host
      resolve(`http://${name === '0.0.0.0' || name === '[::]' ? '127.0.0.1' : name}:${actual}`)
    })
  })
}

/** Load balancers ask whether a server is there without reading the answer. */
function isProbe({ method, scope }: Route): boolean {
  return method === 'GET' && scope === undefined
}

function parseTarget(target: string): URL {
  const url = tryOrUndefined(() => new URL(target, 'http://localhost'))
  if (!url) throw new ApiError('invalid-request', 'The target of the request is not a path.')
  return url
}

/** `/a/{b}` as a pattern with the group `b`. */
function toPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)
}

function decodeParams(groups: Record<string, string>): Record<string, string> {
  try {
    return Object.fromEntries(Object.entries(groups).map(([name, text]) => [name, decodeURIComponent(text)]))
  } catch {
    throw new ApiError('invalid-request', 'The path is not encoded correctly.')
  }
}

async function send(response: ServerResponse, reply: Reply): Promise<void> {
  if ('stream' in reply) return reply.stream(response)
  if ('bytes' in reply) {
    response.writeHead(reply.status, { ...SECURITY_HEADERS, ...reply.headers })
    response.end(reply.bytes)
  } else sendJson(response, reply.status, reply.body, reply.headers)
}

const SECURITY_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
} as const

function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = body === undefined ? '' : JSON.stringify(body)
  const type = body !== undefined && { 'content-type': 'application/json; charset=utf-8' }
  response.writeHead(status, { ...SECURITY_HEADERS, ...type, ...headers })
  response.end(text)
}
