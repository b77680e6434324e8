import { isObject, type Json } from './json.ts'
import type { MediaPart, ResultPart, TextPart } from './turn.ts'

/** The text of parts, joined with nothing between. */
export function textOf(parts: readonly { readonly kind: string }[]): string {
  return parts.map((part) => (part.kind === 'text' ? (part as TextPart).text : '')).join('')
}

/** A string that any server takes: half a surrogate pair and NUL become the replacement character (T103). */
export function wellFormed(text: string): string {
  return UNSENDABLE.test(text) ? text.replace(ALL_UNSENDABLE, '\uFFFD') : text
}

/** The same for every string inside a JSON value; gives the very same value where nothing is to be mended. */
export function wellFormedJson<T extends Json>(value: T): T {
  return UNSENDABLE_JSON.test(JSON.stringify(value)) ? (mend(value) as T) : value
}

/** Can every string and key inside a JSON value be written as UTF-8? Half a surrogate pair cannot. */
export function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return !LONE_SURROGATE.test(value)
  if (Array.isArray(value)) return value.every(isWellFormed)
  return !isObject(value) || Object.entries(value).every(([key, inner]) => isWellFormed(key) && isWellFormed(inner))
}

/** Text that is no longer than it may be; what is left out is counted. It is not cut between the halves of a character. */
export function clipped(text: string, most: number): string {
  if (text.length <= most) return text
  const end = /[\uD800-\uDBFF]/.test(text.charAt(most - 1)) ? most - 1 : most
  return `${text.slice(0, end)}… (${text.length - end} more characters)`
}

/** What a result says to a model that takes only text; never empty (T99). */
export function resultText(result: ResultPart): string {
  const text = result.content
    .filter((part): part is TextPart => part.kind === 'text')
    .map((part) => part.text)
    .join('\n')
  if (text.trim() !== '') return wellFormed(text)
  if (result.data !== undefined && result.data !== '') return wellFormed(JSON.stringify(result.data))
  if (result.error && result.error.message.trim() !== '') return wellFormed(result.error.message)
  return result.content.some((part) => part.kind === 'media') ? '(see the attached media)' : '(no output)'
}

/** Where a picture or the like is found: at its address, or in one that holds its bytes; nowhere if it is empty (T100). */
export function mediaUrl(part: MediaPart): string | undefined {
  if (part.uri !== undefined && part.uri !== '') return part.uri
  return part.data === undefined || part.data === '' ? undefined : `data:${part.mime};base64,${part.data}`
}

/** The media of a result, for wires that carry them apart from its text. */
export function resultMedia(result: ResultPart): MediaPart[] {
  return result.content.filter((part): part is MediaPart => part.kind === 'media')
}

function mend(value: Json): Json {
  if (typeof value === 'string') return wellFormed(value)
  if (Array.isArray(value)) return value.map(mend)
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [wellFormed(key), mend(inner)]))
  return value
}

const LONE_SURROGATE = /\p{Surrogate}/u
const UNSENDABLE = /\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/
const ALL_UNSENDABLE = new RegExp(UNSENDABLE, 'g')
/** JSON.stringify writes exactly these as escapes. */
const UNSENDABLE_JSON = /\\u(?:0000|d[89a-f])/
