import { eastAsianWidth } from 'get-east-asian-width'

const graphemeSegmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** What a person takes for one character, and how many columns it needs. */
export interface Glyph {
  readonly text: string
  readonly width: number
}

/** The characters of a text. */
export function splitGlyphs(text: string): Glyph[] {
  if (isSingleWidthText(text)) return Array.from(text, (char) => ({ text: char, width: 1 }))
  return Array.from(graphemeSegmenter.segment(text), ({ segment }) => ({ text: segment, width: measureGlyph(segment) }))
}

/** How many columns a text needs. */
export function displayWidth(text: string): number {
  return isSingleWidthText(text) ? text.length : splitGlyphs(text).reduce((sum, { width }) => sum + width, 0)
}

function isSingleWidthText(text: string): boolean {
  return /^[\x20-\x7E\u00A1-\u02FF]*$/.test(text) && !text.includes('\u00AD')
}

function measureGlyph(glyph: string): number {
  const point = glyph.codePointAt(0) ?? 0
  // Marks that stand on nothing, and what has no shape, take no room.
  if (/^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]/u.test(glyph)) return 0
  // An emoji is two columns wide when it is shown as one, whatever its first sign is by itself.
  if (/\uFE0F|\p{Emoji_Modifier}/u.test(glyph) && /\p{Emoji}/u.test(glyph)) return 2
  return eastAsianWidth(point)
}
