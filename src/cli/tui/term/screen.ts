import { type StyledCell, toCells, type StyledLine, lineWidth } from './styled-line.ts'
import type { Theme } from './theme.ts'

/** Where the cursor stands in the live part: its row and its column, both from 0. */
export interface CursorPosition {
  readonly row: number
  readonly column: number
}

/** The part of the terminal that is ours. What is above it belongs to the terminal, and is never written again. */
export interface Screen {
  /** Puts lines above the live part for good: they scroll away as the terminal likes. */
  commit(lines: readonly StyledLine[]): void
  /** Shows the live part, writing only the cells that changed; without a spot the cursor is hidden. */
  show(lines: readonly StyledLine[], cursor?: CursorPosition): void
  /** The terminal has another size now. */
  resize(columns: number, rows: number): void
  /** Draws everything anew on an empty screen. What was there scrolls away, and stays in the scrollback. */
  redraw(): void
  setTheme(theme: Theme): void
  /** Takes the live part away, or leaves it as it is, and gives the terminal back. */
  close(keep?: boolean): void
}

/** What a screen writes to. */
export interface ScreenOutput {
  readonly columns: number
  readonly rows: number
  readonly write: (text: string) => void
}

const BEGIN_SYNC = '\u001B[?2026h'
const END_SYNC = '\u001B[?2026l'
const CLEAR_DOWN = '\u001B[J'
const CLEAR_LINE = '\u001B[K'
const HIDE_CURSOR = '\u001B[?25l'
const SHOW_CURSOR = '\u001B[?25h'

