import { splitGlyphs, displayWidth } from '../term/display-width.ts'

/** A text in one row of so many columns: line ends can be seen, and what is left out is left out in the middle. */
export function toSingleRow(text: string, columns: number): string {
  const row = text.trim().replace(/\s*\n\s*/g, ' ⏎ ')
  // Measuring takes its time, and a long text shows no more of itself than a short one.
  const enough = columns * 8
  if (row.length <= enough && displayWidth(row) <= columns) return row
  const tail = Math.floor((columns - 1) / 3)
  return `${takeStart(row.slice(0, enough), columns - 1 - tail)}…${takeEnd(row.slice(-enough), tail)}`
}

/** As much of the beginning of a text as has room. */
function takeStart(text: string, columns: number): string {
  let [shown, used] = ['', 0]
  for (const glyph of splitGlyphs(text)) {
    used += glyph.width
    if (used > columns) break
    shown += glyph.text
  }
  return shown
}

/** As much of the end of a text as has room. */
export function takeEnd(text: string, columns: number): string {
  let [shown, used] = ['', 0]
  for (const glyph of splitGlyphs(text).reverse()) {
    used += glyph.width
    if (used > columns) break
    shown = glyph.text + shown
  }
  return shown
}
