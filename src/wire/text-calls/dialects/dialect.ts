import { defined } from '../../../model/defined.ts'
import type { JsonObject } from '../../../model/json.ts'

export interface TextCallDialect {
  readonly id: string
  /** Who writes it, for the documentation. */
  readonly models: string
  /** In plain letters; start-markers.ts has the accepted variants. No marker is a prefix of another. */
  readonly startMarkers: readonly string[]
  /** Closing tags and tokens that may follow a call, in plain letters; only those that end-markers.ts does not derive. */
  readonly endMarkers?: readonly string[]
  readonly read: DialectReader
}

/** Reads calls from an offset where one of the dialect's markers is. */
export type DialectReader = (text: string, at: number, scope: DialectContext) => ReadResult

/** More text may turn `open` into any other result, but must not change the others. */
export type ReadResult =
  | { readonly kind: 'calls'; readonly end: number; readonly calls: readonly RawTextCall[] }
  /** The text ends inside the markup. */
  | { readonly kind: 'open' }
  /** Text that only looks like a marker. Up to `end` there is no other one. */
  | { readonly kind: 'prose'; readonly end?: number }
  /** Certainly markup, but it cannot be parsed without guessing. `end` is set if its brackets are closed. */
  | { readonly kind: 'broken'; readonly reason: string; readonly end?: number }

/** The name as the model wrote it, and the arguments as JSON text. */
export interface RawTextCall {
  readonly name: string
  readonly raw: string
  /** If it is not the dialect of the marker: a wrapper can contain calls in another one. */
  readonly dialect?: string
}

export interface ReadScope {
  /** The text is complete. */
  readonly isFinal: boolean
  /** The schema of a tool by its name as the model wrote it; undefined if there is no such tool. */
  findSchema(name: string): JsonObject | undefined
  /** Does the name of a tool start like this? */
  hasToolWithPrefix(prefix: string): boolean
}

export interface DialectContext extends ReadScope {
  /** The offset after the start marker. */
  readonly bodyStart: number
  /** Reads the markup of any dialect at an offset inside the text; undefined if there is no marker. */
  readNested(at: number): ReadResult | undefined
}

export const INCOMPLETE: ReadResult = { kind: 'open' }
export const PROSE: ReadResult = { kind: 'prose' }

export function createBroken(reason: string, end?: number): ReadResult {
  return { kind: 'broken', reason, ...defined({ end }) }
}

/** No pattern of a reader matches more text than this, so more text cannot change its result. */
export const MAX_PATTERN_CHARS = 640

/** If no pattern matches: prose, unless more text could still make it match. */
export function toIncompleteOrProse(text: string, at: number, scope: ReadScope): ReadResult {
  return !scope.isFinal && text.length - at < MAX_PATTERN_CHARS ? INCOMPLETE : PROSE
}

/**
 * A regular expression for one offset, compiled when it is first used: most responses need none of them. It must be bounded
 * by MAX_PATTERN_CHARS and must not end in the middle of a word.
 */
export interface Pattern {
  readonly source: string
  compiled?: RegExp
}

export function createPattern(source: string): Pattern {
  return { source }
}

export function matchAt(pattern: Pattern, text: string, at: number): RegExpExecArray | null {
  const sticky = (pattern.compiled ??= new RegExp(pattern.source, 'yu'))
  sticky.lastIndex = at
  return sticky.exec(text)
}

export function skipWhitespace(text: string, at: number): number {
  WHITESPACE.lastIndex = at
  WHITESPACE.test(text)
  return WHITESPACE.lastIndex
}

const WHITESPACE = /\s*/y

/** The bar of a special token, in all variants of models and tokenizers. */
export const BAR_PATTERN = '\\s?[|｜‖│]{1,2}\\s?'

/** A special token such as `<|name|>`. */
export function createTokenPattern(name: string): string {
  return `<${BAR_PATTERN}(?:${name.replaceAll('_', '[_▁]')})${BAR_PATTERN}>`
}

/** A tool name without quotes, in any script. */
export const NAME_PATTERN = '[\\p{L}\\p{N}_][\\p{L}\\p{N}_.:/-]{0,127}'

/** White space between two markers. */
export const GAP_PATTERN = '\\s{0,32}'
