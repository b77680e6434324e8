/** Which lines are wanted: from where (the first line is 0), and how many. */
export interface Window {
  readonly offset: number
  readonly limit: number
}

/** Some lines of a text. */
export interface Slice {
  readonly text: string
  /** The first and the last line shown; the first line of a file is 1. */
  readonly first: number
  readonly last: number
  readonly total: number
  /** Was a line too long to be shown whole? */
  readonly cut: boolean
}

/** So many lines are shown if nobody says how many. */
export const DEFAULT_LINES = 2000
/** Longer lines are cut. */
export const MAX_LINE = 2000
/** More than this would not be read with care anyway. */
export const MAX_TEXT = 200_000

/** The wanted lines of a text. If they are too much, fewer. */
export function windowOf(text: string, wanted: Window): Slice {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const total = lines.length
  const chosen: string[] = []
  let size = 0
  let cut = false
  for (const line of lines.slice(wanted.offset, wanted.offset + wanted.limit)) {
    const shown = shorten(line)
    size += shown.length + 1
    if (size > MAX_TEXT && chosen.length > 0) break
    cut ||= shown !== line
    chosen.push(shown)
  }
  const last = wanted.offset + chosen.length
  const ending = last < total || text.endsWith('\n') ? '\n' : ''
  const shownText = chosen.length === 0 ? '' : chosen.join('\n') + ending
  return { text: shownText, first: Math.min(wanted.offset + 1, total), last, total, cut }
}

/** A line as far as it is shown. */
export function shorten(line: string): string {
  if (line.length <= MAX_LINE) return line
  return `${line.slice(0, MAX_LINE).replace(/[\uD800-\uDBFF]$/, '')}... [cut]`
}
