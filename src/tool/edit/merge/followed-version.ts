import { normalizeLine, getIndent, isBlank, ASCII_QUOTES, findQuotes } from '../match/lines.ts'
import {
  isEqualIgnoringStyle,
  pairLines,
  type PassageEdit,
  type PassagePiece,
  areLinesEqual,
} from './passage-pieces.ts'
import { type FileStyle, getTrailingSpace } from './file-style.ts'

/**
 * Whose version of what stays does the new text follow: the file's, or the model's wrong memory of it? It may not tell; and
 * where it seems to follow both, nobody knows what is meant.
 */
export type FollowedVersion = 'file' | 'old' | 'neither' | 'both'

/** Finds out which side a new text follows, from the lines that stay. */
export function findFollowedVersion(pieces: readonly PassagePiece[], passage: PassageEdit): FollowedVersion {
  const votes = new Set(pieces.map((piece, at) => (isGapBesideChange(pieces, at) ? undefined : voteForVersion(piece))))
  if ((votes.has('file') && votes.has('old')) || mixesVersions(passage) || !areBlankGapsClear(passage)) return 'both'
  const side = votes.has('file') ? 'file' : votes.has('old') ? 'old' : 'neither'
  return changesDisputedStyle(passage, side) ? 'both' : side
}

/**
 * The same where no line that stays tells it, from how the new text looks beside the file: lines that are changed stay at the
 * depth where the model has them, and give the edit back its place; unless the new text is at home there as it is. And in a file
 * without space at the ends of lines such space is the memory's.
 */
export function findVersionByEdges(
  passage: PassageEdit,
  merged: readonly string[],
  { hasTrailingSpace }: FileStyle,
  isAtHome: boolean,
): FollowedVersion {
  const { file, old, replacement } = passage
  const edges = (lines: readonly string[]): string => {
    const solid = lines.filter((line) => !isBlank(line))
    return JSON.stringify([getIndent(solid[0] ?? ''), getIndent(solid.at(-1) ?? '')])
  }
  const bare = (lines: readonly string[]): string[] => lines.map((line) => line.trimStart())
  const pairs = pairLines(old, replacement).filter(([o]) => /\w{3}/.test(old[o] ?? ''))
  const isKept = pairs.every(([o, n]) => getIndent(old[o] ?? '') === getIndent(replacement[n] ?? ''))
  const isMoved = isKept && !isAtHome && areLinesEqual(bare(replacement), bare(merged))
  const isAtEdges = edges(merged) === edges(file) && edges(replacement) !== edges(file)
  if (isMoved && isAtEdges && (pairs.length > 0 || edges(replacement) === edges(old))) return 'old'
  const ended = (lines: readonly string[]): string[] => lines.map((line) => line.trimEnd())
  const isTrail = !hasTrailingSpace && areLinesEqual(ended(replacement), ended(merged))
  return isTrail && merged.every((line) => getTrailingSpace(line) === '') ? 'old' : 'neither'
}

/**
 * The same where the memory is written in another kind of signs than the file: with tabs instead of spaces, or with printers'
 * quotes. Which kind the new text is written in can be seen.
 */
export function findVersionByCharacters({ file, old, replacement }: PassageEdit): FollowedVersion {
  const indents = (lines: readonly string[]): Set<string> =>
    new Set(lines.filter((line) => !isBlank(line)).flatMap((line) => getIndent(line).split('')))
  const quotes = (lines: readonly string[]): Set<string> =>
    new Set(lines.flatMap((line) => findQuotes(line).map((quote) => (ASCII_QUOTES.includes(quote) ? "'" : '’'))))
  const sides = [indents, quotes].map((kindsOf): FollowedVersion => {
    const [inFile, inOld, inReplacement] = [kindsOf(file), kindsOf(old), kindsOf(replacement)]
    if (inFile.size !== 1 || inOld.size !== 1 || inReplacement.size !== 1) return 'neither'
    const [[real], [remembered], [wanted]] = [[...inFile], [...inOld], [...inReplacement]]
    return real === remembered ? 'neither' : wanted === real ? 'file' : 'old'
  })
  const [one = 'neither', other = 'neither'] = sides
  if (one === 'neither' || other === 'neither' || one === other) return one === 'neither' ? other : one
  return 'both'
}

