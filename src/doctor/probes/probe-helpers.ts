import type { JsonObject } from '../../model/json.ts'
import type { ToolSpec } from '../../model/request.ts'
import type { AssistantPart, CallPart, ResultPart, ResultStatus, Turn } from '../../model/turn.ts'
import { type ProbeResult, degraded, failed, notOffered, passed } from './probe.ts'
import type { ProbeExchange } from '../probe-exchange.ts'
import type { ProbeRequest } from '../probe-runner.ts'

export function userTurn(text: string): Turn {
  return { role: 'user', parts: [{ kind: 'text', text }] }
}

/** A turn of another model, from another provider. */
export function foreignTurn(...parts: AssistantPart[]): Turn {
  const origin = { provider: 'elsewhere', wire: 'anthropic', model: 'another' } as const
  const reason = parts.some(({ kind }) => kind === 'call') ? 'calls' : 'stop'
  return { role: 'assistant', origin, parts, finish: { reason } }
}

/** The same result for all calls. */
export function resultsTurn(calls: CallPart[], content: ResultPart['content'], status: ResultStatus = 'ok'): Turn {
  const error =
    status === 'error' ? { error: { message: String(content.map((one) => ('text' in one ? one.text : ''))) } } : {}
  return {
    role: 'results',
    parts: calls.map(({ id, name }) => ({ kind: 'result', id, name, status, content, ...error })),
  }
}

/** A tool whose parameters are all required, unless `extras` says otherwise. */
export function defineTool(name: string, about: string, properties: JsonObject, extras: JsonObject = {}): ToolSpec {
  return {
    name,
    description: about,
    schema: { type: 'object', properties, required: Object.keys(properties), ...extras },
  }
}

export const WEATHER_TOOL = defineTool('get_weather', 'Tells the weather in a city.', { city: { type: 'string' } })
export const LIST_NOTES_TOOL = defineTool('list_notes', 'Lists all notes. It takes no arguments.', {})
export const WRITE_NOTE_TOOL = defineTool('write_note', 'Writes a note.', { text: { type: 'string' } })

/** A request with one prompt. */
export function prompt(text: string, ...tools: ToolSpec[]): ProbeRequest {
  return { tools, turns: [userTurn(text)] }
}

export const TEXT_REQUEST = prompt('Reply with the single word: ready.')

/** The request that most probes build on: it needs one call. */
export const CALL_REQUEST = prompt('What is the weather in Oslo? Use the tool.', WEATHER_TOOL)

/** The result for a fault or a content filter; undefined if there was neither. */
export function toFailure({ fault, turn }: ProbeExchange): ProbeResult | undefined {
  if (fault?.code === 'budget')
    return notOffered('The token budget of this run is used up. Raise it with --max-tokens.')
  if (fault?.kind === 'invalid') return notOffered(`The endpoint rejected the request: ${truncateLine(fault.message)}`)
  if (fault) return failed(truncateLine(fault.message))
  if (turn.finish.reason === 'filter') return failed('A content filter stopped the response.')
  return undefined
}

/** The result for a response that should contain a text. */
export function checkResponseText(exchange: ProbeExchange, expectedPattern: RegExp): ProbeResult {
  const failure = checkNotEmpty(exchange)
  if (failure.status !== 'passes' || expectedPattern.test(exchange.text)) return failure
  return exchange.text === ''
    ? degraded('The model made another call instead of answering.')
    : degraded(`The response does not contain the expected text: ${quoteModelText(exchange.text)}`)
}

export function checkNotEmpty(exchange: ProbeExchange): ProbeResult {
  const isEmpty = exchange.text === '' && exchange.calls.length === 0
  return toFailure(exchange) ?? (isEmpty ? failed('The response is empty.') : passed())
}

/** The result for a response without a runnable call. */
export function explainMissingCall(exchange: ProbeExchange): ProbeResult {
  const failure = toFailure(exchange)
  if (failure) return failure
  const call = exchange.turn.parts.find((part) => part.kind === 'call')
  if (call?.kind === 'call')
    return failed(
      `The call was rejected: ${call.flaw?.message ?? `the finish reason is “${exchange.turn.finish.reason}”`}`,
    )
  return failed(
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
