import type { JsonObject } from '../../model/json.ts'
import type { ToolSpec } from '../../model/request.ts'
import type { AssistantPart, CallPart, ResultPart, ResultStatus, Turn } from '../../model/turn.ts'
import { degraded, fails, notOffered, type Verdict } from '../behaviour.ts'
import type { Exam } from '../exam.ts'
import type { Question } from '../ward.ts'

/** What a person says. */
export function said(text: string): Turn {
  return { role: 'user', parts: [{ kind: 'text', text }] }
}

/** What another model said before, somewhere else. */
export function foreign(...parts: AssistantPart[]): Turn {
  const origin = { provider: 'elsewhere', wire: 'anthropic', model: 'another' } as const
  const reason = parts.some(({ kind }) => kind === 'call') ? 'calls' : 'stop'
  return { role: 'assistant', origin, parts, finish: { reason } }
}

/** The same result for all calls. */
export function results(calls: readonly CallPart[], content: ResultPart['content'], status: ResultStatus = 'ok'): Turn {
  const error =
    status === 'error' ? { error: { message: String(content.map((one) => ('text' in one ? one.text : ''))) } } : {}
  return {
    role: 'results',
    parts: calls.map(({ id, name }) => ({ kind: 'result', id, name, status, content, ...error })),
  }
}

/** A tool with these parameters, all of them needed unless `required` says otherwise. */
export function toolOf(name: string, description: string, properties: JsonObject, more: JsonObject = {}): ToolSpec {
  return { name, description, schema: { type: 'object', properties, required: Object.keys(properties), ...more } }
}

export const WEATHER = toolOf('get_weather', 'Tells the weather in a city.', { city: { type: 'string' } })
export const NOTES = toolOf('list_notes', 'Lists all notes. It takes no arguments.', {})
export const WRITE = toolOf('write_note', 'Writes a note.', { text: { type: 'string' } })

/** The question that most probes go on from: it takes one call. */
export function callQuestion(): Question {
  return { tools: [WEATHER], turns: [said('What is the weather in Oslo? Use the tool.')] }
}

/** A refusal or a fault as a verdict; undefined where there was neither. */
export function trouble({ fault, turn }: Exam): Verdict | undefined {
  if (fault?.code === 'budget')
    return notOffered('The tokens for this examination are used up; --max-tokens gives more.')
  if (fault?.kind === 'invalid') return notOffered(`It is refused: ${short(fault.message)}`)
  if (fault) return fails(short(fault.message))
  if (turn.finish.reason === 'filter') return fails('A content filter stopped the answer.')
  return undefined
}

/** Whether some words are in an answer that had to be given in words. */
export function wordsOf(exam: Exam, wanted: RegExp): Verdict | undefined {
  const bad = trouble(exam)
  if (bad) return bad
  if (exam.text === '' && exam.calls.length > 0) return degraded('It called again instead of answering.')
  if (exam.text === '') return fails('The answer is empty.')
  return wanted.test(exam.text) ? undefined : degraded(`It answered something else: ${quoted(exam.text)}`)
}

/** Why there is no call where there should be one. */
export function noCall(exam: Exam): Verdict {
  const bad = trouble(exam)
  if (bad) return bad
  const call = exam.turn.parts.find((part) => part.kind === 'call')
  if (call?.kind === 'call')
    return fails(`The call may not run: ${call.flaw?.message ?? `it ended with “${exam.turn.finish.reason}”`}`)
  return fails(exam.text === '' ? 'There is neither a call nor a word.' : `It answered in words: ${quoted(exam.text)}`)
}

/** What a model wrote, at the end of a sentence of ours: it must not run into the next one. */
export function quoted(text: string): string {
  const words = short(text)
  return /[.!?…]$/.test(words) ? `“${words}”` : `“${words}”.`
}

/** The beginning of a text, on one line. */
export function short(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 160 ? `${line.slice(0, 160)}…` : line
}
