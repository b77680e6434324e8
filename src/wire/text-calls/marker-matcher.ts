import { lazy } from '../../model/lazy.ts'

/** A marker in a text, and where it ends. */
export interface MarkerMatch<T> {
  readonly value: T
  readonly end: number
}

/**
 * Finds which of some markers is at an offset; `partial` if the text ends inside a possible one. No marker may be a prefix of
 * another.
 */
export function createMarkerMatcher<T>(list: () => Iterable<readonly [marker: string, value: T]>) {
  // Few responses have anything like a marker, so the tables are made for the first one.
  const getTables = lazy(() => {
    const markers = new Map(list())
    const prefixes = [...markers.keys()].flatMap((marker) =>
      Array.from(marker, (_char, length) => marker.slice(0, length + 1)),
    )
    return { markers, prefixes: new Set(prefixes) }
  })
  return (text: string, at: number): MarkerMatch<T> | 'partial' | undefined => {
    const { markers, prefixes } = getTables()
    let plain = ''
    for (let i = at; i < text.length && i - at < MAX_MARKER_CHARS; i++) {
      const char = text[i] ?? ''
      const next = CHAR_VARIANTS[char] ?? char
      if (next === '|' && plain.endsWith('|')) continue
      if (next === ' ' && (plain === '<' || plain.startsWith('<|'))) continue
      if (next === '\n' && plain.startsWith('<|')) continue
      plain += next
      const value = markers.get(plain)
      if (value !== undefined) return { value, end: i + 1 }
      if (!prefixes.has(plain)) return undefined
    }
    return text.length - at < MAX_MARKER_CHARS ? 'partial' : undefined
  }
}

const MAX_MARKER_CHARS = 64

/** Characters that are treated as the same. Bars may also be doubled, and have spaces around them. */
const CHAR_VARIANTS: Readonly<Record<string, string>> = {
  '｜': '|',
  '‖': '|',
  '│': '|',
  '▁': '_',
  '＜': '<',
  '＞': '>',
}
