import { eastAsianWidth } from 'get-east-asian-width'
import { lazy } from '../../../model/lazy.ts'

/** Made when it is first needed: that takes 10 ms. */
const graphemeSegmenter = lazy(() => new Intl.Segmenter(undefined, { granularity: 'grapheme' }))

/** A grapheme and its width in columns. */
interface Glyph {
  readonly text: string
  readonly width: number
}

export function splitGlyphs(text: string): Glyph[] {
  if (isSingleWidthText(text)) return Array.from(text, (char) => ({ text: char, width: 1 }))
  return Array.from(graphemeSegmenter().segment(text), ({ segment }) => ({
    text: segment,
    width: measureGlyph(segment),
  }))
}

export function displayWidth(text: string): number {
  return isSingleWidthText(text) ? text.length : splitGlyphs(text).reduce((sum, { width }) => sum + width, 0)
}

/** Is each UTF-16 unit of the text a grapheme of its own, one column wide? */
export function isSingleWidthText(text: string): boolean {
  return SINGLE_WIDTH_TEXT.test(text)
}

/** Latin, Greek and Cyrillic letters, punctuation, arrows, lines and the symbols of the views. */
const SINGLE_WIDTH_TEXT =
  /^[\x20-\x7E\u00A1-\u00AC\u00AE-\u02FF\u0370-\u0482\u048A-\u052F\u2010-\u2027\u2030-\u205E\u2190-\u2319\u2387\u2500-\u25FC\u2610\u2611\u2713-\u2717\u273B]*$/

function measureGlyph(glyph: string): number {
  const point = glyph.codePointAt(0) ?? 0
  // Combining marks without a base, and invisible characters.
  if (/^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]/u.test(glyph)) return 0
  // In emoji presentation it is two columns wide, whatever its first code point is.
  if (/\uFE0F|\p{Emoji_Modifier}/u.test(glyph) && /\p{Emoji}/u.test(glyph)) return 2
  return eastAsianWidth(point)
}
