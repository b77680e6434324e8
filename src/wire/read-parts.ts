import { defined } from '../model/defined.ts'
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
  if (last?.role === 'results') turns[turns.length - 1] = { role: 'results', parts: [...last.parts, ...results] }
  else turns.push({ role: 'results', parts: results })
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
