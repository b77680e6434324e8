import { eastAsianWidth } from 'get-east-asian-width'

const graphemeSegmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** A grapheme and its width in columns. */
interface Glyph {
  readonly text: string
  readonly width: number
}

export function splitGlyphs(text: string): Glyph[] {
  if (isSingleWidthText(text)) return Array.from(text, (char) => ({ text: char, width: 1 }))
  return Array.from(graphemeSegmenter.segment(text), ({ segment }) => ({ text: segment, width: measureGlyph(segment) }))
}

export function displayWidth(text: string): number {
  return isSingleWidthText(text) ? text.length : splitGlyphs(text).reduce((sum, { width }) => sum + width, 0)
}

function isSingleWidthText(text: string): boolean {
  return /^[\x20-\x7E\u00A1-\u02FF]*$/.test(text) && !text.includes('\u00AD')
}

function measureGlyph(glyph: string): number {
  const point = glyph.codePointAt(0) ?? 0
  // Combining marks without a base, and invisible characters.
  if (/^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]/u.test(glyph)) return 0
  // In emoji presentation it is two columns wide, whatever its first code point is.
  if (/\uFE0F|\p{Emoji_Modifier}/u.test(glyph) && /\p{Emoji}/u.test(glyph)) return 2
  return eastAsianWidth(point)
}
