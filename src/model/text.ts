import { isObject, type Json } from './json.ts'
import type { MediaPart, ResultPart, TextPart } from './turn.ts'

/** The text of parts, joined with nothing between. */
export function joinTextParts(parts: readonly { readonly kind: string }[]): string {
  return parts.map((part) => (part.kind === 'text' ? (part as TextPart).text : '')).join('')
}

/** A string that any server takes: half a surrogate pair and NUL become the replacement character (T103). */
export function toWellFormed(text: string): string {
  return UNSENDABLE_PATTERN.test(text) ? text.replace(ALL_UNSENDABLE_PATTERN, '\uFFFD') : text
}

/** The same for every string inside a JSON value; gives the very same value where nothing is to be mended. */
export function toWellFormedJson<T extends Json>(value: T): T {
  return UNSENDABLE_JSON_PATTERN.test(JSON.stringify(value)) ? (replaceUnsendable(value) as T) : value
}

/** Can every string and key inside a JSON value be written as UTF-8? Half a surrogate pair cannot. */
export function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return !LONE_SURROGATE.test(value)
  if (Array.isArray(value)) return value.every(isWellFormed)
  return !isObject(value) || Object.entries(value).every(([key, inner]) => isWellFormed(key) && isWellFormed(inner))
}

/** Text that is no longer than it may be; what is left out is counted. It is not cut between the halves of a character. */
export function clipText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  const end = /[\uD800-\uDBFF]/.test(text.charAt(maxChars - 1)) ? maxChars - 1 : maxChars
  return `${text.slice(0, end)}… (${text.length - end} more characters)`
}

/** What a result says to a model that takes only text; never empty (T99). */
export function formatResultText(result: ResultPart): string {
  const text = result.content
    .filter((part): part is TextPart => part.kind === 'text')
    .map((part) => part.text)
    .join('\n')
  if (text.trim() !== '') return toWellFormed(text)
  if (result.data !== undefined && result.data !== '') return toWellFormed(JSON.stringify(result.data))
  if (result.error && result.error.message.trim() !== '') return toWellFormed(result.error.message)
  return result.content.some((part) => part.kind === 'media') ? '(see the attached media)' : '(no output)'
}

/** Where a picture or the like is found: at its address, or in one that holds its bytes; nowhere if it is empty (T100). */
export function toMediaUrl(part: MediaPart): string | undefined {
  if (part.uri !== undefined && part.uri !== '') return part.uri
  return part.data === undefined || part.data === '' ? undefined : `data:${part.mime};base64,${part.data}`
}

/** The media of a result, for wires that carry them apart from its text. */
export function findResultMedia(result: ResultPart): MediaPart[] {
  return result.content.filter((part): part is MediaPart => part.kind === 'media')
}

function replaceUnsendable(value: Json): Json {
  if (typeof value === 'string') return toWellFormed(value)
  if (Array.isArray(value)) return value.map(replaceUnsendable)
  if (isObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [toWellFormed(key), replaceUnsendable(inner)]),
    )
  return value
}

const LONE_SURROGATE = /\p{Surrogate}/u
const UNSENDABLE_PATTERN = /\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/
const ALL_UNSENDABLE_PATTERN = new RegExp(UNSENDABLE_PATTERN, 'g')
/** JSON.stringify writes exactly these as escapes. */
const UNSENDABLE_JSON_PATTERN = /\\u(?:0000|d[89a-f])/

/** The text with a full stop at its end, unless it ends like a sentence already. */
export function endWithPeriod(text: string): string {
  return /[.!?]$/.test(text.trim()) ? text.trim() : `${text.trim()}.`
}
