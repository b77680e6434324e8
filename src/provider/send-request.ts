import { getAbortReason } from '../model/abort-reason.ts'
import { lazy } from '../model/lazy.ts'
import type { TurnEvent } from '../model/event.ts'
import type { Fault } from '../model/fault.ts'
import type { ModelRequest } from '../model/request.ts'
import type { ModelOrigin } from '../model/turn.ts'
import { createFramer } from '../wire/framing/framer.ts'
import type { Frame } from '../wire/framing/frame.ts'
import type { DecodeContext, Wire } from '../wire/wire.ts'
import { collectDeclaredTools } from '../wire/late-tools.ts'
import { mergeHeaderLists } from '../wire/header-lists.ts'
import { loadWire } from '../wire/wires.ts'
import { buildRequestUrl, tryBuildRequestHeaders } from './http/url-and-headers.ts'
import { countBodyBytes, type RequestBodyWriter, addExtraFields } from './http/request-body.ts'
import type { Clock } from './clock.ts'
import type { RequestOptions } from './model.ts'
import { completeProfile } from './resolve-capabilities.ts'
import { createResponseJoiner } from './response-joiner.ts'
import { deriveAttemptKey } from './middleware/wrap-model.ts'
import { isLastFrame, createContentTest } from './http/keep-alive-frames.ts'
import { explainVendorFault } from './http/explain-vendor-fault.ts'
import { type KeyRedactor, createKeyRedactor } from './http/key-redactor.ts'
import type { Endpoint } from './endpoint.ts'
import type { HttpRequest, HttpClient, HttpResponse } from './http/http-client.ts'
import {
  createConnectionFault,
  createOversizedFault,
  findUnusableResponseFault,
  createTimeoutFault,
  MAX_RESPONSE_BYTES,
  createRedirectFault,
  createProtocolSwitchFault,
} from './http/transport-faults.ts'
import { createInterruptibleWait, INTERRUPTED } from './http/interruptible-wait.ts'
import { type Timeouts, startTimeoutMonitor, type TimeoutMonitor, capTimeouts } from './http/timeouts.ts'
import { defined } from '../model/defined.ts'
import { getErrorMessage } from '../model/error-message.ts'

export interface RequestDependencies {
  readonly endpoint: Endpoint
  readonly httpClient: HttpClient
  readonly loadCodec: () => Promise<EndpointCodec>
  readonly clock: Clock
  readonly timeouts: Timeouts
}

export type EndpointCodec = Awaited<ReturnType<typeof loadEndpointCodec>>

/** Loaded once per model, so that a body writer can continue from what it wrote before. */
export async function loadEndpointCodec(endpoint: Endpoint, start: (wire: Wire) => RequestBodyWriter) {
  const wire = await loadWire(endpoint.wire)
  return { wire, profile: completeProfile(wire.profile, endpoint.profile), writeBody: start(wire) }
}

/** Sends one request. It never throws, always ends with exactly one `finish`, and no event contains the key. */
export async function* sendRequest(
  dependencies: RequestDependencies,
  request: ModelRequest,
  options: RequestOptions,
): AsyncGenerator<TurnEvent> {
  const redactor = createKeyRedactor()
  const joiner = createResponseJoiner(request, getOrigin(dependencies.endpoint))
  let open = true
  try {
    for (let next: ModelRequest | undefined = request; next;) {
      const turnKey = deriveAttemptKey(options.turnKey, 'c', joiner.count)
      const events = prepareAndSend(dependencies, next, { ...options, turnKey }, redactor)
      next = undefined
      for await (const event of events) {
        const joined = joiner.join(event)
        if (event.type === 'finish' && !options.signal?.aborted) next = joiner.continue(event)
        if (!joined || next) continue
        open &&= joined.type !== 'finish'
        yield* redactor.redact(joined)
      }
    }
  } catch (error) {
    const message = `Internal error: ${getErrorMessage(error)}`
    if (open) yield* redactor.redact(createFaultEvent({ kind: 'invalid', code: 'internal', message }))
  }
}

/** Why a response was cut short; `over` means that it was complete. */
type StopCause = Fault | 'aborted' | 'over'

