import { splitGlyphs, displayWidth } from './display-width.ts'

/** How a piece of text looks, by what it means; the theme says which colours that are. */
export type TextTone =
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
export interface StyledSpan {
  readonly text: string
  readonly tone?: TextTone
}

/** A line of the screen. */
export type StyledLine = readonly StyledSpan[]

/** A line of one piece. */
export function styledLine(text: string, tone?: TextTone): StyledLine {
  return text === '' ? [] : [tone === undefined ? { text } : { text, tone }]
}

/** A text of several lines. */
export function styledLines(text: string): StyledLine[] {
  return text.split('\n').map((line) => styledLine(line))
}

/** The text of a line without its tones. */
export function plainText(one: StyledLine): string {
  return one.map(({ text }) => text).join('')
}

/** How many columns a line takes. */
export function lineWidth(one: StyledLine): number {
  return one.reduce((sum, { text }) => sum + displayWidth(text), 0)
}

/** A line broken into as many as it needs, at spaces where there are any; those after the first begin with `indent`. */
export function wrapLine(one: StyledLine, width: number, indent: StyledLine = []): StyledLine[] {
  const room = Math.max(width, 4)
  if (lineWidth(one) <= room) return [one]
  const lines: StyledLine[] = []
  let row: StyledCell[] = []
  let used = 0
  const inset = toCells(indent)
  const insetWidth = lineWidth(indent)
  let start = 0
  for (const cell of toCells(one)) {
    if (used + cell.width > room && row.length > start) {
      const space = row.findLastIndex(({ text }, at) => at >= start && text === ' ')
      const isInside = cell.text !== ' ' && space > start
      const rest = isInside ? row.slice(space + 1) : []
      lines.push(toSpans(trimTrailingBlanks(isInside ? row.slice(0, space) : row)))
      start = room - insetWidth >= 4 ? inset.length : 0
      row = [...(start > 0 ? inset : []), ...rest]
      used = row.reduce((sum, { width: columns }) => sum + columns, 0)
      if (cell.text === ' ') continue
    }
    row.push(cell)
    used += cell.width
  }
  return [...lines, toSpans(row)]
}

/** A line cut to a width, with a mark where something is missing. */
export function truncateStyledLine(one: StyledLine, width: number): StyledLine {
  if (lineWidth(one) <= width) return one
  const visibleCells: StyledCell[] = []
  let used = 0
  for (const cell of toCells(one)) {
    if (used + cell.width > width - 1) break
    visibleCells.push(cell)
    used += cell.width
  }
  return [...toSpans(visibleCells), { text: '…', tone: 'quiet' }]
}

/** A character, in the sense of a person, with its tone and its width. */
export interface StyledCell {
  readonly text: string
  readonly tone: TextTone
  readonly width: number
}

/** A line, character by character. */
export function toCells(one: StyledLine): StyledCell[] {
  return one.flatMap(({ text, tone = 'plain' }) => splitGlyphs(text).map((cell) => ({ ...cell, tone })))
}

/** The shortest line of the same characters. */
export function toSpans(row: readonly StyledCell[]): StyledLine {
  const out: { text: string; tone: TextTone }[] = []
  for (const { text, tone } of row) {
    const last = out.at(-1)
    if (last?.tone === tone) last.text += text
    else out.push({ text, tone })
  }
  return out
}

function trimTrailingBlanks(row: readonly StyledCell[]): StyledCell[] {
  const end = row.findLastIndex(({ text }) => text !== ' ')
  return row.slice(0, end + 1)
}
