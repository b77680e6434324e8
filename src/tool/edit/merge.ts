import { essence, indentOf, isBlank, QUOTES } from './lines.ts'
import { cut, frame, isAlike, pairUp, type Passage, type Piece, same, type Surroundings } from './pieces.ts'
import { type IndentPair, isStepping, OPENS, type Reindent, reindenter } from './reindent.ts'
import { type Requote, requoter } from './requote.ts'
import { agreesAtEdge, sideOf, sideOfEdges, sideOfSigns, vote } from './side.ts'
import { type Style, trailOf } from './style.ts'
import { untrailer } from './trail.ts'

/**
 * What the passage becomes. The model remembers the passage wrongly in places, and it may write the new text as the file
 * has it, or in its own wrong way; both are told from the lines that stay. What the model did not mean to change stays as
 * the file has it. Wherever the two differences meet, or the signs contradict each other, there is no answer.
 */
export function mergePassage(given: Passage, around: Surroundings, style: Style): readonly string[] | undefined {
  // One line tells nothing of how the model writes several; so they must look right.
  const looksRight = (lines: readonly string[]): boolean =>
    !hasNewTrail(lines, given.file) && (countSolid(given.old) > 1 || isAtHome(lines, given.file, around, style))
  if (same(given.file, given.old)) return looksRight(given.fresh) ? given.fresh : undefined
  const passage = withFirstIndent(given, style)
  if (!passage || !isSteady(passage) || !hasSameMarks(passage)) return undefined
  const pieces = cut(passage)
  const merged = mergeAll(pieces, passage, style)
  const shown = sideOf(pieces, passage)
  const told = shown === 'neither' ? sideOfSigns(passage) : shown
  const { file, fresh } = passage
  const isFreshAtHome = (): boolean => isAtHome(fresh, file, around, style)
  const side = told === 'neither' && merged ? sideOfEdges(passage, merged, style, isFreshAtHome()) : told
  if (side === 'both') return undefined
  if (merged && same(merged, fresh)) return looksRight(merged) ? merged : undefined
  if (side === 'neither' || !agreesAtEdge(passage, side)) return undefined
  const result = side === 'file' ? fresh : merged
  if (!result || (side === 'file' && pieces.some((piece) => forgets(piece) || forgetsBlanks(piece)))) return undefined
  // A line could look like the file's or the memory's by chance; so it must look right too.
  const witnesses = pieces.filter((piece) => vote(piece) === side && isDeepDoubtful(piece)).length
  // A single line that stays of many that do not may have the depth of either side by chance, if the new text fits as it is.
  if (witnesses === 1 && countSolid(fresh) > MANY && (side === 'file' || isFreshAtHome())) return undefined
  const isInPlace = !isDeepDoubtful(passage) || witnesses > 1 || isAtHome(result, file, around, style)
  const isRight = isInPlace && !hasNewTrail(result, file) && !hasOldQuotes(result, passage) && !doubles(result, passage)
  return isRight ? result : undefined
}

/** Would a line be there more often than the file or the new text has it? Then it was forgotten here, and remembered there. */
function doubles(result: readonly string[], { file, fresh }: Passage): boolean {
  const [now, before, wanted] = [result, file, fresh].map((lines) => lines.map(essence))
  const times = (key: string, keys: readonly string[] = []): number => keys.filter((one) => one === key).length
  return (
    now?.some((key) => /\w{3}/.test(key) && times(key, now) > Math.max(times(key, before), times(key, wanted))) ?? false
  )
}

/** Is there space at the end of a line that the file has not? It is rarely meant. */
function hasNewTrail(lines: readonly string[], file: readonly string[]): boolean {
  return lines.some((line) => trailOf(line) !== '' && !file.includes(line))
}

/** A new text of more lines than this says more than one line that stays can tell. */
const MANY = 6

