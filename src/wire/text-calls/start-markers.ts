import type { TextCallDialect } from './dialects/dialect.ts'
import { TEXT_CALL_DIALECTS } from './dialects/dialects.ts'

/** The dialect whose marker is at this offset; `partial` if the text ends inside a possible marker. */
export function findStartMarker(text: string, at: number): TextCallDialect | 'partial' | undefined {
  let plain = ''
  for (let i = at; i < text.length && i - at < MAX_START_MARKER_CHARS; i++) {
    const char = text[i] ?? ''
    const next = CHAR_VARIANTS[char] ?? char
    if (next === '|' && plain.endsWith('|')) continue
    if (next === ' ' && (plain === '<' || plain.startsWith('<|'))) continue
    plain += next
    const dialect = DIALECT_BY_START_MARKER.get(plain)
    if (dialect) return dialect
    if (!START_MARKER_PREFIXES.has(plain)) return undefined
  }
  return text.length - at < MAX_START_MARKER_CHARS ? 'partial' : undefined
}

/** The first offset where more text could make a marker that starts with a word; else the length of the text. */
export function findPartialWordMarker(text: string, from: number): number {
  for (let at = Math.max(from, text.length - MAX_WORD_MARKER_CHARS); at < text.length; at++) {
    if (!FIRST_LETTERS.includes(text[at] ?? '')) continue
    const tail = text.slice(at)
    if (WORD_MARKERS.some((word) => word.startsWith(tail))) return at
  }
  return text.length
}

/** Offsets that must be checked: line ends, backticks, and the first characters or words of markers. */
export const MARKER_CANDIDATE_PATTERN = /[\n`~<＜[\]]|assistant|analysis|commentary|to=functions\./g

const WORD_MARKERS = ['assistant', 'analysis', 'commentary', 'to=functions.']
const FIRST_LETTERS = 'act'
const MAX_WORD_MARKER_CHARS = 13
const MAX_START_MARKER_CHARS = 64

/** Characters that are treated as the same. Bars may also be doubled, and have spaces around them. */
const CHAR_VARIANTS: Readonly<Record<string, string>> = {
  '｜': '|',
  '‖': '|',
  '│': '|',
  '▁': '_',
  '＜': '<',
  '＞': '>',
}

const DIALECT_BY_START_MARKER: ReadonlyMap<string, TextCallDialect> = new Map(
  TEXT_CALL_DIALECTS.flatMap((dialect) => dialect.startMarkers.map((open) => [open, dialect] as const)),
)

const START_MARKER_PREFIXES: ReadonlySet<string> = new Set(
  [...DIALECT_BY_START_MARKER.keys()].flatMap((open) => Array.from(open, (_char, length) => open.slice(0, length + 1))),
)
