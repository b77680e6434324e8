import type { JsonObject } from '../../model/json.ts'
import type { ToolSpec } from '../../model/request.ts'
import type { AssistantPart, CallPart, ResultPart, ResultStatus, Turn } from '../../model/turn.ts'
import {
  createDegradedProbeResult,
  createFailedProbeResult,
  createNotOfferedProbeResult,
  type ProbeResult,
} from './probe.ts'
import type { ProbeExchange } from '../probe-exchange.ts'
import type { ProbeRequest } from '../probe-runner.ts'

export function createUserTurn(text: string): Turn {
  return { role: 'user', parts: [{ kind: 'text', text }] }
}

/** A turn of another model, from another provider. */
export function createForeignTurn(...parts: AssistantPart[]): Turn {
  const origin = { provider: 'elsewhere', wire: 'anthropic', model: 'another' } as const
  const reason = parts.some(({ kind }) => kind === 'call') ? 'calls' : 'stop'
  return { role: 'assistant', origin, parts, finish: { reason } }
}

/** The same result for all calls. */
export function createResultsTurn(
  calls: readonly CallPart[],
  content: ResultPart['content'],
  status: ResultStatus = 'ok',
): Turn {
  const error =
    status === 'error' ? { error: { message: String(content.map((one) => ('text' in one ? one.text : ''))) } } : {}
  return {
    role: 'results',
    parts: calls.map(({ id, name }) => ({ kind: 'result', id, name, status, content, ...error })),
  }
}

/** A tool whose parameters are all required, unless `schemaExtras` says otherwise. */
export function createToolSpec(
  name: string,
  description: string,
  properties: JsonObject,
  schemaExtras: JsonObject = {},
): ToolSpec {
  return {
    name,
    description,
    schema: { type: 'object', properties, required: Object.keys(properties), ...schemaExtras },
  }
}

export const WEATHER_TOOL = createToolSpec('get_weather', 'Tells the weather in a city.', { city: { type: 'string' } })
export const LIST_NOTES_TOOL = createToolSpec('list_notes', 'Lists all notes. It takes no arguments.', {})
export const WRITE_NOTE_TOOL = createToolSpec('write_note', 'Writes a note.', { text: { type: 'string' } })

export function createTextRequest(): ProbeRequest {
  return { turns: [createUserTurn('Reply with the single word: ready.')] }
}

/** The request that most probes build on: it needs one call. */
export function createCallRequest(): ProbeRequest {
  return { tools: [WEATHER_TOOL], turns: [createUserTurn('What is the weather in Oslo? Use the tool.')] }
}

/** The result for a fault or a content filter; undefined if there was neither. */
export function toFailureResult({ fault, turn }: ProbeExchange): ProbeResult | undefined {
  if (fault?.code === 'budget')
    return createNotOfferedProbeResult('The token budget of this run is used up. Raise it with --max-tokens.')
  if (fault?.kind === 'invalid')
    return createNotOfferedProbeResult(`The endpoint rejected the request: ${truncateLine(fault.message)}`)
  if (fault) return createFailedProbeResult(truncateLine(fault.message))
  if (turn.finish.reason === 'filter') return createFailedProbeResult('A content filter stopped the response.')
  return undefined
}

/** The result for a response without the expected text; undefined if it has it. */
export function checkResponseText(exchange: ProbeExchange, expectedPattern: RegExp): ProbeResult | undefined {
  const failure = toFailureResult(exchange)
  if (failure) return failure
  if (exchange.text === '' && exchange.calls.length > 0)
    return createDegradedProbeResult('The model made another call instead of answering.')
  if (exchange.text === '') return createFailedProbeResult('The response is empty.')
  return expectedPattern.test(exchange.text)
    ? undefined
    : createDegradedProbeResult(`The response does not contain the expected text: ${quoteModelText(exchange.text)}`)
}

/** The result for a response without a runnable call. */
export function explainMissingCall(exchange: ProbeExchange): ProbeResult {
  const failure = toFailureResult(exchange)
  if (failure) return failure
  const call = exchange.turn.parts.find((part) => part.kind === 'call')
  if (call?.kind === 'call')
    return createFailedProbeResult(
      `The call was rejected: ${call.flaw?.message ?? `the finish reason is “${exchange.turn.finish.reason}”`}`,
    )
  return createFailedProbeResult(
    exchange.text === ''
      ? 'The response has neither a call nor text.'
      : `The model answered with text instead of a call: ${quoteModelText(exchange.text)}`,
  )
}

/** Quotes text of a model at the end of a sentence. */
export function quoteModelText(text: string): string {
  const shortened = truncateLine(text)
  return /[.!?…]$/.test(shortened) ? `“${shortened}”` : `“${shortened}”.`
}

export function truncateLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 160 ? `${line.slice(0, 160)}…` : line
}