/** Are there quotes of a kind that only the memory has? Then they are the memory's, whatever else the new text follows. */
function hasOldQuotes(lines: readonly string[], { file, old }: Passage): boolean {
  const signsOf = (all: readonly string[]): Set<string> => new Set(all.flatMap((line) => line.match(QUOTES) ?? []))
  const [inFile, inOld] = [signsOf(file), signsOf(old)]
  return [...signsOf(lines)].some((sign) => inOld.has(sign) && !inFile.has(sign))
}

/** Has the file a line here of which the model knows nothing? Then it must not go. */
function forgets({ old, file, fresh }: Piece): boolean {
  const known = new Set([...old, ...fresh].map(essence))
  return file.some((line) => !isBlank(line) && !known.has(essence(line)))
}

/** The same for blank lines. */
function forgetsBlanks({ old, file, fresh }: Piece): boolean {
  const count = (lines: readonly string[]): number => lines.filter(isBlank).length
  return count(file) > count(old) && count(fresh) < count(file)
}

/** Do the file and the memory disagree about how deep the lines are? */
function isDeepDoubtful({ old, file }: Passage): boolean {
  return indentPairs(old, file).some(([model, real]) => model !== real)
}

/** Do new lines fit between those around them: not deeper without a reason, and before a closing bracket, deeper than it? */
function isAtHome(lines: readonly string[], file: readonly string[], around: Surroundings, style: Style): boolean {
  const whole = [around.above, ...file, around.below].filter((line) => line !== undefined && !isBlank(line))
  const all = [around.above, ...lines, around.below].filter((line) => line !== undefined && !isBlank(line))
  return all.every((line = '', at) => {
    const last = all[at - 1]
    if (last === undefined || isFollowed(whole, last, line)) return true
    const isEmpty = OPENS.test(last) && indentOf(last) === indentOf(line)
    if (CLOSES.test(line) && indentOf(last).length <= indentOf(line).length && !isEmpty) return false
    return isStepping([line], last, style.unit)
  })
}

/** Is this line, or unless it closes something, another at its depth, the one that follows a line in the file? */
function isFollowed(whole: readonly (string | undefined)[], last: string, line: string): boolean {
  const isLike = (one: string): boolean => one === line || (!CLOSES.test(line) && indentOf(one) === indentOf(line))
  return whole.some((one, at) => one !== undefined && whole[at - 1] === last && isLike(one))
}

