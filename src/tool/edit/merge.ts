import { essence, indentOf, isBlank, QUOTES } from './lines.ts'
import { cut, frame, isAlike, pairUp, type Passage, type Piece, same, type Surroundings } from './pieces.ts'
import { CONTINUES, type IndentPair, isStepping, OPENS, type Reindent, reindenter } from './reindent.ts'
import { type Requote, requoter } from './requote.ts'
import { type Style, trailOf } from './style.ts'
import { untrailer } from './trail.ts'

/** Whose version of what stays does the new text follow: the file's, or the model's wrong memory of it? */
type Side = 'file' | 'old'

/**
 * What the passage becomes. The model remembers the passage wrongly in places, and it may write the new text as the file
 * has it, or in its own wrong way; both are told from the lines that stay. What the model did not mean to change stays as
 * the file has it. Wherever the two differences meet, or the signs contradict each other, there is no answer.
 */
export function mergePassage(given: Passage, around: Surroundings, style: Style): readonly string[] | undefined {
  if (same(given.file, given.old)) return given.fresh
  const passage = withFirstIndent(given, around, style)
  if (!passage || !isSteady(passage)) return undefined
  const pieces = cut(passage)
  const votes = new Set(pieces.map(vote))
  if ((votes.has('file') && votes.has('old')) || isTorn(passage)) return undefined
  const { fresh } = passage
  const merged = mergeAll(pieces, passage, style)
  if (merged && same(merged, fresh)) return merged
  const voted = votes.has('file') ? 'file' : votes.has('old') ? 'old' : undefined
  const edge = sideOfEdge(passage)
  if (voted !== undefined && edge !== undefined && edge !== voted) return undefined
  const side = voted ?? lean(pieces, passage, style)
  const result = side === 'file' ? fresh : side === 'old' ? merged : undefined
  if (!result || (side === 'file' && pieces.some(forgets))) return undefined
  // A line that moves could look like the file's or the memory's by chance; then it must at least look right.
  const isSure = voted !== undefined && !votes.has('moved')
  return isSure || isAtHome(result, around, style) ? result : undefined
}

/** Has the new text lines that only the file has, and others that only the memory has? Also such as stand elsewhere now. */
function isTorn({ file, old, fresh }: Passage): boolean {
  const words = (lines: readonly string[]): Set<string> =>
    new Set(lines.map((line) => line.trim()).filter((line) => /\w{3}/.test(line)))
  const [inFile, inOld] = [words(file), words(old)]
  const sides = new Set([...words(fresh)].map((line) => Number(inFile.has(line)) - Number(inOld.has(line))))
  return sides.has(1) && sides.has(-1)
}

/** Has the file a line here of which the model knows nothing? Then it must not go. */
function forgets({ old, file, fresh }: Piece): boolean {
  const known = new Set([...old, ...fresh].map(essence))
  return file.some((line) => !isBlank(line) && !known.has(essence(line)))
}

/** Do lines fit between those around them: not deeper without a reason, and before a closing bracket, deeper than it? */
function isAtHome(lines: readonly string[], { above, below = '' }: Surroundings, { unit }: Style): boolean {
  const last = lines.findLast((line) => !isBlank(line)) ?? ''
  const isClosed = !CLOSES.test(below) || indentOf(last).length > indentOf(below).length || OPENS.test(last)
  return isClosed && isStepping(lines, above, unit)
}

/** Texts often begin after the indentation of their first line; where all the rest is right, the first line gets it back. */
function withFirstIndent(passage: Passage, { below }: Surroundings, style: Style): Passage | undefined {
  const { file, old, fresh } = passage
  const is = indentOf(file[0] ?? '')
  const isBare = indentOf(old[0] ?? '') === '' && essence(old[0] ?? '') === essence(file[0] ?? '')
  if (is === '' || !isBare) return passage
  const all = indentPairs(old.slice(1), file.slice(1))
  if (!all.every(([model, real]) => model === real)) return passage
  // What has no depth tells nothing of how deep things are.
  const rest = all.filter(([model]) => model !== '')
  const moved = ([first = '', ...others]: readonly string[]): string[] => [is + first, ...others]
  if (indentOf(fresh[0] ?? '') !== '')
    return indentOf(fresh[0] ?? '') === is ? { file, old: moved(old), fresh } : passage
  if (rest.length === 0 && fresh.slice(1).some((line) => !isBlank(line))) {
    // One line tells nothing of the others. They may have their depth, or lack what it lacks.
    const [isFirst, isAll] = [isLikely(moved(fresh), is, style), isLikely(fresh, '', style)]
    // Before something less deep, bare lines may be meant to be bare.
    const isBorder = below === undefined || indentOf(below).length < is.length
    if (isFirst === isAll || (isAll && isBorder && !CLOSES.test(below ?? ''))) return undefined
    if (isAll) return passage
  }
  // A text of which one line is bare may have been spoiled in other ways; then its steps tell.
  return isStepping(fresh.slice(1), undefined, style.unit) ? { file, old: moved(old), fresh: moved(fresh) } : undefined
}

