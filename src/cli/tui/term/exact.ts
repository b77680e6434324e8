import { type Cell, cells, type Line, lineWidth, spans, type Tone } from './line.ts'

/** How a line is broken: what stands before its first row, and before those that go on with it. */
export interface ExactOptions {
  readonly width: number
  readonly first: Line
  readonly next: Line
  readonly tone?: Tone
}

/**
 * A line of text in as many rows as it needs, so that each of its characters can be told from the rows: rows that go on
 * begin in a way of their own, a blank where a row or the line ends is shown as ␣, and a tab as ⇥. Two texts that
 * differ never look the same.
 */
export function exactRows(text: string, { width, first, next, tone }: ExactOptions): Line[] {
  const room = Math.max(width - Math.max(lineWidth(first), lineWidth(next)), 4)
  const rows: Cell[][] = [[]]
  let used = 0
  for (const cell of cellsIn(text, tone)) {
    let row = rows.at(-1) ?? []
    if (used + cell.width > room && row.length > 0) {
      // A break behind a blank reads best, but only where it does not leave half of the row empty.
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
    const shown = row.map((cell, place) => {
      const isSeen = cell.text !== ' ' || !((place === 0 && at > 0) || place >= row.length - blanks)
      return isSeen ? cell : { ...cell, text: '␣' }
    })
    return [...(at === 0 ? first : next), ...spans(shown)]
  })
}

function cellsIn(text: string, tone: Tone | undefined): Cell[] {
  return cells([{ text, ...(tone && { tone }) }]).map((cell) => (cell.text === '\t' ? { ...cell, ...TAB } : cell))
}

const TAB = { text: '⇥   ', width: 4 }
