import type { JsonObject } from '../../model/json.ts'

/** A form in which models write calls as text: the markers that may open it, and how it is read from there. */
export interface Dialect {
  readonly id: string
  /** In plain letters; see opener.ts for the spellings that are taken for the same. No marker is the start of another. */
  readonly opens: readonly string[]
  readonly read: Reader
}

/** Reads calls from a place where one of the dialect's markers stands. */
export type Reader = (text: string, at: number, scope: Scope) => Read

/** What a reader found. `open` and `prose` must not change into each other's opposite when more text comes. */
export type Read =
  | { readonly kind: 'calls'; readonly end: number; readonly calls: readonly Written[] }
  /** The text ends inside the markup. */
  | { readonly kind: 'open' }
  /** Only words that look like a marker. */
  | { readonly kind: 'prose' }
  /** Markup without doubt, but it cannot be read without guessing. */
  | { readonly kind: 'broken'; readonly why: string }

/** A call as it stands there: the name as it was written, the arguments as JSON text. */
export interface Written {
  readonly name: string
  readonly raw: string
}

/** What a reader knows besides the text. */
export interface Scope {
  /** Nothing more comes. */
  readonly final: boolean
  /** The schema of a tool, by its name as it was written; nothing if there is no such tool. */
  schema(name: string): JsonObject | undefined
}

/** The text ends inside the markup. */
export const OPEN: Read = { kind: 'open' }

/** Not markup. */
export const PROSE: Read = { kind: 'prose' }

/** Markup that cannot be read with certainty. */
export function broken(why: string): Read {
  return { kind: 'broken', why }
}

/** No pattern of a reader is longer than this, so that a place followed by this much text is decided for good. */
export const REACH = 400

/** What to say where no pattern matches: it is prose, unless more text could still make it match. */
export function undecided(text: string, at: number, scope: Scope): Read {
  return !scope.final && text.length - at < REACH ? OPEN : PROSE
}

/** A pattern that matches only where it is tried. It must be bounded by REACH and must not end in the middle of a word. */
export function pattern(source: string): RegExp {
  return new RegExp(source, 'y')
}

/** Tries a sticky pattern at a place. */
export function match(sticky: RegExp, text: string, at: number): RegExpExecArray | null {
  sticky.lastIndex = at
  return sticky.exec(text)
}

/** The next place that is not white space. */
export function skipSpace(text: string, at: number): number {
  SPACE.lastIndex = at
  SPACE.test(text)
  return SPACE.lastIndex
}

const SPACE = /\s*/y

/** The bar of a special token, in the spellings that models and tokenizers give it. */
export const BAR = '\\s?[|｜‖│]{1,2}\\s?'

/** A special token such as `<|name|>`. */
export function token(name: string): string {
  return `<${BAR}(?:${name.replaceAll('_', '[_▁]')})${BAR}>`
}

/** A tool name that stands without quotes. */
export const NAME = '[A-Za-z_][\\w.:/-]{0,127}'

/** White space between two marks. */
export const GAP = '\\s{0,32}'
