import { splitGlyphs, displayWidth } from '../term/display-width.ts'

/** A text in one row: line ends are visible, and it is shortened in the middle. */
export function toSingleRow(text: string, columns: number): string {
  const row = text.trim().replace(/\s*\n\s*/g, ' ⏎ ')
  // Measuring a long text would take time, and no more of it would be shown.
  const enough = columns * 8
  if (row.length <= enough && displayWidth(row) <= columns) return row
  const tail = Math.floor((columns - 1) / 3)
  return `${takeStart(row.slice(0, enough), columns - 1 - tail)}…${keepLastColumns(row.slice(-enough), tail)}`
}

function takeStart(text: string, columns: number): string {
  let [shown, used] = ['', 0]
  for (const glyph of splitGlyphs(text)) {
    used += glyph.width
    if (used > columns) break
    shown += glyph.text
  }
  return shown
}

export function keepLastColumns(text: string, columns: number): string {
  let [shown, used] = ['', 0]
  for (const glyph of splitGlyphs(text).reverse()) {
    used += glyph.width
    if (used > columns) break
    shown = glyph.text + shown
  }
  return shown
}
