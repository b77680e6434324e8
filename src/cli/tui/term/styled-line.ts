import { splitGlyphs, displayWidth, isSingleWidthText } from './display-width.ts'

/** What a piece of text means; the theme decides how it looks. */
export type TextTone =
  | ('plain' | 'strong' | 'emphasis' | 'quiet' | 'accent' | 'heading' | 'link')
  | ('user' | 'good' | 'bad' | 'warn' | 'added' | 'removed')
  | ('code' | 'keyword' | 'string' | 'number' | 'comment' | 'name')

/** A piece of text in one tone, without control characters. */
export interface StyledSpan {
  readonly text: string
  readonly tone?: TextTone
}

export type StyledLine = readonly StyledSpan[]

export function styledLine(text: string, tone?: TextTone): StyledLine {
  return text === '' ? [] : [tone === undefined ? { text } : { text, tone }]
}

export function styledLines(text: string): StyledLine[] {
  return text.split('\n').map((line) => styledLine(line))
}

/** Adds text to the last of the lines; a line end in it begins a new line. */
export function appendText(lines: StyledSpan[][], text: string, tone: TextTone | undefined): void {
  for (const [at, part] of text.split('\n').entries()) {
    if (at > 0) lines.push([])
    if (part !== '') lines.at(-1)?.push(tone === undefined ? { text: part } : { text: part, tone })
  }
}

export function lineText(one: StyledLine): string {
  return one.map(({ text }) => text).join('')
}

export function lineWidth(one: StyledLine): number {
  return one.reduce((sum, { text }) => sum + displayWidth(text), 0)
}

/** Wraps a line, at spaces if possible; the lines after the first begin with `indent`. */
export function wrapLine(one: StyledLine, width: number, indent: StyledLine = []): StyledLine[] {
  const room = Math.max(width, 4)
  if (lineWidth(one) <= room) return [one]
  if (isSingleWidthLine(one)) return wrapSingleWidth(one, room, indent)
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
      lines.push(joinStyledCells(trimTrailingBlanks(isInside ? row.slice(0, space) : row)))
      start = room - insetWidth >= 4 ? inset.length : 0
      row = [...(start > 0 ? inset : []), ...rest]
      used = row.reduce((sum, { width: columns }) => sum + columns, 0)
      if (cell.text === ' ') continue
    }
    row.push(cell)
    used += cell.width
  }
  return [...lines, joinStyledCells(row)]
}

/** The same for a text whose characters are all one column wide: it is cut by index, without cells. */
function wrapSingleWidth(one: StyledLine, room: number, indent: StyledLine): StyledLine[] {
  const text = lineText(one)
  const take = createSlicer(one)
  const lines: StyledLine[] = []
  const isIndented = room - lineWidth(indent) >= 4
  let from = 0
  for (let end = room; end < text.length; end = from + room - (isIndented ? lineWidth(indent) : 0)) {
    const isAtSpace = text[end] === ' '
    const space = isAtSpace ? -1 : text.slice(from, end).lastIndexOf(' ')
    const row = text.slice(from, space > 0 ? from + space : end).trimEnd()
    const lead = lines.length > 0 && isIndented ? indent : []
    const isBlank = row === '' && lineText(lead).trim() === ''
    lines.push(isBlank ? [] : joinStyledCells([...lead, ...take(from, from + row.length)]))
    from = space > 0 ? from + space + 1 : isAtSpace ? end + 1 : end
  }
  return [...lines, joinStyledCells([...(isIndented ? indent : []), ...take(from, text.length)])]
}

/** Is each character of the line one column wide? Then its columns are the indices of its text. */
export function isSingleWidthLine(one: StyledLine): boolean {
  return one.every(({ text }) => isSingleWidthText(text))
}

export function sliceLine(one: StyledLine, from: number, to: number): StyledLine {
  return createSlicer(one)(from, to)
}

/** Takes parts of a line by their indices in its text, in ascending order. */
function createSlicer(one: StyledLine): (from: number, to: number) => StyledSpan[] {
  let at = 0
  let start = 0
  return (from, to) => {
    const spans: StyledSpan[] = []
    for (; at < one.length; at++) {
      const { text, tone } = one[at] ?? { text: '' }
      if (start + text.length > from) {
        const part = text.slice(Math.max(from - start, 0), to - start)
        if (part !== '') spans.push(tone === undefined ? { text: part } : { text: part, tone })
      }
      if (start + text.length > to) break
      start += text.length
    }
    return spans
  }
}

/** Cuts a line to a width, and marks the cut. */
export function clipLine(one: StyledLine, width: number): StyledLine {
  if (lineWidth(one) <= width) return one
  if (isSingleWidthLine(one)) return [...joinStyledCells(sliceLine(one, 0, width - 1)), { text: '…', tone: 'quiet' }]
  const visibleCells: StyledCell[] = []
  let used = 0
  for (const cell of toCells(one)) {
    if (used + cell.width > width - 1) break
    visibleCells.push(cell)
    used += cell.width
  }
  return [...joinStyledCells(visibleCells), { text: '…', tone: 'quiet' }]
}

/** A grapheme with its tone and width. */
export interface StyledCell {
  readonly text: string
  readonly tone: TextTone
  readonly width: number
}

export function toCells(one: StyledLine): StyledCell[] {
  return one.flatMap(({ text, tone = 'plain' }) => splitGlyphs(text).map((cell) => ({ ...cell, tone })))
}

export function joinStyledCells(row: StyledLine): StyledLine {
  const out: { text: string; tone: TextTone }[] = []
  for (const { text, tone = 'plain' } of row) {
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