async function* prepareAndSend(
  dependencies: RequestDependencies,
  request: ModelRequest,
  options: RequestOptions,
  redactor: KeyRedactor,
): AsyncGenerator<TurnEvent> {
  const { endpoint } = dependencies
  if (options.signal?.aborted) {
    yield ABORTED_EVENT
    return
  }
  const { wire, profile, writeBody } = await dependencies.loadCodec()
  const endpointRequest = toEndpointRequest(request, endpoint)
  const stream = endpointRequest.params?.stream ?? true
  const { pieces, warnings, headers, prefixHashes } = writeBody(endpointRequest, profile)
  for (const warning of warnings) yield { type: 'warn', warning }

  const headersOrFault = await tryBuildRequestHeaders(endpoint, stream)
  if ('kind' in headersOrFault) {
    yield createFaultEvent(headersOrFault)
    return
  }
  redactor.setKey(headersOrFault.secret)
  const body = addExtraFields(pieces, endpoint.provider.extra ?? {}, profile)
  const length = countBodyBytes(body)
  const onSent = lazy(() =>
    options.onSent?.({ origin: getOrigin(endpoint), bytes: length, ...defined({ prefixHashes }) }),
  )
  const httpRequest: HttpRequest = {
    url: buildRequestUrl(endpoint, stream),
    headers: mergeHeaderLists(headersOrFault.headers, headers),
    body,
    bodyBytes: length,
    onSent,
  }
  const reading: DecodeContext = {
    turnKey: options.turnKey,
    profile,
    tools: collectDeclaredTools(request).known,
    ...defined({ toolChoice: request.toolChoice, output: request.output }),
  }
  const remaining =
    options.maxSilenceMs === undefined
      ? dependencies.timeouts
      : capTimeouts(dependencies.timeouts, options.maxSilenceMs)
  // A response that is not streamed starts only when it is complete, without keep-alives.
  const timeouts = stream ? remaining : { ...remaining, firstByte: 2 * remaining.firstByte }
  yield* sendAndDecode({ ...dependencies, timeouts }, wire, reading, httpRequest, options.signal)
}

/** Ending the iteration closes the connection. */
async function* sendAndDecode(
  { endpoint, httpClient, clock, timeouts }: RequestDependencies,
  wire: Wire,
  reading: DecodeContext,
  httpRequest: HttpRequest,
  signal: AbortSignal | undefined,
): AsyncGenerator<TurnEvent> {
  const stopper = new AbortController()
  const stopped: { why?: StopCause } = {}
  const interruptible = createInterruptibleWait()
  const stop = (why: StopCause): void => {
    stopped.why ??= why
    stopper.abort(getAbortReason())
    // Whatever the connection does about the abort.
    interruptible.interrupt()
  }
  const notices: TurnEvent[] = []
  let stage: 'answer' | 'rest' = 'answer'
  const tell = (waited: number, limit: number): void => {
    notices.push({ type: 'wait', host: httpRequest.url.host, stage, waited, limit })
    interruptible.interrupt()
  }
  const waiter: ResponseWaiter = {
    wait: interruptible.wait,
    takeNotices: () => (stopped.why === undefined ? notices.splice(0) : undefined),
  }
  const onAbort = (): void => stop('aborted')
  const monitor = startTimeoutMonitor(
    clock,
    timeouts,
    (which) => stop(which === 'linger' ? 'over' : createTimeoutFault(which, timeouts, endpoint)),
    tell,
  )
  signal?.addEventListener('abort', onAbort)
  if (signal?.aborted) onAbort()
  try {
    const send = async () => httpClient(httpRequest, stopper.signal)
    const sent = send().catch((error: unknown) => ({ error }))
    let response = await waiter.wait(sent)
    for (; response === INTERRUPTED; response = await waiter.wait(sent)) {
      const news = waiter.takeNotices()
      if (!news) break
      yield* news
    }
    if (response === INTERRUPTED) response = { error: undefined }
    // A request that failed counts as sent, too.
    httpRequest.onSent?.()
    if ('error' in response) {
      const fault = createConnectionFault(response.error, endpoint, httpRequest.url)
      yield toFinishEvent(stopped.why) ?? createFaultEvent(addWaitedTime(fault, monitor.getSilentMs()))
      return
    }
    const { status, headers } = response
    if (status < 200) {
      yield createFaultEvent(createProtocolSwitchFault(status, endpoint, httpRequest.url))
      return
    }
    if (status >= 300 && status < 400) {
      yield createFaultEvent(createRedirectFault(status, headers['location'], endpoint, httpRequest.url))
      return
    }
    monitor.onHeaders()
    stage = 'rest'
    const state = wire.startDecoding({ ...reading, status, headers })
    let webPage = ''
    const checks: ResponseChecks = {
      isUnusable({ text, deep = false }) {
        webPage ||= text
        const fault = status < 300 ? findUnusableResponseFault(text, deep, endpoint, httpRequest.url) : undefined
        if (fault) stop(fault)
        return fault !== undefined
      },
      isTooLong(bytes) {
        if (bytes > MAX_RESPONSE_BYTES) stop(createOversizedFault(endpoint))
        return bytes > MAX_RESPONSE_BYTES
      },
    }
    const broken = yield* decodeBody(wire, state, response, monitor, checks, waiter)
    const { why } = stopped
    if (why === 'aborted') {
      // The content so far stays; only the finish reason changes.
      yield* wire.finishDecoding(state, CANCELLED_FAULT).filter(({ type }) => type !== 'finish')
      yield ABORTED_EVENT
      return
    }
    const cut =
      why === 'over' ? undefined : (why ?? (broken && createConnectionFault(broken.error, endpoint, httpRequest.url)))
    const waited = monitor.getSilentMs()
    for (const event of wire.finishDecoding(state, cut)) {
      if (event.type !== 'finish' || !event.fault) yield event
      else {
        const fault = event.fault === cut ? cut : explainVendorFault(event.fault, endpoint, httpRequest.url, webPage)
        yield { ...event, fault: addWaitedTime(fault, waited) }
      }
    }
  } finally {
    monitor.stop()
    signal?.removeEventListener('abort', onAbort)
    stopper.abort(getAbortReason())
  }
}

