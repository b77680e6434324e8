import { isBlank } from '../match/lines.ts'
import type { PassageEdit } from './passage-pieces.ts'
import { type FileStyle, getTrailingSpace } from './file-style.ts'

/** Removes trailing space that the model added, as equal lines show. Other trailing space of a new line may be intended. */
export function createTrailingSpaceRemover(
  pairs: readonly (readonly [model: string, file: string])[],
  { old, file }: Pick<PassageEdit, 'old' | 'file'>,
  { hasTrailingSpace }: FileStyle,
): (line: string) => string | undefined {
  const modelTrails = new Set(
    pairs.flatMap(([model, fileLine]) => (getTrailingSpace(fileLine) === '' ? [getTrailingSpace(model)] : [])),
  )
  // If the blank lines of the file are empty, the model's should be too.
  if (file.every((line) => !isBlank(line) || line === ''))
    for (const line of old) if (isBlank(line)) modelTrails.add(line)
  modelTrails.delete('')
  const blanks = (lines: readonly string[]): string => [...new Set(lines.filter(isBlank))].sort().join('|')
  // If blank lines contain space, and not the same in both versions, it is unknown how to write a new one.
  const isBlankClear = file.every((line) => !isBlank(line) || line === '') || blanks(file) === blanks(old)
  return (line) => {
    const trail = getTrailingSpace(line)
    if (isBlank(line) && !isBlankClear) return undefined
    if (trail === '') return line
    // Neither version has such space.
    if (modelTrails.size === 0) return hasTrailingSpace ? line : undefined
    return modelTrails.has(trail) ? line.slice(0, line.length - trail.length) : undefined
  }
}
