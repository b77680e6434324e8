import type { IncomingHttpHeaders } from 'node:http'
import type { Fault } from '../model/fault.ts'
import { tryParseJson, type Json } from '../model/json.ts'
import { NO_USAGE, type Usage } from '../model/usage.ts'
import type { Endpoint, HttpClient, HttpResponse } from '../provider/index.ts'
import { forwardRequest, type ForwardRequest } from '../provider/forwarding.ts'
import type { BudgetLedger } from '../provider/optional-middleware.ts'
import { replaceStringField } from '../wire/json/find-field.ts'
import { CREDENTIAL_HEADERS } from './access.ts'
import type { ClientResponse } from './client-response.ts'
import type { ExchangeRecorder } from './exchange-log.ts'
import { ANSWERED, type AttemptResult, type GatewayRequest } from './gateway-request.ts'
import { hasEnvelopes, stripEnvelopes } from './native/strip-envelopes.ts'
import { type SilenceTimer, startSilenceTimer } from './silence-timer.ts'
import { createResponseWatcher } from './watch-response.ts'
import { defined } from '../model/defined.ts'

interface PassThroughOptions {
  readonly endpoint: Endpoint
  readonly httpClient: HttpClient
  readonly ledgers: readonly BudgetLedger[]
  /** The client's own key, if it is to be used. */
  readonly key?: string
  readonly recorder: ExchangeRecorder
  /** Is there another model that can answer if this one fails? */
  readonly hasFallback: boolean
  /** Milliseconds without a byte of a stream. */
  readonly maxSilenceMs: number
}

/** Passes a request on to a model of the client's own API: the bytes stay as they are both ways, and are only watched. */
export async function passThrough(
  request: GatewayRequest,
  response: ClientResponse,
  options: PassThroughOptions,
): Promise<AttemptResult> {
  const { endpoint, httpClient, recorder, ledgers } = options
  const origin = { provider: endpoint.provider.id, wire: endpoint.wire, model: endpoint.model }
  const estimate = estimatePassedUsage(request)
  const reservations = reserveAll(ledgers, origin, estimate)
  if ('fault' in reservations) return reservations
  let usage: Usage | undefined
  // A response that is not streamed may take as long as the client waits for it.
  const silence = request.stream ? startSilenceTimer(options.maxSilenceMs) : undefined
  const signal = silence ? AbortSignal.any([request.signal, silence.signal]) : request.signal
  try {
    const forwarded: ForwardRequest = {
      stream: request.stream,
      query: removeKey(request.query),
      headers: pickForwardedHeaders(request.headers),
      body: prepareBody(request, endpoint),
      ...defined({ key: options.key }),
    }
    const upstream = await forwardRequest(endpoint, forwarded, httpClient, signal)
    if (request.signal.aborted) return ANSWERED
    if (silence?.signal.aborted) return { fault: createSilenceFault(options.maxSilenceMs) }
    if ('kind' in upstream) return { fault: upstream }
    if (options.hasFallback && isUnavailable(upstream.status)) return { fault: await readFault(request, upstream) }
    const sent = await sendOn(request, response, upstream, { recorder, ...defined({ silence }) })
    usage = sent.usage
    if (sent.hasBegun || request.signal.aborted) return ANSWERED
    return { fault: silence?.signal.aborted ? createSilenceFault(options.maxSilenceMs) : BROKEN_RESPONSE }
  } finally {
    silence?.stop()
    for (const reservation of reservations) {
      if (usage) reservation.spend(origin, usage)
      reservation.close()
    }
  }
}

async function sendOn(
  { wire, signal }: GatewayRequest,
  response: ClientResponse,
  { status, headers, body }: HttpResponse,
  { recorder, silence }: { readonly recorder: ExchangeRecorder; readonly silence?: SilenceTimer },
): Promise<{ readonly usage?: Usage; readonly hasBegun: boolean }> {
  const watcher = createResponseWatcher(wire, status, headers)
  silence?.restart()
  let hasBegun = false
  // Until the first bytes have come, the client can still be told by a status that there are none.
  const begin = (): void => {
    if (!hasBegun) response.writeHead(status, pickResponseHeaders(headers))
    hasBegun = true
  }
  try {
    for await (const bytes of body) {
      silence?.restart()
      begin()
      const drained = response.write(bytes)
      watcher.push(bytes)
      if (drained) await drained
      if (signal.aborted) break
    }
    begin()
    response.finish()
  } catch {
    // The client sees what we see: a connection that broke.
    if (hasBegun) response.destroy()
  }
  const { usage, warnings, fault } = watcher.end()
  recorder.addWarnings(warnings.map((warning) => ({ ...warning, stage: 'upstream-response' })))
  if (hasBegun) recorder.update(defined({ usage, fault }))
  return { hasBegun, ...defined({ usage }) }
}

