import type { JsonObject } from '../../../model/json.ts'

/** A form in which models write calls as text: the markers that may open it, and how it is read from there. */
export interface TextCallDialect {
  readonly id: string
  /** In plain letters; see opener.ts for the spellings that are taken for the same. No marker is the start of another. */
  readonly startMarkers: readonly string[]
  readonly read: DialectReader
}

/** Reads calls from a place where one of the dialect's markers stands. */
export type DialectReader = (text: string, at: number, scope: DialectContext) => DialectResult

/** What a reader found. `open` and `prose` must not change into each other's opposite when more text comes. */
export type DialectResult =
  | { readonly kind: 'calls'; readonly end: number; readonly calls: readonly RawTextCall[] }
  /** The text ends inside the markup. */
  | { readonly kind: 'open' }
  /** Only words that look like a marker. */
  | { readonly kind: 'prose' }
  /** Markup without doubt, but it cannot be read without guessing. */
  | { readonly kind: 'broken'; readonly reason: string }

/** A call as it stands there: the name as it was written, the arguments as JSON text. */
export interface RawTextCall {
  readonly name: string
  readonly raw: string
}

/** What a reader knows besides the text. */
export interface DialectContext {
  /** Nothing more comes. */
  readonly isFinal: boolean
  /** The schema of a tool, by its name as it was written; nothing if there is no such tool. */
  findSchema(name: string): JsonObject | undefined
}

/** The text ends inside the markup. */
export const INCOMPLETE: DialectResult = { kind: 'open' }

/** Not markup. */
export const NOT_A_CALL: DialectResult = { kind: 'prose' }

/** Markup that cannot be read with certainty. */
export function createBrokenResult(why: string): DialectResult {
  return { kind: 'broken', reason: why }
}

/** No pattern of a reader is longer than this, so that a place followed by this much text is decided for good. */
export const MAX_PATTERN_CHARS = 400

/** What to say where no pattern matches: it is prose, unless more text could still make it match. */
export function incompleteOrProse(text: string, at: number, scope: DialectContext): DialectResult {
  return !scope.isFinal && text.length - at < MAX_PATTERN_CHARS ? INCOMPLETE : NOT_A_CALL
}

/** A pattern that matches only where it is tried. It must be bounded by REACH and must not end in the middle of a word. */
export function createStickyPattern(source: string): RegExp {
  return new RegExp(source, 'y')
}

/** Tries a sticky pattern at a place. */
export function matchAt(sticky: RegExp, text: string, at: number): RegExpExecArray | null {
  sticky.lastIndex = at
  return sticky.exec(text)
}

/** The next place that is not white space. */
export function skipWhitespace(text: string, at: number): number {
  WHITESPACE.lastIndex = at
  WHITESPACE.test(text)
  return WHITESPACE.lastIndex
}

const WHITESPACE = /\s*/y

/** The bar of a special token, in the spellings that models and tokenizers give it. */
export const BAR_PATTERN = '\\s?[|｜‖│]{1,2}\\s?'

/** A special token such as `<|name|>`. */
export function createTokenPattern(name: string): string {
  return `<${BAR_PATTERN}(?:${name.replaceAll('_', '[_▁]')})${BAR_PATTERN}>`
}

/** A tool name that stands without quotes. */
export const NAME_PATTERN = '[A-Za-z_][\\w.:/-]{0,127}'

/** White space between two marks. */
export const GAP_PATTERN = '\\s{0,32}'