/** A screen on a terminal: scrollback above, a live part below that is repainted cell by cell. */
export function openScreen(terminal: ScreenOutput, initialTheme: Theme): Screen {
  let { columns, rows } = terminal
  let theme = initialTheme
  let shown: StyledCell[][] = []
  /** The row of the live part on which the cursor really stands. */
  let at = 0
  let isHidden = false
  let lastLines: readonly StyledLine[] = []
  let lastCursor: CursorPosition | undefined
  /** Where the cursor was put last; nobody puts it there twice. */
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

  /** Moves to a row of the live part; new rows are made by line ends, which scroll where that is needed. */
  function toRow(row: number, count: number): string {
    const within = Math.min(row, count - 1)
    const move = within < at ? `\u001B[${at - within}A` : within > at ? `\u001B[${within - at}B` : ''
    const fresh = '\r\n'.repeat(row - within)
    at = row
    return `${move}\r${fresh}`
  }

  function paint(next: readonly StyledCell[][]): string {
    let out = ''
    let count = Math.max(shown.length, 1)
    for (const [row, wanted] of next.entries()) {
      const previous = shown[row]
      const change = previous ? diffRows(previous, wanted) : { from: 0, to: wanted.length, clear: false }
      if (!change) continue
      out += toRow(row, count)
      count = Math.max(count, row + 1)
      const column = wanted.slice(0, change.from).reduce((sum, { width }) => sum + width, 0)
      if (column > 0) out += `\u001B[${column}C`
      out += styled(wanted.slice(change.from, change.to))
      if (change.clear) out += '\u001B[K'
    }
    if (next.length < shown.length) out += toRow(Math.max(next.length, 0), count) + CLEAR_DOWN
    shown = [...next]
    if (at >= Math.max(next.length, 1)) out += toRow(Math.max(next.length - 1, 0), at + 1)
    return out
  }

  /**
   * Empties the live part. Its first row is emptied apart: a multiplexer that is told to clear from the very top keeps
   * what was there in its scrollback.
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
    return toRow(cursor.row, Math.max(shown.length, 1)) + column + reveal
  }

  /** What fits: of a live part that is higher than the terminal, its end. */
  function fitting(lines: readonly StyledLine[]): { rows: StyledCell[][]; dropped: number } {
    const dropped = Math.max(lines.length - Math.max(rows - 1, 1), 0)
    return { rows: lines.slice(dropped).map((one) => clipRow(toCells(one), columns)), dropped }
  }

  function show(lines: readonly StyledLine[], cursor?: CursorPosition): string {
    lastLines = lines
    lastCursor = cursor
    const { rows: next, dropped } = fitting(lines)
    const position = cursor && { row: Math.max(cursor.row - dropped, 0), column: Math.min(cursor.column, columns - 1) }
    const painted = paint(next)
    const isStill = isPlaced && position?.row === shownPosition?.row && position?.column === shownPosition?.column
    shownPosition = position
    isPlaced = true
    return painted === '' && isStill ? '' : painted + placeCursor(position)
  }

  function send(text: string): void {
    if (text !== '') terminal.write(`${BEGIN_SYNC}${text}${END_SYNC}`)
  }

  return {
    commit(lines) {
      if (lines.length === 0) return
      const above = lines.map((one) => `${styled(one)}\r\n`).join('')
      const clear = toRow(0, Math.max(shown.length, 1)) + clearLivePart()
      isPlaced = false
      shown = []
      at = 0
      send(clear + above + show(lastLines, lastCursor))
    },
    show(lines, cursor) {
      send(show(lines, cursor))
    },
    resize(nextColumns, nextRows) {
      // A terminal that gets narrower breaks the lines that are too long for it: the live part begins higher up then.
      const above = shown.slice(0, at).reduce((sum, row) => sum + countTerminalRows(row, nextColumns), 0)
      const cursorRows = Math.floor(Math.max((lastCursor?.column ?? 0) - 1, 0) / nextColumns)
      ;[columns, rows] = [nextColumns, nextRows]
      isPlaced = false
      const up = Math.min(above + cursorRows, nextRows - 1)
      const clear = clearLivePart()
      shown = []
      at = 0
      send(`${up > 0 ? `\u001B[${up}A` : ''}${clear}${show(lastLines, lastCursor)}`)
    },
    redraw() {
      const clear = toRow(0, Math.max(shown.length, 1)) + clearLivePart()
      isPlaced = false
      shown = []
      at = 0
      send(`${clear}\u001B[${rows};1H${'\r\n'.repeat(rows)}\u001B[H${CLEAR_DOWN}${show(lastLines, lastCursor)}`)
    },
    setTheme(next) {
      theme = next
    },
    close(keep = false) {
      const end = keep ? `${toRow(Math.max(shown.length - 1, 0), shown.length)}\r\n` : toRow(0, 1) + clearLivePart()
      terminal.write(`${end}\u001B[0m${SHOW_CURSOR}`)
      shown = []
      lastLines = []
      at = 0
      isHidden = false
    },
  }
}

const UNCERTAIN_WIDTH = /\u200D|\uFE0F|\p{Emoji_Modifier}|\p{Regional_Indicator}/u

/** The cells that changed: from where, up to where, and whether the rest of the row must go. */
function diffRows(previous: readonly StyledCell[], wanted: readonly StyledCell[]) {
  const isSame = (one: StyledCell | undefined, other: StyledCell | undefined) =>
    one !== undefined && other !== undefined && one.text === other.text && one.tone === other.tone
  if (previous.length === wanted.length && previous.every((cell, index) => isSame(cell, wanted[index])))
    return undefined
  // Terminals differ in how wide they think joined signs are: such a row is written whole.
  if ([...previous, ...wanted].some(({ text }) => UNCERTAIN_WIDTH.test(text)))
    return { from: 0, to: wanted.length, clear: true }
  let from = 0
  while (from < wanted.length && isSame(previous[from], wanted[from])) from++
  let to = wanted.length
  const sameLength = previous.length === wanted.length
  // Only where all cells keep their columns can the end of a row stay.
  if (sameLength && previous.every(({ width }, index) => width === wanted[index]?.width))
    while (to > from && isSame(previous[to - 1], wanted[to - 1])) to--
  const columnsOf = (row: readonly StyledCell[]) => row.reduce((sum, { width }) => sum + width, 0)
  return { from, to, clear: columnsOf(previous) > columnsOf(wanted) }
}

function countTerminalRows(row: readonly StyledCell[], columns: number): number {
  return Math.max(Math.ceil(row.reduce((sum, { width }) => sum + width, 0) / columns), 1)
}

/** A row that is too long would be broken by the terminal, and all rows below would be off by one. */
function clipRow(row: readonly StyledCell[], columns: number): StyledCell[] {
  let used = 0
  const end = row.findIndex(({ width }) => (used += width) > columns)
  return end < 0 ? [...row] : row.slice(0, end)
}

/** How many rows lines need in a terminal of a width. */
export function countWrappedRows(lines: readonly StyledLine[], columns: number): number {
  return lines.reduce((sum, one) => sum + Math.max(Math.ceil(lineWidth(one) / columns), 1), 0)
}
