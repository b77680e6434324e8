import { eastAsianWidth } from 'get-east-asian-width'

const segments = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** What a person takes for one character, and how many columns it needs. */
export interface Glyph {
  readonly text: string
  readonly width: number
}

/** The characters of a text. */
export function cellsOf(text: string): Glyph[] {
  if (isSimple(text)) return Array.from(text, (char) => ({ text: char, width: 1 }))
  return Array.from(segments.segment(text), ({ segment }) => ({ text: segment, width: glyphWidth(segment) }))
}

/** How many columns a text needs. */
export function widthOf(text: string): number {
  return isSimple(text) ? text.length : cellsOf(text).reduce((sum, { width }) => sum + width, 0)
}

function isSimple(text: string): boolean {
  return /^[\x20-\x7E\u00A1-\u02FF]*$/.test(text) && !text.includes('\u00AD')
}

function glyphWidth(glyph: string): number {
  const point = glyph.codePointAt(0) ?? 0
  // Marks that stand on nothing, and what has no shape, take no room.
  if (/^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]/u.test(glyph)) return 0
  // An emoji is two columns wide when it is shown as one, whatever its first sign is by itself.
  if (/\uFE0F|\p{Emoji_Modifier}/u.test(glyph) && /\p{Emoji}/u.test(glyph)) return 2
  return eastAsianWidth(point)
}
