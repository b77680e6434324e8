import { normalizeLine, getIndent, isBlank, findQuotes } from '../match/lines.ts'
import type { PassageEdit, PassagePiece, SurroundingLines } from './passage-pieces.ts'
import {
  areLinesEqual,
  isEqualIgnoringStyle,
  pairSimilarLines,
  splitBlankEdges,
  splitPassage,
} from './passage-pieces.ts'
import type { IndentPair, ReindentLines } from './reindent.ts'
import { BLOCK_OPENING_PATTERN, createReindenter, hasSteppedIndent } from './reindent.ts'
import { type RequoteLine, createRequoter } from './requote.ts'
import {
  hasExpectedFirstIndent,
  findFollowedVersion,
  findVersionByEdges,
  findVersionByCharacters,
  voteForVersion,
} from './followed-version.ts'
import { type FileStyle, getTrailingSpace } from './file-style.ts'
import { createTrailingSpaceRemover } from './trailing-space.ts'

/**
 * The new content of a passage. The model may misremember the passage, and may write the new text in the file's style or in
 * its own; the unchanged lines show which. What the model did not mean to change stays as in the file. Undefined where both
 * differences meet, or where the signs contradict each other.
 */
export function mergePassage(
  originalPassage: PassageEdit,
  surroundings: SurroundingLines,
  style: FileStyle,
): readonly string[] | undefined {
  // One line does not show how the model writes several, so they must look right.
  const looksRight = (lines: readonly string[]): boolean =>
    !addsTrailingSpace(lines, originalPassage.file) &&
    (countNonBlank(originalPassage.old) > 1 || fitsIndentation(lines, originalPassage.file, surroundings, style))
  if (areLinesEqual(originalPassage.file, originalPassage.old))
    return looksRight(originalPassage.replacement) ? originalPassage.replacement : undefined
  const passage = restoreFirstIndent(originalPassage, style)
  if (!passage || !hasConsistentIndent(passage) || !hasSamePunctuation(passage)) return undefined
  const pieces = splitPassage(passage)
  const merged = mergePieces(pieces, passage, style)
  const votedVersion = findFollowedVersion(pieces, passage)
  const knownVersion = votedVersion === 'neither' ? findVersionByCharacters(passage) : votedVersion
  const { file, replacement } = passage
  const doesReplacementFit = (): boolean => fitsIndentation(replacement, file, surroundings, style)
  const version =
    knownVersion === 'neither' && merged
      ? findVersionByEdges(passage, merged, style, doesReplacementFit())
      : knownVersion
  if (version === 'both') return undefined
  if (merged && areLinesEqual(merged, replacement)) return looksRight(merged) ? merged : undefined
  if (version === 'neither' || !hasExpectedFirstIndent(passage, version)) return undefined
  const result = version === 'file' ? replacement : merged
  if (!result || (version === 'file' && pieces.some((piece) => dropsUnknownLines(piece) || dropsBlankLines(piece))))
    return undefined
  // A line may equal either version by chance, so the result must look right too.
  const witnesses = pieces.filter((piece) => voteForVersion(piece) === version && isIndentDisputed(piece)).length
  // One unchanged line of many may have the depth of either version by chance, if the new text fits as it is.
  const isWeak = witnesses === 1 && countNonBlank(replacement) > MAX_LINES_PER_WITNESS
  if (isWeak && (version === 'file' || doesReplacementFit())) return undefined
  const isIndentCertain = !isIndentDisputed(passage) && countNonBlank(passage.old) > 1
  const isInPlace = isIndentCertain || witnesses > 1 || fitsIndentation(result, file, surroundings, style)
  const isRight =
    isInPlace &&
    !addsTrailingSpace(result, file) &&
    !hasMisrememberedQuotes(result, passage) &&
    !duplicatesLines(result, passage)
  return isRight ? result : undefined
}

/** Would a line occur more often than in the file and in the new text? Then the model forgot it in one place. */
function duplicatesLines(result: readonly string[], { file, replacement }: PassageEdit): boolean {
  const [now, before, wanted] = [result, file, replacement].map((lines) => lines.map(normalizeLine))
  const times = (key: string, keys: readonly string[] = []): number => keys.filter((one) => one === key).length
  return (
    now?.some((key) => /\w{3}/.test(key) && times(key, now) > Math.max(times(key, before), times(key, wanted))) ?? false
  )
}

/** Trailing space that the file does not have is rarely intended. */
function addsTrailingSpace(lines: readonly string[], file: readonly string[]): boolean {
  return lines.some((line) => getTrailingSpace(line) !== '' && !file.includes(line))
}

/** One unchanged line proves the version for at most this many new lines. */
const MAX_LINES_PER_WITNESS = 6

