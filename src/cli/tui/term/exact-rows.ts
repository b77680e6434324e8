import { type StyledCell, toCells, type StyledLine, lineWidth, joinStyledCells, type TextTone } from './styled-line.ts'

interface ExactRowOptions {
  readonly width: number
  /** The prefixes of the first row, and of those that continue it. */
  readonly first: StyledLine
  readonly next: StyledLine
  readonly tone?: TextTone
}

/**
 * Breaks a line into rows that show each of its characters: continued rows have another prefix, a blank at the end of a
 * row is shown as ␣, and a tab as ⇥. Two different texts never look the same.
 */
export function layoutExactRows(text: string, { width, first, next, tone }: ExactRowOptions): StyledLine[] {
  const room = Math.max(width - Math.max(lineWidth(first), lineWidth(next)), 4)
  const rows: StyledCell[][] = [[]]
  let used = 0
  for (const cell of toVisibleCells(text, tone)) {
    let row = rows.at(-1) ?? []
    if (used + cell.width > room && row.length > 0) {
      // Breaks after a blank, unless half of the row would stay empty.
      const space = row.findLastIndex((one) => one.text === ' ')
      const rest = cell.text !== ' ' && space >= row.length / 2 ? row.splice(space + 1) : []
      row = rest
      rows.push(row)
      used = rest.reduce((sum, one) => sum + one.width, 0)
    }
    row.push(cell)
    used += cell.width
  }
  return rows.map((row, at) => {
    const isLast = at === rows.length - 1
    const blanks = isLast ? row.length - 1 - row.findLastIndex((one) => one.text !== ' ') : 1
    const shown = row.map((cell, cellIndex) => {
      const isUnambiguous = cell.text !== ' ' || !((cellIndex === 0 && at > 0) || cellIndex >= row.length - blanks)
      return isUnambiguous ? cell : { ...cell, text: '␣' }
    })
    return [...(at === 0 ? first : next), ...joinStyledCells(shown)]
  })
}

function toVisibleCells(text: string, tone: TextTone | undefined): StyledCell[] {
  return toCells([{ text, ...(tone && { tone }) }]).map((cell) =>
    cell.text === '\t' ? { ...cell, ...TAB_CELL } : cell,
  )
}

const TAB_CELL = { text: '⇥   ', width: 4 }
