import { isObject, type Json } from './json.ts'
import type { MediaPart, ResultPart, TextPart } from './turn.ts'

export function joinTextParts(parts: readonly { readonly kind: string }[]): string {
  return parts.map((part) => (part.kind === 'text' ? (part as TextPart).text : '')).join('')
}

/** Replaces lone surrogates and NUL, which servers reject, by the replacement character (T103). */
export function toWellFormed(text: string): string {
  return UNSENDABLE_PATTERN.test(text) ? text.replace(ALL_UNSENDABLE_PATTERN, '\uFFFD') : text
}

/** The same for every string inside a JSON value; returns the same object if nothing had to be replaced. */
export function toWellFormedJson<T extends Json>(value: T): T {
  return UNSENDABLE_JSON_PATTERN.test(JSON.stringify(value)) ? (replaceUnsendable(value) as T) : value
}

/** Can every string and key inside a JSON value be written as UTF-8? Lone surrogates cannot. */
export function hasOnlyWellFormedStrings(value: unknown): boolean {
  if (typeof value === 'string') return !LONE_SURROGATE.test(value)
  if (Array.isArray(value)) return value.every(hasOnlyWellFormedStrings)
  return (
    !isObject(value) ||
    Object.entries(value).every(([key, inner]) => hasOnlyWellFormedStrings(key) && hasOnlyWellFormedStrings(inner))
  )
}

/** Shortens a text and says how much was left out. Surrogate pairs are not split. */
export function clipText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  const end = /[\uD800-\uDBFF]/.test(text.charAt(maxChars - 1)) ? maxChars - 1 : maxChars
  return `${text.slice(0, end)}… (${text.length - end} more characters)`
}

/** The text of a result, for wires that take only text; never empty (T99). */
export function formatResultText(result: ResultPart): string {
  const text = result.content
    .filter((part): part is TextPart => part.kind === 'text')
    .map((part) => part.text)
    .join('\n')
  if (text.trim() !== '') return toWellFormed(text)
  if (result.data !== undefined && result.data !== '') return toWellFormed(JSON.stringify(result.data))
  if (result.error && result.error.message.trim() !== '') return toWellFormed(result.error.message)
  if (result.content.some((part) => part.kind === 'media')) return '(see the attached media)'
  const { foundTools = [] } = result
  return foundTools.length > 0 ? `These tools were found: ${foundTools.join(', ')}` : '(no output)'
}

/** The URL of a media part, or a data URL with its content; undefined if it is empty (T100). */
export function toMediaUrl(part: MediaPart): string | undefined {
  if (part.uri !== undefined && part.uri !== '') return part.uri
  return part.data === undefined || part.data === '' ? undefined : `data:${part.mime};base64,${part.data}`
}

export function findResultMedia(result: ResultPart): MediaPart[] {
  return result.content.filter((part): part is MediaPart => part.kind === 'media')
}

/** The words of a list that is written as a text block. */
export function splitWords(text: string): string[] {
  return text.trim().split(/\s+/)
}

/** A media part in a sentence: its name and type. */
export function describeMedia({ name, mime }: MediaPart): string {
  return name === undefined ? mime : `${toWellFormed(name)} (${mime})`
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
