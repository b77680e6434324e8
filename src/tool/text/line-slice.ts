/** `offset` counts from 0. */
export interface LineWindow {
  readonly offset: number
  readonly limit: number
}

export interface LineSlice {
  readonly text: string
  /** Line numbers, from 1. */
  readonly first: number
  readonly last: number
  readonly total: number
  readonly hasTruncatedLine: boolean
}

export const DEFAULT_LINE_LIMIT = 2000
export const MAX_LINE_CHARS = 2000
/** More would not be read with care. */
export const MAX_READ_CHARS = 200_000

/** Fewer lines than wanted, if they are too long. */
export function sliceLines(text: string, lineWindow: LineWindow): LineSlice {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const total = lines.length
  const selected: string[] = []
  let size = 0
  let cut = false
  for (const line of lines.slice(lineWindow.offset, lineWindow.offset + lineWindow.limit)) {
    const truncated = truncateLine(line)
    size += truncated.length + 1
    if (size > MAX_READ_CHARS && selected.length > 0) break
    cut ||= truncated !== line
    selected.push(truncated)
  }
  const last = lineWindow.offset + selected.length
  const ending = last < total || text.endsWith('\n') ? '\n' : ''
  const shownText = selected.length === 0 ? '' : selected.join('\n') + ending
  return { text: shownText, first: Math.min(lineWindow.offset + 1, total), last, total, hasTruncatedLine: cut }
}

export function truncateLine(line: string): string {
  if (line.length <= MAX_LINE_CHARS) return line
  return `${line.slice(0, MAX_LINE_CHARS).replace(/[\uD800-\uDBFF]$/, '')}... [cut]`
}