const BROKEN_RESPONSE: Fault = {
  kind: 'transport',
  code: 'broken',
  message: 'The connection to the model broke before the response began.',
}

function createSilenceFault(waited: number): Fault {
  const message = `The model has sent nothing for ${Math.round(waited / 1000)} seconds.`
  return { kind: 'transport', code: 'timeout', message, waited }
}

/** The body as it came, but for the name of the model; without envelopes of ours, which only other models understand. */
function prepareBody({ text, model }: GatewayRequest, endpoint: Endpoint): string {
  const renamed = model === endpoint.model ? text : renameModel(text, endpoint)
  if (!hasEnvelopes(renamed)) return renamed
  const parsed = tryParseJson(renamed)
  return parsed === undefined ? renamed : JSON.stringify(stripEnvelopes(parsed as Json))
}

/** The model of Gemini is in the path. */
function renameModel(text: string, { wire, model }: Endpoint): string {
  return wire === 'gemini' ? text : replaceStringField(text, 'model', model)
}

export function removeKey(query: string): string {
  const params = new URLSearchParams(query)
  if (!params.has('key')) return query
  params.delete('key')
  return params.toString()
}

/** Everything but what concerns this connection, and secrets. */
export function pickForwardedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const kept = Object.entries(headers).flatMap(([name, value]): [string, string][] => {
    if (value === undefined || HOP_HEADERS.has(name) || CREDENTIAL_HEADERS.includes(name)) return []
    if (name === 'content-encoding' || name.startsWith('x-dragoman-')) return []
    return [[name, Array.isArray(value) ? value.join(', ') : value]]
  })
  return Object.fromEntries(kept)
}

function pickResponseHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  // The HTTP client has decompressed the body.
  const isDecoded = (headers['content-encoding'] ?? 'identity') !== 'identity'
  const left = Object.entries(headers).filter(
    ([name]) =>
      !(HOP_HEADERS.has(name) && name !== 'content-length') &&
      name !== 'set-cookie' &&
      !(isDecoded && (name === 'content-encoding' || name === 'content-length')),
  )
  return Object.fromEntries(left)
}

const HOP_HEADERS = new Set(
  'connection keep-alive proxy-authenticate proxy-connection te trailer transfer-encoding upgrade host content-length expect accept-encoding'.split(
    ' ',
  ),
)

function isUnavailable(status: number): boolean {
  return status >= 500 || [401, 402, 403, 404, 408, 429].includes(status)
}

async function readFault({ wire }: GatewayRequest, { status, headers, body }: HttpResponse): Promise<Fault> {
  const watcher = createResponseWatcher(wire, status, headers)
  try {
    for await (const bytes of body) watcher.push(bytes)
  } catch {
    // The status is enough.
  }
  return watcher.end().fault ?? { kind: 'server', status, message: `The model answered with the status ${status}.` }
}

/** About four bytes per token, as for other requests; the response counts with its limit. */
function estimatePassedUsage({ text, body }: GatewayRequest): Usage {
  const limit = [body['max_tokens'], body['max_completion_tokens'], body['max_output_tokens']].find(
    (one) => typeof one === 'number',
  )
  return { ...NO_USAGE, input: Math.ceil(text.length / 4), output: typeof limit === 'number' ? limit : 4096 }
}

type Reservation = Exclude<ReturnType<BudgetLedger['reserve']>, { problem: string }>

function reserveAll(
  ledgers: readonly BudgetLedger[],
  origin: Parameters<BudgetLedger['reserve']>[0],
  estimate: Usage,
): Reservation[] | { fault: Fault } {
  const reservations: Reservation[] = []
  for (const ledger of ledgers) {
    const reservation = ledger.reserve(origin, estimate)
    if ('problem' in reservation) {
      for (const one of reservations) one.close()
      return { fault: { kind: 'quota', code: 'budget', message: reservation.problem } }
    }
    reservations.push(reservation)
  }
  return reservations
}
