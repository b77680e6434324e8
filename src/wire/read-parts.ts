import { defined } from '../model/defined.ts'
import type { Warning } from '../model/event.ts'
import { isObject, type Json, type JsonObject, objectOrEmpty } from '../model/json.ts'
import type { ModelParams } from '../model/request.ts'
import type { MediaPart, NativeData, ResultPart, Turn, WireId } from '../model/turn.ts'

/** A media part from its URL; the content of a data URL is taken out of it. */
export function parseMediaUrl(url: string, mime: string): MediaPart {
  const inline = /^data:([^;,]+);base64,(.*)$/s.exec(url)
  return inline ? { kind: 'media', mime: inline[1] ?? mime, data: inline[2] ?? '' } : { kind: 'media', mime, uri: url }
}

/** Results that follow each other are one turn. */
export function appendResults(turns: Turn[], ...results: ResultPart[]): void {
  const last = turns.at(-1)
  if (last?.role === 'results') addParts(last, results)
  else turns.push({ role: 'results', parts: results })
}

/** Adds parts to a turn that is still being read, so that nobody else has it yet: a turn may have thousands. */
export function addParts<Part>({ parts }: { readonly parts: readonly Part[] }, added: readonly Part[]): void {
  for (const part of added) (parts as Part[]).push(part)
}

export function readToolSchema(value: unknown): JsonObject {
  return isObject(value) ? (value as JsonObject) : { type: 'object', properties: {} }
}

/** Vendor data found in a request. Who signed it is not known: it is taken for the wire's own. */
export function createNativeDataFromRequest(wire: WireId, id: string | undefined, data?: Json): NativeData {
  return { wire, signer: wire, ...defined({ id, data }) }
}

/** On OpenAI's wires; `none` turns reasoning off. */
export function readOpenAiEffort(value: unknown): ModelParams['effort'] {
  return value === 'none' ? 'off' : EFFORT_LEVELS.find((level) => level === value)
}

const EFFORT_LEVELS = ['minimal', 'low', 'medium', 'high', 'xhigh'] as const

/** A longer lifetime of the prompt cache than the default, on OpenAI's wires. */
export function readOpenAiCacheTtl(body: Record<string, unknown>): ModelParams['cacheTtl'] {
  const { ttl } = objectOrEmpty(body['prompt_cache_options'])
  return body['prompt_cache_retention'] === '24h' || ttl === '12h' ? '1h' : undefined
}

/** The fields of an object that a reader does not understand. `known` names the others, separated by spaces. */
export function pickOtherFields(fields: Readonly<Record<string, unknown>>, known: string): JsonObject | undefined {
  let names = KNOWN_NAMES.get(known)
  if (!names) KNOWN_NAMES.set(known, (names = new Set(known.split(' '))))
  // A decoder asks this of each delta, and nearly always there is nothing.
  let isOther = false
  for (const name in fields) if (!names.has(name)) isOther = true
  if (!isOther) return undefined
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.has(name))) as JsonObject
}

/** The lists are literals of the code, so there are few. */
const KNOWN_NAMES = new Map<string, ReadonlySet<string>>()

/** The part with more native data; the same part if there is none to add. */
export function addNativeData<P extends { readonly native?: NativeData }>(part: P, wire: WireId, data: JsonObject): P {
  const more = defined(data)
  if (Object.keys(more).length === 0) return part
  const before = part.native ?? createNativeDataFromRequest(wire, undefined)
  return { ...part, native: { ...before, data: { ...objectOrEmpty(before.data), ...more } as JsonObject } }
}

/** The parts of a message; the first one keeps the fields of the message. Without a part they are lost, with a warning. */
export function keepMessageFields<P extends { readonly native?: NativeData }>(
  [first, ...rest]: readonly P[],
  wire: WireId,
  message: JsonObject | undefined,
  warnings: Warning[],
): P[] {
  if (first) return [message ? addNativeData(first, wire, { message }) : first, ...rest]
  warnAboutFields(message, 'a message without content', warnings)
  return []
}

/** For fields that cannot be kept. */
export function warnAboutFields(fields: JsonObject | undefined, of: string, warnings: Warning[]): void {
  if (!fields) return
  const message = `Fields of ${of} were left out: ${JSON.stringify(fields).slice(0, 200)}`
  warnings.push({ code: 'unknown-fields', message })
}

/** For anything else that cannot be kept; an excerpt shows what it was. */
export function warnAboutUnknown(what: string, value: unknown, warnings: Warning[]): void {
  const excerpt = (JSON.stringify(value) ?? '').slice(0, 200)
  warnings.push({ code: 'unknown-value', message: `${what} was left out: ${excerpt}` })
}