/** Quotes of a kind that only the model's version has are a mistake, whatever else the new text follows. */
function hasMisrememberedQuotes(lines: readonly string[], { file, old }: PassageEdit): boolean {
  const quotesIn = (all: readonly string[]): Set<string> => new Set(all.flatMap((line) => findQuotes(line)))
  const [inFile, inOld] = [quotesIn(file), quotesIn(old)]
  return [...quotesIn(lines)].some((quote) => inOld.has(quote) && !inFile.has(quote))
}

/** A line that the model does not know must not be removed. */
function dropsUnknownLines({ old, file, replacement }: PassagePiece): boolean {
  const known = new Set([...old, ...replacement].map(normalizeLine))
  return file.some((line) => !isBlank(line) && !known.has(normalizeLine(line)))
}

/** The same for blank lines. */
function dropsBlankLines({ old, file, replacement }: PassagePiece): boolean {
  const count = (lines: readonly string[]): number => lines.filter(isBlank).length
  return count(file) > count(old) && count(replacement) < count(file)
}

function isIndentDisputed({ old, file }: PassageEdit): boolean {
  return pairIndents(old, file).some(([model, fileIndent]) => model !== fileIndent)
}

/** Do new lines fit the lines around them: not deeper without a reason, and deeper than a closing bracket after them? */
function fitsIndentation(
  lines: readonly string[],
  file: readonly string[],
  surroundings: SurroundingLines,
  style: FileStyle,
): boolean {
  const whole = [surroundings.above, ...file, surroundings.below].filter((line) => line !== undefined && !isBlank(line))
  const all = [surroundings.above, ...lines, surroundings.below].filter((line) => line !== undefined && !isBlank(line))
  return all.every((line = '', at) => {
    const last = all[at - 1]
    if (last === undefined || followsInFile(whole, last, line)) return true
    const isEmpty = BLOCK_OPENING_PATTERN.test(last) && getIndent(last) === getIndent(line)
    if (CLOSING_PATTERN.test(line) && getIndent(last).length <= getIndent(line).length && !isEmpty) return false
    return hasSteppedIndent([line], last, style.indentUnit)
  })
}

/** Does this line follow that one in the file, or, unless it is a closing bracket, one of the same depth? */
function followsInFile(whole: readonly (string | undefined)[], last: string, line: string): boolean {
  const isLike = (one: string): boolean =>
    one === line || (!CLOSING_PATTERN.test(line) && getIndent(one) === getIndent(line))
  return whole.some((one, at) => one !== undefined && whole[at - 1] === last && isLike(one))
}

/** Texts often begin after the indentation of their first line; if all other lines are right, it is restored. */
function restoreFirstIndent(passage: PassageEdit, { indentUnit }: FileStyle): PassageEdit | undefined {
  const { file, old, replacement } = passage
  const is = getIndent(file[0] ?? '')
  const isBare = getIndent(old[0] ?? '') === '' && normalizeLine(old[0] ?? '') === normalizeLine(file[0] ?? '')
  if (is === '' || !isBare) return passage
  const all = pairIndents(old.slice(1), file.slice(1))
  if (!all.every(([model, fileIndent]) => model === fileIndent)) return passage
  // Lines without indentation show no depth.
  const rest = all.filter(([model]) => model !== '')
  const moved = ([first = '', ...others]: readonly string[]): string[] => [is + first, ...others]
  // One line does not show the depth of the others.
  if (rest.length === 0 && replacement.slice(1).some((line) => !isBlank(line))) return undefined
  if (getIndent(replacement[0] ?? '') !== '')
    return getIndent(replacement[0] ?? '') === is ? { file, old: moved(old), replacement } : passage
  // A text with one unindented line may be wrong in other ways; its steps show it.
  return hasSteppedIndent(replacement.slice(1), undefined, indentUnit)
    ? { file, old: moved(old), replacement: moved(replacement) }
    : undefined
}

const CLOSING_PATTERN = /^\s*[})\]]/

function pairIndents(old: readonly string[], file: readonly string[]): IndentPair[] {
  return pairSimilarLines(old, file).map(([o, f]) => [getIndent(old[o] ?? ''), getIndent(file[f] ?? '')])
}

/** If some lines have the right indentation, all must have it. */
function hasConsistentIndent({ old, file }: PassageEdit): boolean {
  const pairs = pairIndents(old, file).filter(([model, fileIndent]) => model !== '' || fileIndent !== '')
  const right = pairs.filter(([model, fileIndent]) => model === fileIndent).length
  return right === 0 || right === pairs.length
}

/** Lines without words are alike: if the model forgot or added one, it is unknown which one. */
function hasSamePunctuation({ old, file }: PassageEdit): boolean {
  const marks = (lines: readonly string[]): string[] =>
    lines.map(normalizeLine).filter((key) => key !== '' && !/[\p{L}\p{N}]/u.test(key))
  return areLinesEqual(marks(old), marks(file))
}

