import { randomBytes } from 'node:crypto'
import { defined } from '../model/defined.ts'
import type { TurnEvent, Warning } from '../model/event.ts'
import type { Fault } from '../model/fault.ts'
import { createTurnFold } from '../model/fold.ts'
import { createTurnKey } from '../model/ids.ts'
import type { ModelRequest } from '../model/request.ts'
import type { WireId } from '../model/turn.ts'
import type { Model } from '../provider/index.ts'
import type { ResponseMetadata, WrittenResponseFrame } from '../wire/response-writer.ts'
import type { DecodedRequest } from '../wire/wire.ts'
import { createClientEvents } from './client-events.ts'
import { type ClientResponse, formatWarningHeader } from './client-response.ts'
import type { ExchangeRecorder } from './exchange-log.ts'
import { ANSWERED, type AttemptResult, type GatewayRequest } from './gateway-request.ts'
import { restoreNativeData } from './native/restore-native-data.ts'

interface TranslateOptions {
  readonly model: Model
  /** Who signs the native data of the client's own wire, if a model of the route speaks it. */
  readonly signer?: string
  readonly key: Uint8Array
  readonly recorder: ExchangeRecorder
}

type FinishEvent = Extract<TurnEvent, { type: 'finish' }>

/** Answers a request by a model that speaks another API, event by event. */
export async function translate(
  request: GatewayRequest,
  response: ClientResponse,
  options: TranslateOptions,
): Promise<AttemptResult> {
  const { model, recorder } = options
  const refused = findRefusedField(request)
  if (refused !== undefined) return { fault: createRefusedFieldFault(refused) }
  const { request: modelRequest, warnings } = readModelRequest(request, options)
  if (modelRequest.previous !== undefined) return { fault: NO_STORED_HISTORY_FAULT }
  recorder.addWarnings(warnings.map((warning) => ({ ...warning, stage: 'client-request' })))
  const turnKey = createTurnKey(randomBytes(20))
  const events = model.stream(modelRequest, { turnKey, signal: request.signal })
  const send = request.stream ? sendStream : sendWhole
  return send(request, response, { ...options, events, modelRequest, warnings: [...warnings], turnKey })
}

/** Fields that a client must not believe to be obeyed: it leaves them out if an error names them. */
function findRefusedField({ wire, body }: GatewayRequest): string | undefined {
  return wire.id === 'anthropic' ? ['safeguards'].find((name) => body[name] !== undefined) : undefined
}

function createRefusedFieldFault(name: string): Fault {
  const message = `${name}: The model that answers has no such field. Send the request without it.`
  return { kind: 'invalid', status: 400, message }
}

const NO_STORED_HISTORY_FAULT: Fault = {
  kind: 'invalid',
  status: 400,
  message:
    'The request continues a stored response, but this model has another API, and nothing is stored between them. Send the whole history.',
}

interface Answer extends TranslateOptions {
  readonly events: AsyncIterable<TurnEvent>
  readonly modelRequest: ModelRequest
  readonly warnings: Warning[]
  readonly turnKey: string
}

function readModelRequest(request: GatewayRequest, { model, signer, key }: TranslateOptions): DecodedRequest {
  const read = request.wire.readRequest(request.body)
  const restored = restoreNativeData(read.request, { wire: request.wire.id, key, ...defined({ signer }) })
  const params = { ...restored.request.params, stream: request.stream }
  const dropped = listDroppedOptions(read.request, request.wire.id, model.origin.wire)
  return {
    request: { ...restored.request, model: request.model, params },
    warnings: [...read.warnings, ...restored.warnings, ...dropped],
  }
}

/** Fields of the body that only the client's API has. */
function listDroppedOptions({ providerOptions }: ModelRequest, from: WireId, to: WireId): Warning[] {
  const options = providerOptions?.[toOptionsKey(from)]
  if (!options || toOptionsKey(from) === toOptionsKey(to)) return []
  const names = Object.keys(options).filter((name) => !HARMLESS_OPTIONS.has(name))
  if (names.length === 0) return []
  return [{ code: 'dropped-options', message: `${names.join(', ')} of ${from} has no counterpart and was left out.` }]
}

function toOptionsKey(wire: WireId): Exclude<WireId, 'code-assist'> {
  return wire === 'code-assist' ? 'gemini' : wire
}

/** They say what is done with the request, not what the answer is. */
const HARMLESS_OPTIONS = new Set('metadata user store include client_metadata safety_identifier'.split(' '))

