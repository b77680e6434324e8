import { splitGlyphs, displayWidth } from '../term/display-width.ts'

/** A row of a text on the screen: all its characters, and the offset of the first in the text. */
export interface TextRow {
  readonly text: string
  readonly start: number
  /** The line goes on in the next row. */
  readonly goesOn: boolean
}

/** The rows of a text in so many columns, broken between words where that is possible. No character is left out. */
export function layoutRows(text: string, columns: number): TextRow[] {
  let start = 0
  return text.split('\n').flatMap((one) => {
    const pieces = breakLine(one, columns)
    const rows = pieces.map((piece, at): TextRow => {
      const row = { text: piece, start, goesOn: at < pieces.length - 1 }
      start += piece.length
      return row
    })
    start += 1
    return rows
  })
}

/** Which row an offset is on. */
export function findRowIndex(rows: readonly TextRow[], offset: number): number {
  return Math.max(
    rows.findLastIndex(({ start }) => start <= offset),
    0,
  )
}

/** The offset that is nearest to a column of a row. */
export function offsetAtColumn({ text, start, goesOn }: TextRow, column: number): number {
  const glyphs = splitGlyphs(text)
  // Behind the last character of a row that goes on, the next row begins.
  const reachable = goesOn ? glyphs.slice(0, -1) : glyphs
  let [offset, used] = [start, 0]
  for (const glyph of reachable) {
    used += glyph.width
    if (used > column) break
    offset += glyph.text.length
  }
  return offset
}

function breakLine(line: string, columns: number): string[] {
  if (displayWidth(line) <= columns) return [line]
  const rows: string[] = []
  let row = ''
  let used = 0
  for (const { text, width } of splitGlyphs(line)) {
    if (used + width > columns && row !== '') {
      // A word goes to the next row with the space behind it, so that no row begins with one.
      const space = row.lastIndexOf(' ')
      rows.push(space > 0 ? row.slice(0, space + 1) : row)
      row = space > 0 ? row.slice(space + 1) : ''
      used = displayWidth(row)
    }
    row += text
    used += width
  }
  return [...rows, row]
}
