import { indentOf, isBlank } from './lines.ts'

/** How a file is written, as far as all of its lines can tell. */
export interface Style {
  /** What one more level of indentation is; nothing if no line tells. */
  readonly unit: string | undefined
  /** Has any line space at its end? */
  readonly trails: boolean
}

/** Finds out how a file is written. */
export function styleOf(lines: readonly string[]): Style {
  const steps = new Map<string, number>()
  let above = ''
  for (const line of lines) {
    if (isBlank(line)) continue
    const indent = indentOf(line)
    if (indent.length > above.length && indent.startsWith(above) && !isStarred(line)) {
      const step = indent.slice(above.length)
      steps.set(step, (steps.get(step) ?? 0) + 1)
    }
    above = indent
  }
  const [best] = [...steps].sort((a, b) => b[1] - a[1])
  return { unit: best?.[0], trails: lines.some((line) => trailOf(line) !== '') }
}

/** A line inside of a block comment stands one space deeper than its beginning. */
export function isStarred(line: string): boolean {
  return line.trimStart().startsWith('*')
}

/** The space at the end of a line. All of a blank line is such. */
export function trailOf(line: string): string {
  return line.slice(line.trimEnd().length)
}
