import { splitGlyphs, displayWidth } from '../term/display-width.ts'

/** A text in one row: line ends are visible, and it is shortened in the middle. */
export function toSingleRow(text: string, columns: number): string {
  const row = text.trim().replace(/\s*\n\s*/g, ' ⏎ ')
  // Measuring a long text would take time, and no more of it would be shown.
  const enough = columns * 8
  if (row.length <= enough && displayWidth(row) <= columns) return row
  const tail = Math.floor((columns - 1) / 3)
  const start = takeFitting(splitGlyphs(row.slice(0, enough)), columns - 1 - tail)
  return `${start.join('')}…${keepLastColumns(row.slice(-enough), tail)}`
}

export function keepLastColumns(text: string, columns: number): string {
  return takeFitting(splitGlyphs(text).reverse(), columns).reverse().join('')
}

function takeFitting(glyphs: ReturnType<typeof splitGlyphs>, columns: number): string[] {
  let used = 0
  const end = glyphs.findIndex(({ width }) => (used += width) > columns)
  return glyphs.slice(0, end < 0 ? glyphs.length : end).map(({ text }) => text)
}