interface ResponseWaiter extends Pick<ReturnType<typeof createInterruptibleWait>, 'wait'> {
  /** The notices to yield; undefined if the wait is over. */
  takeNotices(): TurnEvent[] | undefined
}

/** Whether reading on is useless. */
interface ResponseChecks {
  isUnusable(frame: Frame & { kind: 'bad' }): boolean
  isTooLong(bytes: number): boolean
}

/** Decodes the body; returns the error if it broke off. */
async function* decodeBody(
  wire: Wire,
  state: unknown,
  response: HttpResponse,
  monitor: TimeoutMonitor,
  checks: ResponseChecks,
  waiter: ResponseWaiter,
): AsyncGenerator<TurnEvent, { error: unknown } | undefined> {
  const frames = createFramer(response.headers['content-type'])
  const isContent = createContentTest()
  const pieces = response.body[Symbol.asyncIterator]()
  let hasEnded = false
  let hasContent = false
  let bytes = 0
  let unread = 0
  const take = (frame: Frame): TurnEvent[] => {
    const events = wire.decodeFrame(state, frame)
    if (!hasEnded && isContent(frame, events)) hasContent = true
    if (!hasEnded && isLastFrame(frame, wire.id)) {
      hasEnded = true
      monitor.startLinger()
    }
    return events
  }
  for (;;) {
    const next = pieces.next().catch((error: unknown) => ({ error }))
    let piece = await waiter.wait(next)
    for (; piece === INTERRUPTED; piece = await waiter.wait(next)) {
      const news = waiter.takeNotices()
      if (!news) return hasEnded ? undefined : { error: undefined }
      yield* news
    }
    // An incomplete frame is not decoded. After the last frame nothing can be missing, however the connection ends.
    if ('error' in piece) return hasEnded ? undefined : piece
    monitor.onBytes()
    bytes += piece.done ? 0 : piece.value.length
    if (checks.isTooLong(bytes)) return undefined
    const part = piece.done ? frames.end() : frames.push(piece.value)
    const events: TurnEvent[] = []
    let isUseless = false
    for (const frame of part) {
      isUseless = frame.kind === 'bad' && checks.isUnusable(frame)
      if (isUseless) break
      mergeEvents(events, take(frame))
    }
    if (hasContent) monitor.onContent()
    hasContent = false
    yield* events
    if (isUseless) return undefined
    // A long frame that comes slowly is content; comments and pings are shorter, and blanks do not count.
    unread = part.length > 0 || piece.done ? 0 : unread + countVisibleBytes(piece.value)
    if (unread > LONG_FRAME_BYTES && !hasEnded) monitor.onContent()
    if (piece.done) return undefined
  }
}

export function getOrigin({ provider, wire, model }: Endpoint): ModelOrigin {
  return { provider: provider.id, wire, model }
}

const LONG_FRAME_BYTES = 60

function countVisibleBytes(bytes: Uint8Array): number {
  let letters = 0
  for (const byte of bytes) if (byte > 0x20) letters++
  return letters
}

/** A model is for one endpoint, whatever the request says. */
function toEndpointRequest(request: ModelRequest, { model, project, profile }: Endpoint): ModelRequest {
  const whole = profile.stream === false ? { params: { ...request.params, stream: false } } : {}
  return { ...request, model, ...whole, ...(project !== undefined && { project: request.project ?? project }) }
}

/** Events of one chunk are merged: in a fast stream, forwarding would cost more than decoding. */
function mergeEvents(events: TurnEvent[], more: readonly TurnEvent[]): void {
  for (const event of more) {
    const last = events.at(-1)
    if (event.type === 'part-delta' && last?.type === 'part-delta' && last.index === event.index)
      events[events.length - 1] = { ...last, text: last.text + event.text }
    else events.push(event)
  }
}

function toFinishEvent(halt: StopCause | undefined): TurnEvent | undefined {
  if (halt === 'aborted') return ABORTED_EVENT
  return halt === undefined || halt === 'over' ? undefined : createFaultEvent(halt)
}

/** Adds the time without progress to a fault, if it matters. */
function addWaitedTime(fault: Fault, ms: number): Fault {
  return ms < 1000 ? fault : { waited: ms, ...fault }
}

function createFaultEvent(fault: Fault): TurnEvent {
  return { type: 'finish', reason: 'fault', fault }
}

const ABORTED_EVENT: TurnEvent = { type: 'finish', reason: 'aborted' }
const CANCELLED_FAULT: Fault = { kind: 'transport', message: 'The response was cancelled.' }
