import { cellsOf, widthOf } from '../term/width.ts'

/** A text in one row of so many columns: line ends can be seen, and what is left out is left out in the middle. */
export function inOneRow(text: string, room: number): string {
  const row = text.trim().replace(/\s*\n\s*/g, ' ⏎ ')
  // Measuring takes its time, and a long text shows no more of itself than a short one.
  const enough = room * 8
  if (row.length <= enough && widthOf(row) <= room) return row
  const tail = Math.floor((room - 1) / 3)
  return `${beginning(row.slice(0, enough), room - 1 - tail)}…${end(row.slice(-enough), tail)}`
}

/** As much of the beginning of a text as has room. */
function beginning(text: string, room: number): string {
  let [shown, used] = ['', 0]
  for (const glyph of cellsOf(text)) {
    used += glyph.width
    if (used > room) break
    shown += glyph.text
  }
  return shown
}

/** As much of the end of a text as has room. */
export function end(text: string, room: number): string {
  let [shown, used] = ['', 0]
  for (const glyph of cellsOf(text).reverse()) {
    used += glyph.width
    if (used > room) break
    shown = glyph.text + shown
  }
  return shown
}