/** Texts often begin after the indentation of their first line; where all the rest is right, the first line gets it back. */
function withFirstIndent(passage: Passage, { unit }: Style): Passage | undefined {
  const { file, old, fresh } = passage
  const is = indentOf(file[0] ?? '')
  const isBare = indentOf(old[0] ?? '') === '' && essence(old[0] ?? '') === essence(file[0] ?? '')
  if (is === '' || !isBare) return passage
  const all = indentPairs(old.slice(1), file.slice(1))
  if (!all.every(([model, real]) => model === real)) return passage
  // What has no depth tells nothing of how deep things are.
  const rest = all.filter(([model]) => model !== '')
  const moved = ([first = '', ...others]: readonly string[]): string[] => [is + first, ...others]
  // One line tells nothing of how deep the others are.
  if (rest.length === 0 && fresh.slice(1).some((line) => !isBlank(line))) return undefined
  if (indentOf(fresh[0] ?? '') !== '')
    return indentOf(fresh[0] ?? '') === is ? { file, old: moved(old), fresh } : passage
  // A text of which one line is bare may have been spoiled in other ways; then its steps tell.
  return isStepping(fresh.slice(1), undefined, unit) ? { file, old: moved(old), fresh: moved(fresh) } : undefined
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

/** Lines without words are all alike: where the model forgot one, or has one too many, nobody knows which one. */
function hasSameMarks({ old, file }: Passage): boolean {
  const marks = (lines: readonly string[]): string[] =>
    lines.map(essence).filter((key) => key !== '' && !/[\p{L}\p{N}]/u.test(key))
  return same(marks(old), marks(file))
}

/** All pieces together, each with the model's changes made in what the file has. */
function mergeAll(pieces: readonly Piece[], passage: Passage, style: Style): string[] | undefined {
  const carry = carrier(passage, style)
  const isDeep = isDeepDoubtful(passage)
  const result: string[] = []
  for (const [at, piece] of pieces.entries()) {
    // A line of which the model knows nothing stays where it is, if what is around it stays.
    const stays = (one: Piece | undefined): boolean => one === undefined || isAlike(one.old, one.fresh)
    const isNews = countSolid(piece.file) > countSolid(piece.old)
    if (isNews && !(stays(pieces[at - 1]) && stays(pieces[at + 1]))) return undefined
    const merged = mergePiece(piece, isDeep, carry)
    if (!merged) return undefined
    result.push(...merged)
  }
  return result
}

function countSolid(lines: readonly string[]): number {
  return lines.filter((line) => !isBlank(line)).length
}

/** Where the model changed something, its memory must be right but for white space and quotes, and blank lines clear. */
function mergePiece(piece: Piece, isDeep: boolean, carry: Reindent): readonly string[] | undefined {
  if (same(piece.fresh, piece.old)) return piece.file
  // A line that moves may look like the file's by chance.
  if (same(piece.fresh, piece.file) && (!isDeep || piece.file.every(isBlank))) {
    // Of several blank lines one may be meant to go, and another be one too many.
    const isPlain = !piece.file.every(isBlank) || Math.min(piece.old.length, piece.file.length) === 0
    return isPlain || piece.old.length === piece.file.length ? piece.file : undefined
  }
  const [old, file, fresh] = [frame(piece.old), frame(piece.file), frame(piece.fresh)]
  if (!isAlike(old.inner, file.inner)) return undefined
  // Blank lines between lines that are exchanged go with them, if it is clear how many they were.
  if (old.inner.length !== file.inner.length && fresh.inner.length > 1) return undefined
  const isExchanged = old.inner.length > 0 && fresh.inner.length > 0
  const settle = (edge: 'above' | 'below'): readonly string[] | undefined => {
    const [was, is, wanted] = [old[edge], file[edge], fresh[edge]]
    if (was.length === is.length) return same(wanted, was) ? is : carry(wanted)
    // Where the model is wrong about the blank lines, it must not change them; and it must be clear on which side they are.
    return same(wanted, was) && isExchanged && !fresh.inner.some(isBlank) ? is : undefined
  }
  const [above, inner, below] = [settle('above'), carry(fresh.inner), settle('below')]
  return above && inner && below && [...above, ...inner, ...below]
}

/** Carries new lines over from the model's way of writing to the file's. */
function carrier({ old, file }: Passage, style: Style): Reindent {
  const all = pairUp(old, file).map(([o, f]): [string, string] => [old[o] ?? '', file[f] ?? ''])
  const pairs = all.filter(([model, real]) => essence(model) === essence(real))
  const reindent = reindenter(indentPairs(old, file), style)
  const steps: Requote[] = [stranger(pairs), requoter(pairs, { old, file }), untrailer(all, { old, file }, style)]
  return (lines) => {
    if (isFlattened(lines, old)) return undefined
    const moved = reindent(lines)?.map((line) =>
      steps.reduce<string | undefined>((one, step) => (one === undefined ? undefined : step(one)), line),
    )
    return moved?.every((line) => line !== undefined) ? moved : undefined
  }
}

/** Has a new line the words of one that the model remembers wrongly? Nobody knows whether it is that line, or another. */
function stranger(pairs: readonly (readonly [model: string, file: string])[]): Requote {
  const wrong = new Set(pairs.filter(([model, file]) => model.trim() !== file.trim()).map(([model]) => model.trim()))
  return (line) => (wrong.has(line.trim()) ? undefined : line)
}

/** Has the model lost all indentation? Then a new block inside the new text is flat too, and nobody knows how deep it is. */
function isFlattened(fresh: readonly string[], old: readonly string[]): boolean {
  const lines = fresh.filter((line) => !isBlank(line))
  if ([...old, ...lines].some((line) => indentOf(line) !== '')) return false
  return lines.some((line, at) => /[{([<:]\s*$/.test(line) && !/^\s*[})\]>]/.test(lines[at + 1] ?? '}'))
}