/** Do lines look as if they were indented rightly: none less than the first, and deeper only after a line that opens something? */
function isLikely(lines: readonly string[], depth: string, { unit }: Style): boolean {
  const solid = lines.filter((line) => !isBlank(line))
  const [first = '', next] = solid
  if (next === undefined) return true
  if (solid.some((line) => !line.startsWith(depth)) || !isStepping(solid, undefined, unit)) return false
  const isDeeper = OPENS.test(first) ? !CLOSES.test(next) : CONTINUES.test(next)
  return (indentOf(next) !== depth) === isDeeper
}

const CLOSES = /^\s*[})\]]/

function indentPairs(old: readonly string[], file: readonly string[]): IndentPair[] {
  return pairUp(old, file).map(([o, f]) => [indentOf(old[o] ?? ''), indentOf(file[f] ?? '')])
}

/** Lines at the same depth must stay at the same depth: if some are exactly right, none may be off by itself. */
function isSteady({ old, file }: Passage): boolean {
  const pairs = indentPairs(old, file).filter(([model, real]) => model !== '' || real !== '')
  const right = pairs.filter(([model, real]) => model === real).length
  return right === 0 || right === pairs.length
}

/** Where the model's memory is wrong and it changed nothing: does the new text follow the file, or the memory? */
function vote({ old, file, fresh }: Piece): Side | 'moved' | undefined {
  if (same(old, file)) return undefined
  // A blank line may be new, and only look like one that the file has.
  if (same(fresh, file)) return file.every(isBlank) ? undefined : 'file'
  if (same(fresh, old)) return 'old'
  const [was = '', is = '', wanted = ''] = [old[0], file[0], fresh[0]]
  const isMoved = old.length === 1 && fresh.length === 1 && was.trim() === wanted.trim() && !isBlank(was)
  return isMoved && indentOf(was) !== indentOf(is) ? 'moved' : undefined
}

/** Whose depth has the first new line, if the file and the memory disagree about it? */
function sideOfEdge({ file, old, fresh }: Passage): Side | undefined {
  const [inFile, inOld, inFresh] = [file, old, fresh].map((lines) =>
    indentOf(lines.find((line) => !isBlank(line)) ?? ''),
  )
  if (inFile === inOld) return undefined
  return inFresh === inFile ? 'file' : inFresh === inOld ? 'old' : undefined
}

/**
 * Weaker signs, where all that the model remembers wrongly is what it changes: an indentation, a quote or space at the end
 * of a line that only the file has, or only the memory. For all that they disagree about there must be a sign.
 */
function lean(pieces: readonly Piece[], { file, old }: Passage, { trails }: Style): Side | undefined {
  const changed = pieces.filter((piece) => !same(piece.fresh, piece.old))
  if (!changed.every((piece) => isAlike(piece.old, piece.file))) return undefined
  const fresh = changed.flatMap((piece) => piece.fresh)
  const sides = new Set<Side | undefined>()
  for (const signsOf of [indents, quotes, ends]) {
    const [inFile, inOld] = [new Set(signsOf(file)), new Set(signsOf(old))]
    if ([...inOld].every((sign) => inFile.has(sign)) && [...inFile].every((sign) => inOld.has(sign))) continue
    const signs = signsOf(fresh)
    const only = signs.filter((sign) => inFile.has(sign) !== inOld.has(sign))
    const found = new Set(only.map((sign): Side => (inFile.has(sign) ? 'file' : 'old')))
    if (found.size > 1 || (signsOf === ends && found.has('old') && trails)) return undefined
    // The first and the last new line must stand where one of the two stands.
    const strange = [signs[0], signs.at(-1)].some((sign = '') => !inFile.has(sign) && !inOld.has(sign))
    if (signsOf === indents && strange) return undefined
    sides.add([...found][0])
  }
  const [side] = sides
  return sides.size === 1 ? side : undefined
}

