import { cellsOf, widthOf } from './width.ts'

/** How a piece of text looks, by what it means; the theme says which colours that are. */
export type Tone =
  | 'plain'
  | 'strong'
  | 'emphasis'
  | 'quiet'
  | 'accent'
  | 'user'
  | 'good'
  | 'bad'
  | 'warn'
  | 'added'
  | 'removed'
  | 'code'
  | 'keyword'
  | 'string'
  | 'number'
  | 'comment'
  | 'name'
  | 'heading'
  | 'link'
  | 'reverse'

/** A piece of text in one tone. It holds no control characters: those were made visible before. */
export interface Span {
  readonly text: string
  readonly tone?: Tone
}

/** A line of the screen. */
export type Line = readonly Span[]

/** A line of one piece. */
export function line(text: string, tone?: Tone): Line {
  return text === '' ? [] : [tone === undefined ? { text } : { text, tone }]
}

/** What a line says, without its tones. */
export function plain(one: Line): string {
  return one.map(({ text }) => text).join('')
}

/** How many columns a line takes. */
export function lineWidth(one: Line): number {
  return one.reduce((sum, { text }) => sum + widthOf(text), 0)
}

/** A line broken into as many as it needs, at spaces where there are any; those after the first begin with `indent`. */
export function wrap(one: Line, width: number, indent: Line = []): Line[] {
  const room = Math.max(width, 4)
  if (lineWidth(one) <= room) return [one]
  const lines: Line[] = []
  let row: Cell[] = []
  let used = 0
  const inset = cells(indent)
  const insetWidth = lineWidth(indent)
  let start = 0
  for (const cell of cells(one)) {
    if (used + cell.width > room && row.length > start) {
      const space = row.findLastIndex(({ text }, at) => at >= start && text === ' ')
      const isInside = cell.text !== ' ' && space > start
      const rest = isInside ? row.slice(space + 1) : []
      lines.push(spans(trimEnd(isInside ? row.slice(0, space) : row)))
      start = room - insetWidth >= 4 ? inset.length : 0
      row = [...(start > 0 ? inset : []), ...rest]
      used = row.reduce((sum, { width: columns }) => sum + columns, 0)
      if (cell.text === ' ') continue
    }
    row.push(cell)
    used += cell.width
  }
  return [...lines, spans(row)]
}

/** A line cut to a width, with a mark where something is missing. */
export function cut(one: Line, width: number): Line {
  if (lineWidth(one) <= width) return one
  const kept: Cell[] = []
  let used = 0
  for (const cell of cells(one)) {
    if (used + cell.width > width - 1) break
    kept.push(cell)
    used += cell.width
  }
  return [...spans(kept), { text: '…', tone: 'quiet' }]
}

/** One part at the left, the other at the right end; the left one gives way. */
export function spread(left: Line, right: Line, width: number): Line {
  const room = width - lineWidth(right)
  const fitting = cut(left, Math.max(room - 1, 0))
  return [...fitting, { text: ' '.repeat(Math.max(room - lineWidth(fitting), 1)) }, ...right]
}

/** A character, in the sense of a person, with its tone and its width. */
export interface Cell {
  readonly text: string
  readonly tone: Tone
  readonly width: number
}

/** A line, character by character. */
export function cells(one: Line): Cell[] {
  return one.flatMap(({ text, tone = 'plain' }) => cellsOf(text).map((cell) => ({ ...cell, tone })))
}

/** The shortest line of the same characters. */
export function spans(row: readonly Cell[]): Line {
  const out: { text: string; tone: Tone }[] = []
  for (const { text, tone } of row) {
    const last = out.at(-1)
    if (last?.tone === tone) last.text += text
    else out.push({ text, tone })
  }
  return out
}

function trimEnd(row: readonly Cell[]): Cell[] {
  const end = row.findLastIndex(({ text }) => text !== ' ')
  return row.slice(0, end + 1)
}
