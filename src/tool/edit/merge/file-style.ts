import { getIndent, isBlank } from '../match/lines.ts'

export type FileStyle = ReturnType<typeof detectFileStyle>

/** `indentUnit` is one level of indentation; undefined if no line shows it. */
export function detectFileStyle(lines: readonly string[]) {
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

/** A line inside a block comment is indented by one more space than its first line. */
export function isCommentContinuation(line: string): boolean {
  return line.trimStart().startsWith('*')
}

/** The trailing white space of a line; all of a blank line. */
export function getTrailingSpace(line: string): string {
  return line.slice(line.trimEnd().length)
}
