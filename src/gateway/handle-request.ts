import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { defined } from '../model/defined.ts'
import { getErrorMessage } from '../model/error-message.ts'
import type { Fault } from '../model/fault.ts'
import { isObject, type JsonObject, stringOrEmpty, tryParseJson } from '../model/json.ts'
import type { WireId } from '../model/turn.ts'
import { guessVendorWire, parseVendorRoute, type VendorRoute } from '../wire/vendor-route.ts'
import type { Wire } from '../wire/wire.ts'
import { checkAccess, checkHostAndOrigin } from './access.ts'
import { answerRequest, type AnswerContext, createUnknownModelFault } from './answer-request.ts'
import { captureFor } from './capture-upstream.ts'
import { getClientName } from './client-names.ts'
import { createClientResponse } from './client-response.ts'
import { findClientSession } from './client-session.ts'
import type { GatewayRequest } from './gateway-request.ts'
import { handleInspectorRequest } from './inspector/handle-inspector-request.ts'
import type { InspectorSource } from './inspector/inspector-source.ts'
import { createModelList } from './model-lists.ts'
import { readBody } from './read-body.ts'

export interface GatewayContext extends AnswerContext {
  readonly token: string
  readonly host: string
  readonly wires: Readonly<Record<WireId, Wire>>
  /** The client of requests without a User-Agent. */
  readonly client?: string
  /** In tokens, by `provider/model`; undefined if it is unknown. */
  readonly getContextWindow: (model: string) => number | undefined
  /** What the inspector shows. */
  readonly inspected: InspectorSource
}

/** Answers one HTTP request. Errors have the form of the API that was asked. */
export async function handleGatewayRequest(
  context: GatewayContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path = '/', query = ''] = (request.url ?? '/').split('?', 2)
  const route = parseVendorRoute(request.url ?? '/', request.headers)
  const wire = context.wires[route?.wire ?? guessVendorWire(path, request.headers)]
  const framing = route?.kind === 'ask' ? route.framing : 'sse'
  const isStream = route?.kind === 'ask' && route.stream === true
  const reply = createClientResponse(response, { wire, stream: isStream, framing, onSent: () => undefined })
  const refuse = (status: number, message: string): void =>
    reply.fail({ kind: status === 401 ? 'auth' : 'invalid', status, message })

  if (path === '/healthz') {
    const place = checkHostAndOrigin(request.headers, context.host)
    return place ? refuse(place.status, place.message) : reply.sendJson(200, { status: 'ok' })
  }
  if (path === '/inspector' || path.startsWith('/inspector/'))
    return handleInspectorRequest({ ...context, source: context.inspected }, request, response)
  const access = checkAccess(request, context)
  if ('status' in access) return refuse(access.status, access.message)
  if (!route) return refuse(404, `Unknown path: ${path.slice(0, 200)}`)
  if (route.kind === 'models') return sendModels(context, request, route, reply, query)
  // Codex tries a WebSocket first, and uses HTTP if it is told so.
  if (request.headers.upgrade !== undefined) return refuse(426, 'WebSockets are not supported; use HTTP.')
  if (request.method !== 'POST')
    return refuse(405, `The method ${request.method ?? ''} is not allowed for ${path.slice(0, 200)}; use POST.`)
  await handlePost(context, request, response, { route, wire, query, path, ...access })
}

interface PostedRequest {
  readonly route: Exclude<VendorRoute, { kind: 'models' }>
  readonly wire: Wire
  readonly query: string
  readonly path: string
  readonly clientKey?: string
}

async function handlePost(
  context: GatewayContext,
  request: IncomingMessage,
  response: ServerResponse,
  { route, wire, query, path, clientKey }: PostedRequest,
): Promise<void> {
  const closed = new AbortController()
  response.once('close', () => closed.abort())
  const text = await readBody(request)
  const parsed = typeof text === 'string' ? tryParseJson(text) : undefined
  const body = isObject(parsed) ? (parsed as JsonObject) : {}
  const model = ('model' in route ? route.model : undefined) ?? stringOrEmpty(body['model'])
  const stream = route.kind === 'ask' && (route.stream ?? body['stream'] === true)
  const framing = route.kind === 'ask' ? route.framing : 'sse'
  const client = getClientName(request.headers['user-agent'], context.client)
  const own = findClientSession(request.headers, body)
  const fields = { client, ...own, wire: wire.id, path, model, isStream: stream }
  const recorder = context.log.begin(fields, typeof text === 'string' ? text : '', joinHeaders(request.headers))
  const reply = createClientResponse(response, {
    wire,
    stream,
    framing,
    onSent({ status, headers, bytes }) {
      if (status !== undefined) recorder.update({ status })
      if (headers) recorder.setResponseHeaders(headers)
      if (bytes !== undefined) recorder.addResponse(bytes)
    },
  })
  const fail = (fault: Fault): void => {
    recorder.update({ fault })
    reply.fail(fault)
  }
  try {
    if (typeof text !== 'string') return fail({ kind: 'invalid', ...text })
    if (!isObject(parsed)) return fail({ kind: 'invalid', status: 400, message: 'The body is not a JSON object.' })
    const asked: GatewayRequest = {
      wire,
      model,
      stream,
      framing,
      client,
      headers: request.headers,
      query,
      text,
      body,
      ...defined({ clientKey }),
      signal: closed.signal,
    }
    const isCount = route.kind === 'count'
    const fault = await captureFor(recorder, () => answerRequest(context, asked, reply, { recorder, isCount }))
    if (fault) fail(fault)
  } catch (error) {
    fail({ kind: 'server', status: 500, message: `Internal error of the gateway: ${getErrorMessage(error)}` })
    if (!response.writableEnded) response.destroy()
  } finally {
    recorder.end()
  }
}

function joinHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}

function sendModels(
  { table, getContextWindow, client: defaultClient }: GatewayContext,
  request: IncomingMessage,
  route: Extract<VendorRoute, { kind: 'models' }>,
  reply: ReturnType<typeof createClientResponse>,
  query: string,
): void {
  // Only Codex says its version.
  const isCodex = new URLSearchParams(query).has('client_version')
  const client = getClientName(request.headers['user-agent'], defaultClient)
  const models = table.listModels(client).map((name) => {
    const [target = name] = table.choose(name, client)?.models ?? []
    return { name, ...defined({ contextWindow: getContextWindow(target) }) }
  })
  const name = route.model
  // What a pattern matches is not in the list, but there is a model for it.
  const isMatched = name !== undefined && table.choose(name, client) !== undefined
  const known = isMatched && !models.some((model) => model.name === name) ? [...models, { name }] : models
  const list = createModelList(route.wire, known, { name, isCodex })
  if (list) reply.sendJson(200, list)
  else reply.fail(createUnknownModelFault(name ?? '', table))
}
