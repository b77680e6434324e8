import { normalizeLine, getIndent, isBlank, ASCII_QUOTES, findQuotes } from '../match/lines.ts'
import type { PassageEdit, PassagePiece } from './passage-pieces.ts'
import { areLinesEqual, isEqualIgnoringStyle, pairSimilarLines } from './passage-pieces.ts'
import { type FileStyle, getTrailingSpace } from './file-style.ts'

/** The version of the unchanged lines that the new text follows; if it shows both, the intention is unknown. */
export type FollowedVersion = 'file' | 'old' | 'neither' | 'both'

/** Decided by the lines that do not change. */
export function findFollowedVersion(pieces: readonly PassagePiece[], passage: PassageEdit): FollowedVersion {
  const votes = new Set(pieces.map((piece, at) => (isGapBesideChange(pieces, at) ? undefined : voteForVersion(piece))))
  if ((votes.has('file') && votes.has('old')) || mixesVersions(passage) || !areBlankGapsClear(passage)) return 'both'
  const side = votes.has('file') ? 'file' : votes.has('old') ? 'old' : 'neither'
  return changesDisputedStyle(passage, side) ? 'both' : side
}

/**
 * The same if no unchanged line shows it, decided by how the new text fits into the file. Changed lines keep the depth that
 * they have in the model's version, unless the new text fits as it is. In a file without trailing space, such space comes
 * from the model's version.
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
  const pairs = pairSimilarLines(old, replacement).filter(([o]) => /\w{3}/.test(old[o] ?? ''))
  const isKept = pairs.every(([o, n]) => getIndent(old[o] ?? '') === getIndent(replacement[n] ?? ''))
  const isMoved = isKept && !isAtHome && areLinesEqual(bare(replacement), bare(merged))
  const isAtEdges = edges(merged) === edges(file) && edges(replacement) !== edges(file)
  if (isMoved && isAtEdges && (pairs.length > 0 || edges(replacement) === edges(old))) return 'old'
  const ended = (lines: readonly string[]): string[] => lines.map((line) => line.trimEnd())
  const isTrail = !hasTrailingSpace && areLinesEqual(ended(replacement), ended(merged))
  return isTrail && merged.every((line) => getTrailingSpace(line) === '') ? 'old' : 'neither'
}

/** The same if the model's version uses other characters than the file: tabs instead of spaces, or typographic quotes. */
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

/** Does the first new line have the depth that this version implies, if the versions differ in it? */
export function hasExpectedFirstIndent({ file, old, replacement }: PassageEdit, side: FollowedVersion): boolean {
  const [inFile, inOld, inReplacement] = [file, old, replacement].map((lines) =>
    getIndent(lines.find((line) => !isBlank(line)) ?? ''),
  )
  if (inFile === inOld) return true
  return side === 'file' ? inReplacement !== inOld : inReplacement !== inFile
}

/** Where the versions differ and the model changed nothing: which one does the new text repeat? */
export function voteForVersion({ old, file, replacement }: PassagePiece): 'file' | 'old' | undefined {
  if (areLinesEqual(old, file)) return undefined
  // A line without words occurs at every depth.
  const [was = '', is = ''] = [old[0], file[0]]
  if (old.length === 1 && file.length === 1 && !/\w/.test(was) && was.trimStart() === is.trimStart()) return undefined
  // A blank line may be new, and equal one of the file by chance.
  if (areLinesEqual(replacement, file)) return file.every(isBlank) ? undefined : 'file'
  return areLinesEqual(replacement, old) ? 'old' : undefined
}

/** Are these blank lines next to a changed line? They may change with it. */
function isGapBesideChange(pieces: readonly PassagePiece[], at: number): boolean {
  const isChanged = (one: PassagePiece | undefined): boolean =>
    one !== undefined && !isEqualIgnoringStyle(one.old, one.replacement)
  const { old, file } = pieces[at] ?? { old: [], file: [] }
  return [...old, ...file].every(isBlank) && (isChanged(pieces[at - 1]) || isChanged(pieces[at + 1]))
}

/** Does the new text contain lines of only the file and lines of only the model's version? Also if they moved. */
function mixesVersions({ file, old, replacement }: PassageEdit): boolean {
  const words = (lines: readonly string[]): Set<string> =>
    new Set(lines.map((line) => line.trim()).filter((line) => /\w{3}/.test(line)))
  const [inFile, inOld] = [words(file), words(old)]
  const sides = new Set([...words(replacement)].map((line) => Number(inFile.has(line)) - Number(inOld.has(line))))
  return sides.has(1) && sides.has(-1)
}

/** Does the edit change what the versions differ in? Unchanged lines must not follow the other version. */
function changesDisputedStyle({ file, old, replacement }: PassageEdit, side: FollowedVersion): boolean {
  const inFile = new Map(pairSimilarLines(old, file))
  const stay = pairSimilarLines(old, replacement).filter(
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

/** Where the model forgot or added a blank line, the lines beside it must occur as often as before, in this order. */
function areBlankGapsClear({ file, old, replacement }: PassageEdit): boolean {
  const inFile = new Map(pairSimilarLines(old, file))
  const inReplacement = new Map(pairSimilarLines(old, replacement))
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
