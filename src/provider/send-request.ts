import { getAbortReason } from '../model/abort-reason.ts'
import { getErrorMessage } from '../model/error-message.ts'
import type { TurnEvent } from '../model/event.ts'
import type { Fault } from '../model/fault.ts'
import type { ModelRequest } from '../model/request.ts'
import type { Clock } from './clock.ts'
import type { Endpoint } from './endpoint.ts'
import { explainVendorFault } from './http/explain-vendor-fault.ts'
import type { HttpClient } from './http/http-client.ts'
import { createInterruptibleWait, INTERRUPTED } from './http/interruptible-wait.ts'
import { type KeyRedactor, createKeyRedactor } from './http/key-redactor.ts'
import { type Timeouts, startTimeoutMonitor, capTimeouts } from './http/timeouts.ts'
import {
  createConnectionFault,
  createOversizedFault,
  findUnusableResponseFault,
  createTimeoutFault,
  MAX_RESPONSE_BYTES,
  createRedirectFault,
  createProtocolSwitchFault,
} from './http/transport-faults.ts'
import { deriveAttemptKey } from './middleware/wrap-model.ts'
import type { RequestOptions } from './model.ts'
import { type EndpointCodec, getOrigin, prepareRequest } from './prepare-request.ts'
import { createResponseJoiner } from './response-joiner.ts'
import { createResponseReader, type ResponseChecks, type ResponseWaiter } from './response-reader.ts'

export interface RequestDependencies {
  readonly endpoint: Endpoint
  readonly httpClient: HttpClient
  readonly loadCodec: () => Promise<EndpointCodec>
  readonly clock: Clock
  readonly timeouts: Timeouts
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
      const events = sendAndDecode(dependencies, next, { ...options, turnKey }, redactor)
      next = undefined
      for await (const event of events) {
        const joined = joiner.join(event)
        if (event.type === 'finish' && !options.signal?.aborted) next = joiner.continue(event)
        if (!joined || next) continue
        open &&= joined.type !== 'finish'
        for (const one of redactor.redact(joined)) yield one
      }
    }
  } catch (error) {
    const message = `Internal error: ${getErrorMessage(error)}`
    const fault = createFaultEvent({ kind: 'invalid', code: 'internal', message })
    if (open) for (const one of redactor.redact(fault)) yield one
  }
}

/** Why a response was cut short; `over` means that it was complete. */
type StopCause = Fault | 'aborted' | 'over'

/** Ending the iteration closes the connection. */
async function* sendAndDecode(
  dependencies: RequestDependencies,
  request: ModelRequest,
  options: RequestOptions,
  redactor: KeyRedactor,
): AsyncGenerator<TurnEvent> {
  const { endpoint, httpClient, clock } = dependencies
  const { signal } = options
  if (signal?.aborted) {
    yield ABORTED_EVENT
    return
  }
  const codec = await dependencies.loadCodec()
  const { wire } = codec
  const prepared = await prepareRequest(endpoint, codec, request, options)
  if ('secret' in prepared) redactor.setKey(prepared.secret)
  for (const warning of prepared.warnings) yield { type: 'warn', warning }
  if ('fault' in prepared) {
    yield createFaultEvent(prepared.fault)
    return
  }
  const { httpRequest } = prepared
  const timeouts = fitTimeouts(dependencies.timeouts, options.maxSilenceMs, prepared.isStreamed)
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
      for (const notice of news) yield notice
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
    const state = wire.startDecoding({ ...prepared.reading, status, headers })
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
    const readBatch = createResponseReader(wire, state, response, monitor, checks, waiter)
    let batch = await readBatch()
    for (;;) {
      for (const event of batch.events) yield event
      if (batch.end) break
      batch = await readBatch()
    }
    const { broken } = batch.end
    const { why } = stopped
    if (why === 'aborted') {
      // The content so far stays; only the finish reason changes.
      for (const event of wire.finishDecoding(state, CANCELLED_FAULT)) if (event.type !== 'finish') yield event
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

function fitTimeouts(timeouts: Timeouts, maxSilenceMs: number | undefined, isStreamed: boolean): Timeouts {
  const capped = maxSilenceMs === undefined ? timeouts : capTimeouts(timeouts, maxSilenceMs)
  // A response that is not streamed starts only when it is complete, without keep-alives.
  return isStreamed ? capped : { ...capped, firstByte: 2 * capped.firstByte }
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