function mergePieces(pieces: readonly PassagePiece[], passage: PassageEdit, style: FileStyle): string[] | undefined {
  const adaptLines = createLineAdapter(passage, style)
  const isIndentInDoubt = isIndentDisputed(passage)
  const result: string[] = []
  for (const [at, piece] of pieces.entries()) {
    // A line that the model does not know stays, if the lines around it do.
    const stays = (one: PassagePiece | undefined): boolean =>
      one === undefined || isEqualIgnoringStyle(one.old, one.replacement)
    const isNews = countNonBlank(piece.file) > countNonBlank(piece.old)
    if (isNews && !(stays(pieces[at - 1]) && stays(pieces[at + 1]))) return undefined
    const merged = mergePiece(piece, isIndentInDoubt, adaptLines)
    if (!merged) return undefined
    result.push(...merged)
  }
  return result
}

function countNonBlank(lines: readonly string[]): number {
  return lines.filter((line) => !isBlank(line)).length
}

/** Where the model changed something, its version must equal the file's except for style, and blank lines must be clear. */
function mergePiece(
  piece: PassagePiece,
  isIndentInDoubt: boolean,
  adaptLines: ReindentLines,
): readonly string[] | undefined {
  if (areLinesEqual(piece.replacement, piece.old)) return piece.file
  // A moved line may equal the file's by chance.
  if (areLinesEqual(piece.replacement, piece.file) && (!isIndentInDoubt || piece.file.every(isBlank))) {
    // One of several blank lines may be meant to go while another is surplus.
    const isPlain = !piece.file.every(isBlank) || Math.min(piece.old.length, piece.file.length) === 0
    return isPlain || piece.old.length === piece.file.length ? piece.file : undefined
  }
  const [old, file, replacement] = [
    splitBlankEdges(piece.old),
    splitBlankEdges(piece.file),
    splitBlankEdges(piece.replacement),
  ]
  if (!isEqualIgnoringStyle(old.inner, file.inner)) return undefined
  // Blank lines between replaced lines go with them, if their number is clear.
  if (old.inner.length !== file.inner.length && replacement.inner.length > 1) return undefined
  const isExchanged = old.inner.length > 0 && replacement.inner.length > 0
  const resolveEdge = (edge: 'above' | 'below'): readonly string[] | undefined => {
    const [was, is, wanted] = [old[edge], file[edge], replacement[edge]]
    if (was.length === is.length) return areLinesEqual(wanted, was) ? is : adaptLines(wanted)
    // Where the versions differ in blank lines, the model must not change them, and their side must be clear.
    return areLinesEqual(wanted, was) && isExchanged && !replacement.inner.some(isBlank) ? is : undefined
  }
  const [above, inner, below] = [resolveEdge('above'), adaptLines(replacement.inner), resolveEdge('below')]
  return above && inner && below && [...above, ...inner, ...below]
}

function createLineAdapter({ old, file }: PassageEdit, style: FileStyle): ReindentLines {
  const all = pairSimilarLines(old, file).map(([o, f]): [string, string] => [old[o] ?? '', file[f] ?? ''])
  const pairs = all.filter(([model, fileIndent]) => normalizeLine(model) === normalizeLine(fileIndent))
  const reindent = createReindenter(pairIndents(old, file), style)
  const steps: RequoteLine[] = [
    createAmbiguityFilter(pairs),
    createRequoter(pairs, { old, file }),
    createTrailingSpaceRemover(all, { old, file }, style),
  ]
  return (lines) => {
    if (hasLostIndent(lines, old)) return undefined
    const moved = reindent(lines)?.map((line) =>
      steps.reduce<string | undefined>((one, step) => (one === undefined ? undefined : step(one)), line),
    )
    return moved?.every((line) => line !== undefined) ? moved : undefined
  }
}

/** A new line with the words of a misremembered one may be that line or another. */
function createAmbiguityFilter(pairs: readonly (readonly [model: string, file: string])[]): RequoteLine {
  const wrong = new Set(pairs.filter(([model, file]) => model.trim() !== file.trim()).map(([model]) => model.trim()))
  return (line) => (wrong.has(line.trim()) ? undefined : line)
}

/** If the model lost all indentation, the depth of a new block is unknown. */
function hasLostIndent(replacement: readonly string[], old: readonly string[]): boolean {
  const lines = replacement.filter((line) => !isBlank(line))
  if ([...old, ...lines].some((line) => getIndent(line) !== '')) return false
  return lines.some((line, at) => /[{([<:]\s*$/.test(line) && !/^\s*[})\]>]/.test(lines[at + 1] ?? '}'))
}
