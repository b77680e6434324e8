import { type Cell, cells, type Line, lineWidth } from './line.ts'
import type { Theme } from './theme.ts'

/** Where the cursor stands in the live part: its row and its column, both from 0. */
export interface Spot {
  readonly row: number
  readonly column: number
}

/** The part of the terminal that is ours. What is above it belongs to the terminal, and is never written again. */
export interface Screen {
  /** Puts lines above the live part for good: they scroll away as the terminal likes. */
  commit(lines: readonly Line[]): void
  /** Shows the live part, writing only the cells that changed; without a spot the cursor is hidden. */
  show(lines: readonly Line[], cursor?: Spot): void
  /** The terminal has another size now. */
  resize(columns: number, rows: number): void
  /** Draws everything anew on an empty screen. What was there scrolls away, and stays in the scrollback. */
  redraw(): void
  setTheme(theme: Theme): void
  /** Takes the live part away, or leaves it as it is, and gives the terminal back. */
  close(keep?: boolean): void
}

/** What a screen writes to. */
export interface Terminal {
  readonly columns: number
  readonly rows: number
  readonly write: (text: string) => void
}

const BEGIN = '\u001B[?2026h'
const END = '\u001B[?2026l'
const CLEAR_DOWN = '\u001B[J'
const CLEAR_LINE = '\u001B[K'
const HIDE = '\u001B[?25l'
const SHOW = '\u001B[?25h'

/** A screen on a terminal: scrollback above, a live part below that is repainted cell by cell. */
export function openScreen(terminal: Terminal, look: Theme): Screen {
  let { columns, rows } = terminal
  let theme = look
  let shown: Cell[][] = []
  /** The row of the live part on which the cursor really stands. */
  let at = 0
  let isHidden = false
  let lastLines: readonly Line[] = []
  let lastCursor: Spot | undefined
  /** Where the cursor was put last; nobody puts it there twice. */
  let shownSpot: Spot | undefined
  let isPlaced = false

  function styled(row: Line): string {
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

  function paint(next: readonly Cell[][]): string {
    let out = ''
    let count = Math.max(shown.length, 1)
    for (const [row, wanted] of next.entries()) {
      const former = shown[row]
      const change = former ? changes(former, wanted) : { from: 0, to: wanted.length, clear: false }
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
  function cleared(): string {
    const below = shown.length > 1 ? `\u001B[B${CLEAR_DOWN}\u001B[A` : ''
    return `\r${CLEAR_LINE}${below}`
  }

  function place(cursor: Spot | undefined): string {
    if (!cursor) {
      const hide = isHidden ? '' : HIDE
      isHidden = true
      return hide
    }
    const column = cursor.column > 0 ? `\u001B[${cursor.column}C` : ''
    const reveal = isHidden ? SHOW : ''
    isHidden = false
    return toRow(cursor.row, Math.max(shown.length, 1)) + column + reveal
  }

  /** What fits: of a live part that is higher than the terminal, its end. */
  function fitting(lines: readonly Line[]): { rows: Cell[][]; dropped: number } {
    const dropped = Math.max(lines.length - Math.max(rows - 1, 1), 0)
    return { rows: lines.slice(dropped).map((one) => clip(cells(one), columns)), dropped }
  }

  function show(lines: readonly Line[], cursor?: Spot): string {
    lastLines = lines
    lastCursor = cursor
    const { rows: next, dropped } = fitting(lines)
    const spot = cursor && { row: Math.max(cursor.row - dropped, 0), column: Math.min(cursor.column, columns - 1) }
    const painted = paint(next)
    const isStill = isPlaced && spot?.row === shownSpot?.row && spot?.column === shownSpot?.column
    shownSpot = spot
    isPlaced = true
    return painted === '' && isStill ? '' : painted + place(spot)
  }

  function send(text: string): void {
    if (text !== '') terminal.write(`${BEGIN}${text}${END}`)
  }

  return {
    commit(lines) {
      if (lines.length === 0) return
      const above = lines.map((one) => `${styled(one)}\r\n`).join('')
      const clear = toRow(0, Math.max(shown.length, 1)) + cleared()
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
      const above = shown.slice(0, at).reduce((sum, row) => sum + rowsOf(row, nextColumns), 0)
      const own = Math.floor(Math.max((lastCursor?.column ?? 0) - 1, 0) / nextColumns)
      ;[columns, rows] = [nextColumns, nextRows]
      isPlaced = false
      const up = Math.min(above + own, nextRows - 1)
      const clear = cleared()
      shown = []
      at = 0
      send(`${up > 0 ? `\u001B[${up}A` : ''}${clear}${show(lastLines, lastCursor)}`)
    },
    redraw() {
      const clear = toRow(0, Math.max(shown.length, 1)) + cleared()
      isPlaced = false
      shown = []
      at = 0
      send(`${clear}\u001B[${rows};1H${'\r\n'.repeat(rows)}\u001B[H${CLEAR_DOWN}${show(lastLines, lastCursor)}`)
    },
    setTheme(next) {
      theme = next
    },
    close(keep = false) {
      const end = keep ? `${toRow(Math.max(shown.length - 1, 0), shown.length)}\r\n` : toRow(0, 1) + cleared()
      terminal.write(`${end}\u001B[0m${SHOW}`)
      shown = []
      lastLines = []
      at = 0
      isHidden = false
    },
  }
}

const UNSURE = /\u200D|\uFE0F|\p{Emoji_Modifier}|\p{Regional_Indicator}/u

/** The cells that changed: from where, up to where, and whether the rest of the row must go. */
function changes(former: readonly Cell[], wanted: readonly Cell[]) {
  const isSame = (one: Cell | undefined, other: Cell | undefined) =>
    one !== undefined && other !== undefined && one.text === other.text && one.tone === other.tone
  if (former.length === wanted.length && former.every((cell, index) => isSame(cell, wanted[index]))) return undefined
  // Terminals differ in how wide they think joined signs are: such a row is written whole.
  if ([...former, ...wanted].some(({ text }) => UNSURE.test(text))) return { from: 0, to: wanted.length, clear: true }
  let from = 0
  while (from < wanted.length && isSame(former[from], wanted[from])) from++
  let to = wanted.length
  const sameLength = former.length === wanted.length
  // Only where all cells keep their columns can the end of a row stay.
  if (sameLength && former.every(({ width }, index) => width === wanted[index]?.width))
    while (to > from && isSame(former[to - 1], wanted[to - 1])) to--
  const columnsOf = (row: readonly Cell[]) => row.reduce((sum, { width }) => sum + width, 0)
  return { from, to, clear: columnsOf(former) > columnsOf(wanted) }
}

function rowsOf(row: readonly Cell[], columns: number): number {
  return Math.max(Math.ceil(row.reduce((sum, { width }) => sum + width, 0) / columns), 1)
}

/** A row that is too long would be broken by the terminal, and all rows below would be off by one. */
function clip(row: readonly Cell[], columns: number): Cell[] {
  let used = 0
  const end = row.findIndex(({ width }) => (used += width) > columns)
  return end < 0 ? [...row] : row.slice(0, end)
}

/** How many rows lines need in a terminal of a width. */
export function height(lines: readonly Line[], columns: number): number {
  return lines.reduce((sum, one) => sum + Math.max(Math.ceil(lineWidth(one) / columns), 1), 0)
}
