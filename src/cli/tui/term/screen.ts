import {
  isSingleWidthLine,
  lineText,
  lineWidth,
  sliceLine,
  type StyledCell,
  type StyledLine,
  type TextTone,
  toCells,
} from './styled-line.ts'
import type { TerminalSession } from './terminal.ts'
import type { Theme } from './theme.ts'

/** A position in the live part, counted from 0. */
export type CursorPosition = Readonly<Record<'row' | 'column', number>>

export type Screen = ReturnType<typeof openScreen>

const BEGIN_SYNC = '\u001B[?2026h'
const END_SYNC = '\u001B[?2026l'
const CLEAR_DOWN = '\u001B[J'
const CLEAR_LINE = '\u001B[K'
const HIDE_CURSOR = '\u001B[?25l'
const SHOW_CURSOR = '\u001B[?25h'

/** The live part of the terminal. What is above it is the scrollback, which is never written again. */
export function openScreen(terminal: Pick<TerminalSession, 'columns' | 'rows' | 'write'>, initialTheme: Theme) {
  let { columns, rows } = terminal
  let theme = initialTheme
  let shown: readonly StyledLine[] = []
  // The row of the live part on which the cursor is.
  let at = 0
  let isHidden = false
  let lastLines: readonly StyledLine[] = []
  let lastCursor: CursorPosition | undefined
  // Where the cursor was put last, so that it is not put there again.
  let shownPosition: CursorPosition | undefined
  let isPlaced = false

  function styled(row: StyledLine): string {
    let out = ''
    let tone = ''
    for (const cell of row) {
      const wanted = theme[cell.tone ?? 'plain']
      if (wanted !== tone) out += wanted === '' ? '\u001B[0m' : `\u001B[0;${wanted}m`
      tone = wanted
      out += cell.text
    }
    return tone === '' ? out : `${out}\u001B[0m`
  }

  /** Moves to a row of the live part; line ends create new rows, and scroll if needed. */
  function moveTo(row: number, count: number): string {
    const within = Math.min(row, count - 1)
    const move = within < at ? `\u001B[${at - within}A` : within > at ? `\u001B[${within - at}B` : ''
    const fresh = '\r\n'.repeat(row - within)
    at = row
    return `${move}\r${fresh}`
  }

  function paint(next: readonly StyledLine[]): string {
    let out = ''
    let count = Math.max(shown.length, 1)
    for (const [row, wanted] of next.entries()) {
      const previous = shown[row]
      if (previous && isSameLine(previous, wanted)) continue
      const change = previous ? diffLines(previous, wanted) : { column: 0, line: clip(wanted), clear: false }
      if (!change) continue
      out += moveTo(row, count)
      count = Math.max(count, row + 1)
      if (change.column > 0) out += `\u001B[${change.column}C`
      out += styled(change.line)
      if (change.clear) out += '\u001B[K'
    }
    if (next.length < shown.length) out += moveTo(Math.max(next.length, 0), count) + CLEAR_DOWN
    shown = next
    if (at >= Math.max(next.length, 1)) out += moveTo(Math.max(next.length - 1, 0), at + 1)
    return out
  }

  /** The part of a line that fits. The terminal would wrap a row that is too long, and all rows below would be off by one. */
  function clip(line: StyledLine): StyledLine {
    if (lineWidth(line) <= columns) return line
    if (isSingleWidthLine(line)) return sliceLine(line, 0, columns)
    const cells = toCells(line)
    let used = 0
    return cells.slice(
      0,
      cells.findIndex(({ width }) => (used += width) > columns),
    )
  }

  /** What must be written, and at which column; undefined if nothing has changed. */
  function diffLines(previous: StyledLine, wanted: StyledLine): LineChange | undefined {
    const [before, after] = [clip(previous), clip(wanted)]
    if (isSingleWidthLine(before) && isSingleWidthLine(after)) return diffSingleWidth(before, after)
    const cells = toCells(after)
    const change = diffRows(toCells(before), cells)
    if (!change) return undefined
    const { from, to, clear } = change
    return { column: countColumns(cells.slice(0, from)), line: cells.slice(from, to), clear }
  }

  /**
   * Clears the live part, its first row apart: a multiplexer that is told to clear from the very top would keep the
   * old content in its scrollback.
   */
  function clearLivePart(): string {
    const below = shown.length > 1 ? `\u001B[B${CLEAR_DOWN}\u001B[A` : ''
    return `\r${CLEAR_LINE}${below}`
  }

  function placeCursor(cursor: CursorPosition | undefined): string {
    if (!cursor) {
      const hide = isHidden ? '' : HIDE_CURSOR
      isHidden = true
      return hide
    }
    const column = cursor.column > 0 ? `\u001B[${cursor.column}C` : ''
    const reveal = isHidden ? SHOW_CURSOR : ''
    isHidden = false
    return moveTo(cursor.row, Math.max(shown.length, 1)) + column + reveal
  }

  function show(lines: readonly StyledLine[], cursor?: CursorPosition): string {
    lastLines = lines
    lastCursor = cursor
    // Of a live part that is higher than the terminal, its end is shown.
    const dropped = Math.max(lines.length - Math.max(rows - 1, 1), 0)
    const position = cursor && { row: Math.max(cursor.row - dropped, 0), column: Math.min(cursor.column, columns - 1) }
    const painted = paint(lines.slice(dropped))
    const isStill = isPlaced && position?.row === shownPosition?.row && position?.column === shownPosition?.column
    shownPosition = position
    isPlaced = true
    return painted === '' && isStill ? '' : painted + placeCursor(position)
  }

  /** The live part was cleared; the cursor is in its first row. */
  function forgetShown(): void {
    isPlaced = false
    shown = []
    at = 0
  }

  function send(text: string): void {
    if (text !== '') terminal.write(`${BEGIN_SYNC}${text}${END_SYNC}`)
  }

  /** Adds lines to the scrollback, above the live part, which is cleared. */
  function printAbove(lines: readonly StyledLine[]): string {
    if (lines.length === 0) return ''
    const clear = moveTo(0, Math.max(shown.length, 1)) + clearLivePart()
    forgetShown()
    return `${clear}${lines.map((one) => `${styled(one)}\r\n`).join('')}`
  }

  return {
    /** Adds lines to the scrollback, above the live part. */
    commit: (lines: readonly StyledLine[]) => lines.length > 0 && send(printAbove(lines) + show(lastLines, lastCursor)),
    /** Adds lines to the scrollback and shows the live part, at once. */
    update: (above: readonly StyledLine[], lines: readonly StyledLine[], cursor?: CursorPosition) =>
      send(printAbove(above) + show(lines, cursor)),
    /** Shows the live part; writes only the cells that changed. Without a position the cursor is hidden. */
    show: (lines: readonly StyledLine[], cursor?: CursorPosition) => send(show(lines, cursor)),
    resize(nextColumns: number, nextRows: number): void {
      // A terminal that gets narrower wraps the long lines: then the live part begins higher up.
      const above = shown.slice(0, at).reduce((sum, row) => sum + countTerminalRows(clip(row), nextColumns), 0)
      const cursorRows = Math.floor(Math.max((lastCursor?.column ?? 0) - 1, 0) / nextColumns)
      ;[columns, rows] = [nextColumns, nextRows]
      const up = Math.min(above + cursorRows, nextRows - 1)
      const clear = clearLivePart()
      forgetShown()
      send(`${up > 0 ? `\u001B[${up}A` : ''}${clear}${show(lastLines, lastCursor)}`)
    },
    /** Draws the live part again on an empty screen; what was there goes to the scrollback. */
    redraw(): void {
      const clear = moveTo(0, Math.max(shown.length, 1)) + clearLivePart()
      forgetShown()
      send(`${clear}\u001B[${rows};1H${'\r\n'.repeat(rows)}\u001B[H${CLEAR_DOWN}${show(lastLines, lastCursor)}`)
    },
    setTheme: (next: Theme) => void (theme = next),
    /** Removes the live part. */
    close(): void {
      terminal.write(`${moveTo(0, 1)}${clearLivePart()}\u001B[0m${SHOW_CURSOR}`)
      shown = []
      lastLines = []
      at = 0
      isHidden = false
    },
  }
}

const UNCERTAIN_WIDTH = /\u200D|\uFE0F|\p{Emoji_Modifier}|\p{Regional_Indicator}/u

/** The range of cells that changed, and whether the rest of the row must be cleared. */
function diffRows(previous: readonly StyledCell[], wanted: readonly StyledCell[]) {
  const isSame = (one: StyledCell | undefined, other: StyledCell | undefined) =>
    one !== undefined && other !== undefined && one.text === other.text && one.tone === other.tone
  if (previous.length === wanted.length && previous.every((cell, index) => isSame(cell, wanted[index])))
    return undefined
  // Terminals disagree about the width of joined characters: such a row is written whole.
  if ([...previous, ...wanted].some(({ text }) => UNCERTAIN_WIDTH.test(text)))
    return { from: 0, to: wanted.length, clear: true }
  let from = 0
  while (from < wanted.length && isSame(previous[from], wanted[from])) from++
  let to = wanted.length
  const sameLength = previous.length === wanted.length
  // The end of a row can stay only if all cells keep their columns.
  if (sameLength && previous.every(({ width }, index) => width === wanted[index]?.width))
    while (to > from && isSame(previous[to - 1], wanted[to - 1])) to--
  return { from, to, clear: countColumns(previous) > countColumns(wanted) }
}

interface LineChange {
  readonly column: number
  readonly line: StyledLine
  /** The rest of the row must be cleared. */
  readonly clear: boolean
}

/** The same for lines whose characters are all one column wide, without cells. */
function diffSingleWidth(previous: StyledLine, wanted: StyledLine): LineChange | undefined {
  const [before, after] = [lineText(previous), lineText(wanted)]
  const [tonesBefore, tonesAfter] = [listTones(previous), listTones(wanted)]
  const isSame = (at: number) => before[at] === after[at] && tonesBefore[at] === tonesAfter[at]
  let from = 0
  while (from < after.length && isSame(from)) from++
  if (from === after.length && before.length === after.length) return undefined
  let to = after.length
  if (before.length === after.length) while (isSame(to - 1)) to--
  return { column: from, line: sliceLine(wanted, from, to), clear: before.length > after.length }
}

/** The tone of each character. */
function listTones(line: StyledLine): TextTone[] {
  const tones: TextTone[] = []
  for (const { text, tone = 'plain' } of line) for (let count = text.length; count > 0; count--) tones.push(tone)
  return tones
}

function isSameLine(one: StyledLine, other: StyledLine): boolean {
  if (one === other) return true
  return (
    one.length === other.length &&
    one.every(({ text, tone }, at) => text === other[at]?.text && tone === other[at].tone)
  )
}

function countColumns(row: readonly StyledCell[]): number {
  return row.reduce((sum, { width }) => sum + width, 0)
}

function countTerminalRows(row: StyledLine, columns: number): number {
  return Math.max(Math.ceil(lineWidth(row) / columns), 1)
}