/** Nothing is sent before there is content, so that a failure can still be an HTTP error, or be tried again. */
async function sendStream(request: GatewayRequest, response: ClientResponse, answer: Answer): Promise<AttemptResult> {
  const { model, recorder, warnings } = answer
  const start = () => ({
    events: createEvents(request, answer),
    writer: request.wire.responseWriter.startStream(createHead(request, answer.turnKey)),
    pending: [] as WrittenResponseFrame[],
  })
  let current = start()
  let hasSent = false
  let lastSent = Date.now()
  const startStream = (): void => {
    if (response.isStarted) return
    response.startStream({
      ...createModelHeader(model),
      ...formatWarningHeader([...warnings, ...current.events.warnings]),
    })
  }
  const keepAlive = (): void => {
    startStream()
    response.keepAlive()
    lastSent = Date.now()
  }
  const flush = (): Promise<void> | undefined => {
    startStream()
    const frames = current.pending
    current.pending = []
    hasSent = true
    lastSent = Date.now()
    return response.writeFrames(frames)
  }
  let finish: FinishEvent | undefined
  for await (const event of answer.events) {
    if (event.type === 'finish') {
      finish = event
      continue
    }
    if (event.type === 'open' && event.anew) {
      // What was sent cannot be taken back.
      if (hasSent) return failAfterStart(event.fault ?? BROKEN_FAULT)
      warnings.push(...current.events.warnings)
      current = start()
      continue
    }
    if (event.type === 'usage') recorder.update({ usage: event.usage })
    if (event.type === 'wait') keepAlive()
    const passed = current.events.push(event)
    for (const one of passed) current.pending.push(...current.writer.write(one))
    const isContent = event.type === 'part-open' || event.type === 'part-delta' || event.type === 'part-close'
    if (isContent && passed.length > 0 && current.pending.length > 0) {
      const drained = flush()
      if (drained) await drained
    } else if (isContent && Date.now() - lastSent > KEEP_ALIVE_MS) keepAlive()
  }
  const end = current.events.end(finish ?? BROKEN_END)
  recorder.addWarnings(current.events.warnings)
  if ('isAborted' in end) return ANSWERED
  if ('fault' in end) return hasSent ? failAfterStart(end.fault) : { fault: end.fault }
  for (const one of [...current.events.takeHeldCalls(), end.finish]) current.pending.push(...current.writer.write(one))
  const drained = flush()
  if (drained) await drained
  response.end()
  return ANSWERED

  function failAfterStart(fault: Fault): AttemptResult {
    recorder.update({ fault })
    response.fail(fault)
    return ANSWERED
  }
}

/** While a call is held back until it is complete. */
const KEEP_ALIVE_MS = 5000

async function sendWhole(request: GatewayRequest, response: ClientResponse, answer: Answer): Promise<AttemptResult> {
  const { model, recorder, warnings } = answer
  let events = createEvents(request, answer)
  let fold = createTurnFold(model.origin)
  let finish: FinishEvent | undefined
  for await (const event of answer.events) {
    if (event.type === 'finish') finish = event
    else if (event.type === 'open' && event.anew) {
      warnings.push(...events.warnings)
      events = createEvents(request, answer)
      fold = createTurnFold(model.origin)
    } else {
      if (event.type === 'usage') recorder.update({ usage: event.usage })
      for (const one of events.push(event)) fold.push(one)
    }
  }
  const end = events.end(finish ?? BROKEN_END)
  recorder.addWarnings(events.warnings)
  if ('isAborted' in end) return ANSWERED
  if ('fault' in end) return { fault: end.fault }
  for (const one of [...events.takeHeldCalls(), end.finish]) fold.push(one)
  const body = request.wire.responseWriter.writeWhole(fold.end().turn, createHead(request, answer.turnKey))
  const headers = { ...createModelHeader(model), ...formatWarningHeader([...warnings, ...events.warnings]) }
  response.sendJson(200, body, headers)
  return ANSWERED
}

function createEvents({ wire }: GatewayRequest, { model, modelRequest, key }: Answer) {
  return createClientEvents({ wire: wire.id, upstreamWire: model.origin.wire, request: modelRequest, key })
}

/** The client's own name of the model: clients look it up. The header names the one that answers. */
function createHead({ model, body }: GatewayRequest, id: string): ResponseMetadata {
  return { id, model, created: Math.floor(Date.now() / 1000), request: body }
}

function createModelHeader({ origin }: Model): Record<string, string> {
  return { 'x-dragoman-model': `${origin.provider}/${origin.model}`.replaceAll(/[^\x20-\x7e]/g, '_') }
}

const BROKEN_FAULT: Fault = { kind: 'transport', message: 'The response broke off.' }
const BROKEN_END: FinishEvent = { type: 'finish', reason: 'fault', fault: BROKEN_FAULT }
