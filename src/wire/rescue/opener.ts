import type { Dialect } from './dialect.ts'
import { DIALECTS } from './table.ts'

/** The dialect whose marker stands here; `partial` if the text ends inside a possible marker. */
export function openerAt(text: string, at: number): Dialect | 'partial' | undefined {
  let plain = ''
  for (let i = at; i < text.length && i - at < LONGEST; i++) {
    const char = text[i] ?? ''
    const next = PLAIN[char] ?? char
    if (next === '|' && plain.endsWith('|')) continue
    if (next === ' ' && (plain === '<' || plain.startsWith('<|'))) continue
    plain += next
    const dialect = OPENERS.get(plain)
    if (dialect) return dialect
    if (!BEGINNINGS.has(plain)) return undefined
  }
  return text.length - at < LONGEST ? 'partial' : undefined
}

/** The first place from which the text could go on to be a marker that begins with a word; else its length. */
export function wordTail(text: string, from: number): number {
  for (let at = Math.max(from, text.length - LONGEST_WORD); at < text.length; at++) {
    if (!FIRST_LETTERS.includes(text[at] ?? '')) continue
    const tail = text.slice(at)
    if (WORDS.some((word) => word.startsWith(tail))) return at
  }
  return text.length
}

/** Where prose may stop being prose: line ends and back-quotes, the first letters of markers, the words that open one. */
export const SPOT = /[\n`~<＜[\]]|assistant|analysis|commentary|to=functions\./g

const WORDS = ['assistant', 'analysis', 'commentary', 'to=functions.']
const FIRST_LETTERS = 'act'
const LONGEST_WORD = 13
const LONGEST = 64

/** Spellings that are taken for the same. Bars may also be doubled, and have spaces around them. */
const PLAIN: Readonly<Record<string, string>> = { '｜': '|', '‖': '|', '│': '|', '▁': '_', '＜': '<', '＞': '>' }

const OPENERS: ReadonlyMap<string, Dialect> = new Map(
  DIALECTS.flatMap((dialect) => dialect.opens.map((open) => [open, dialect] as const)),
)

const BEGINNINGS: ReadonlySet<string> = new Set(
  [...OPENERS.keys()].flatMap((open) => Array.from(open, (_char, length) => open.slice(0, length + 1))),
)