const indents = (lines: readonly string[]): string[] => lines.filter((line) => !isBlank(line)).map(indentOf)
const quotes = (lines: readonly string[]): string[] => lines.flatMap((line) => line.match(QUOTES) ?? [])
const ends = (lines: readonly string[]): string[] => lines.map((line) => trailOf(line))

/** All pieces together, each with the model's changes made in what the file has. */
function mergeAll(pieces: readonly Piece[], passage: Passage, style: Style): string[] | undefined {
  const carry = carrier(passage, style)
  const result: string[] = []
  for (const [at, piece] of pieces.entries()) {
    // A line of which the model knows nothing stays where it is, if what is around it stays.
    const stays = (one: Piece | undefined): boolean => one === undefined || isAlike(one.old, one.fresh)
    if (forgets(piece) && !(stays(pieces[at - 1]) && stays(pieces[at + 1]))) return undefined
    const above = result.findLast((line) => !isBlank(line))
    const merged = mergePiece(piece, (lines) => carry(lines, above))
    if (!merged) return undefined
    result.push(...merged)
  }
  return result
}

/** Where the model changed something, its memory must be right but for white space and quotes, and blank lines clear. */
function mergePiece(
  piece: Piece,
  carry: (lines: readonly string[]) => readonly string[] | undefined,
): readonly string[] | undefined {
  if (same(piece.fresh, piece.old) || same(piece.fresh, piece.file)) return piece.file
  const [old, file, fresh] = [frame(piece.old), frame(piece.file), frame(piece.fresh)]
  if (!isAlike(old.inner, file.inner)) return undefined
  // Blank lines between lines that are exchanged go with them, if it is clear how many they were.
  if (old.inner.length !== file.inner.length && fresh.inner.length > 1) return undefined
  const isExchanged = old.inner.length > 0 && fresh.inner.length > 0
  const settle = (edge: 'above' | 'below'): readonly string[] | undefined => {
    const [was, is, wanted] = [old[edge], file[edge], fresh[edge]]
    // The model leaves the blank lines as it remembers them, or knows them as the file has them.
    const isOne = was.length === is.length || (isExchanged && !fresh.inner.some(isBlank))
    if (isOne && (same(wanted, was) || same(wanted, is))) return is
    // Otherwise nobody knows on which side of a blank line that the model did not know of.
    return was.length === is.length ? carry(wanted) : undefined
  }
  const [above, inner, below] = [settle('above'), carry(fresh.inner), settle('below')]
  return above && inner && below && [...above, ...inner, ...below]
}

/** Carries new lines over from the model's way of writing to the file's. */
function carrier({ old, file }: Passage, style: Style): Reindent {
  const all = pairUp(old, file).map(([o, f]): [string, string] => [old[o] ?? '', file[f] ?? ''])
  const pairs = all.filter(([model, real]) => essence(model) === essence(real))
  const reindent = reindenter(indentPairs(old, file), style)
  const steps: Requote[] = [requoter(pairs), untrailer(all, { old, file }, style), recaller(pairs)]
  return (lines, above) => {
    if (isFlattened(lines, old)) return undefined
    const moved = reindent(lines, above)?.map((line) =>
      steps.reduce<string | undefined>((one, step) => (one === undefined ? undefined : step(one)), line),
    )
    return moved?.every((line) => line !== undefined) ? moved : undefined
  }
}

/** A line that the model remembers wrongly is put right wherever it stands, also where the new text has it elsewhere. */
function recaller(pairs: readonly (readonly [model: string, file: string])[]): Requote {
  const known = new Map<string, string | undefined>()
  for (const [model, file] of pairs) {
    const [from, to] = [model.trim(), file.trim()]
    known.set(from, known.has(from) && known.get(from) !== to ? undefined : to)
  }
  return (line) => {
    const words = line.trim()
    if (!known.has(words) || words === '') return line
    const right = known.get(words)
    return right === undefined ? undefined : line.replace(words, () => right)
  }
}

/** Has the model lost all indentation? Then a new block inside the new text is flat too, and nobody knows how deep it is. */
function isFlattened(fresh: readonly string[], old: readonly string[]): boolean {
  const lines = fresh.filter((line) => !isBlank(line))
  if ([...old, ...lines].some((line) => indentOf(line) !== '')) return false
  return lines.some((line, at) => /[{([<:]\s*$/.test(line) && !/^\s*[})\]>]/.test(lines[at + 1] ?? '}'))
}
