import { isBlank } from './lines.ts'
import type { Passage } from './pieces.ts'
import { type Style, trailOf } from './style.ts'

/**
 * Takes the space away that the model has put at the ends of lines where the file has none, learned from lines that are
 * otherwise the same. Space of another kind at the end of a new line could be meant.
 */
export function untrailer(
  pairs: readonly (readonly [model: string, file: string])[],
  { old, file }: Pick<Passage, 'old' | 'file'>,
  { trails }: Style,
): (line: string) => string | undefined {
  const put = new Set(pairs.flatMap(([model, real]) => (trailOf(real) === '' ? [trailOf(model)] : [])))
  // Blank lines are all alike; if the file's are empty, so were the model's meant to be.
  if (file.every((line) => !isBlank(line) || line === '')) for (const line of old) if (isBlank(line)) put.add(line)
  put.delete('')
  const blanks = (lines: readonly string[]): string => [...new Set(lines.filter(isBlank))].sort().join('|')
  // Where blank lines have space in them, and not the same in the model's memory, nobody knows how a new one is written.
  const isBlankClear = file.every((line) => !isBlank(line) || line === '') || blanks(file) === blanks(old)
  return (line) => {
    const trail = trailOf(line)
    if (isBlank(line) && !isBlankClear) return undefined
    if (trail === '') return line
    // The file has no such space, and the model's memory of it neither.
    if (put.size === 0) return trails ? line : undefined
    return put.has(trail) ? line.slice(0, line.length - trail.length) : undefined
  }
}
