import { getIndent, isBlank } from '../match/lines.ts'

/** How a file is written, as far as all of its lines can tell. */
export interface FileStyle {
  /** What one more level of indentation is; nothing if no line tells. */
  readonly indentUnit: string | undefined
  /** Has any line space at its end? */
  readonly hasTrailingSpace: boolean
}

/** Finds out how a file is written. */
export function detectFileStyle(lines: readonly string[]): FileStyle {
  const steps = new Map<string, number>()
  let above = ''
  for (const line of lines) {
    if (isBlank(line)) continue
    const indent = getIndent(line)
    if (indent.length > above.length && indent.startsWith(above) && !isCommentContinuation(line)) {
      const step = indent.slice(above.length)
      steps.set(step, (steps.get(step) ?? 0) + 1)
    }
    above = indent
  }
  const [best] = [...steps].sort((a, b) => b[1] - a[1])
  return { indentUnit: best?.[0], hasTrailingSpace: lines.some((line) => getTrailingSpace(line) !== '') }
}

/** A line inside of a block comment stands one space deeper than its beginning. */
export function isCommentContinuation(line: string): boolean {
  return line.trimStart().startsWith('*')
}

/** The space at the end of a line. All of a blank line is such. */
export function getTrailingSpace(line: string): string {
  return line.slice(line.trimEnd().length)
}