/** Has the first new line the depth that this side gives it, if the file and the memory disagree about it? */
export function hasExpectedFirstIndent({ file, old, replacement }: PassageEdit, side: FollowedVersion): boolean {
  const [inFile, inOld, inReplacement] = [file, old, replacement].map((lines) =>
    getIndent(lines.find((line) => !isBlank(line)) ?? ''),
  )
  if (inFile === inOld) return true
  return side === 'file' ? inReplacement !== inOld : inReplacement !== inFile
}

/** Where the model's memory is wrong and it changed nothing: does the new text follow the file, or the memory? */
export function voteForVersion({ old, file, replacement }: PassagePiece): 'file' | 'old' | undefined {
  if (areLinesEqual(old, file)) return undefined
  // A bracket stands at every depth, and tells nothing of it.
  const [was = '', is = ''] = [old[0], file[0]]
  if (old.length === 1 && file.length === 1 && !/\w/.test(was) && was.trimStart() === is.trimStart()) return undefined
  // A blank line may be new, and only look like one that the file has.
  if (areLinesEqual(replacement, file)) return file.every(isBlank) ? undefined : 'file'
  return areLinesEqual(replacement, old) ? 'old' : undefined
}

/** Are these blank lines beside a line that changes? They may change with it, and only look as the memory has them. */
function isGapBesideChange(pieces: readonly PassagePiece[], at: number): boolean {
  const isChanged = (one: PassagePiece | undefined): boolean =>
    one !== undefined && !isEqualIgnoringStyle(one.old, one.replacement)
  const { old, file } = pieces[at] ?? { old: [], file: [] }
  return [...old, ...file].every(isBlank) && (isChanged(pieces[at - 1]) || isChanged(pieces[at + 1]))
}

/** Has the new text lines that only the file has, and others that only the memory has? Also such as stand elsewhere now. */
function mixesVersions({ file, old, replacement }: PassageEdit): boolean {
  const words = (lines: readonly string[]): Set<string> =>
    new Set(lines.map((line) => line.trim()).filter((line) => /\w{3}/.test(line)))
  const [inFile, inOld] = [words(file), words(old)]
  const sides = new Set([...words(replacement)].map((line) => Number(inFile.has(line)) - Number(inOld.has(line))))
  return sides.has(1) && sides.has(-1)
}

/**
 * Is the edit about the very thing that the model is wrong about: the depth of a line, the space at its end, its quotes? A line
 * that stays must not look as the other side has it; and, but for its depth, not in a third way.
 */
function changesDisputedStyle({ file, old, replacement }: PassageEdit, side: FollowedVersion): boolean {
  const inFile = new Map(pairLines(old, file))
  const stay = pairLines(old, replacement).filter(
    ([o, n]) => normalizeLine(old[o] ?? '') === normalizeLine(replacement[n] ?? ''),
  )
  return STYLE_ASPECTS.some((aspect) => {
    const of = (lines: readonly string[], at: number | undefined): string => aspect(lines[at ?? -1] ?? '')
    if (![...inFile].some(([o, f]) => of(old, o) !== of(file, f))) return false
    return stay.some(([o, n]) => {
      if (!inFile.has(o)) return false
      const [was, is, wanted] = [of(old, o), of(file, inFile.get(o)), of(replacement, n)]
      if (wanted === was) return wanted !== is && side === 'file'
      return wanted === is ? side === 'old' : aspect !== getIndent
    })
  })
}

const STYLE_ASPECTS: readonly ((line: string) => string)[] = [getIndent, getTrailingSpace, (line) => line.trim()]

/**
 * Where the model forgot a blank line, or put one too many: is it clear where that place is in the new text? The lines beside
 * it must be there as often as before, and where they were.
 */
function areBlankGapsClear({ file, old, replacement }: PassageEdit): boolean {
  const inFile = new Map(pairLines(old, file))
  const inReplacement = new Map(pairLines(old, replacement))
  const solid = old.flatMap((line, at) => (isBlank(line) ? [] : [at]))
  const times = (line: string, lines: readonly string[]): number => {
    return lines.filter((one) => one.trim() === line.trim()).length
  }
  return solid.every((at, step) => {
    const next = solid[step + 1]
    if (next === undefined) return true
    const [from, to] = [inFile.get(at), inFile.get(next)]
    if (from === undefined || to === undefined || to - from === next - at) return true
    return [at, next].every((one) => {
      const line = old[one] ?? ''
      const count = times(line, replacement)
      return count === 0 || (inReplacement.has(one) && count === times(line, old))
    })
  })
}
