import { isBlank } from '../match/lines.ts'
import type { PassageEdit } from './passage-pieces.ts'
import { type FileStyle, getTrailingSpace } from './file-style.ts'

/**
 * Takes the space away that the model has put at the ends of lines where the file has none, learned from lines that are
 * otherwise the same. Space of another kind at the end of a new line could be meant.
 */
export function createTrailingSpaceRemover(
  pairs: readonly (readonly [model: string, file: string])[],
  { old, file }: Pick<PassageEdit, 'old' | 'file'>,
  { hasTrailingSpace }: FileStyle,
): (line: string) => string | undefined {
  const modelTrails = new Set(
    pairs.flatMap(([model, fileLine]) => (getTrailingSpace(fileLine) === '' ? [getTrailingSpace(model)] : [])),
  )
  // Blank lines are all alike; if the file's are empty, so were the model's meant to be.
  if (file.every((line) => !isBlank(line) || line === ''))
    for (const line of old) if (isBlank(line)) modelTrails.add(line)
  modelTrails.delete('')
  const blanks = (lines: readonly string[]): string => [...new Set(lines.filter(isBlank))].sort().join('|')
  // Where blank lines have space in them, and not the same in the model's memory, nobody knows how a new one is written.
  const isBlankClear = file.every((line) => !isBlank(line) || line === '') || blanks(file) === blanks(old)
  return (line) => {
    const trail = getTrailingSpace(line)
    if (isBlank(line) && !isBlankClear) return undefined
    if (trail === '') return line
    // The file has no such space, and the model's memory of it neither.
    if (modelTrails.size === 0) return hasTrailingSpace ? line : undefined
    return modelTrails.has(trail) ? line.slice(0, line.length - trail.length) : undefined
  }
}
