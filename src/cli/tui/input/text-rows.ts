import { splitGlyphs, displayWidth } from '../term/display-width.ts'

/** A row of a text on the screen, and the offset of its first character. */
interface TextRow {
  readonly text: string
  readonly start: number
  readonly continues: boolean
}

/** Breaks a text into rows, between words if possible. No character is left out. */
export function layoutRows(text: string, columns: number): TextRow[] {
  let start = 0
  return text.split('\n').flatMap((one) => {
    const pieces = breakLine(one, columns)
    const rows = pieces.map((piece, at): TextRow => {
      const row = { text: piece, start, continues: at < pieces.length - 1 }
      start += piece.length
      return row
    })
    start += 1
    return rows
  })
}

export function findRowIndex(rows: readonly TextRow[], offset: number): number {
  return Math.max(
    rows.findLastIndex(({ start }) => start <= offset),
    0,
  )
}

/** The offset nearest to a column of a row. */
export function findOffsetAtColumn({ text, start, continues }: TextRow, column: number): number {
  const glyphs = splitGlyphs(text)
  // The position behind the last character of a continued row belongs to the next row.
  const reachable = continues ? glyphs.slice(0, -1) : glyphs
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
      // The space stays on this row, so that no row begins with one.
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
