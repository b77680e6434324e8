import { align, type Pairs } from './align.ts'
import { essence, indentOf, isBlank, QUOTES, squeeze } from './lines.ts'
import { reindenter } from './reindent.ts'
import { requoter } from './requote.ts'

/** A passage of the file, what the model took it for, and what the model wants instead. */
export interface Passage {
  readonly file: readonly string[]
  readonly old: readonly string[]
  readonly fresh: readonly string[]
}

/**
 * What the passage becomes. The model remembers the passage wrongly in places, and it may write the new text as the file
 * has it, or in its own wrong way; both are told from the lines that stay. What the model did not mean to change stays as
 * the file has it. Wherever the two differences meet, or the signs contradict each other, there is no answer.
 */
export function mergePassage(given: Passage): readonly string[] | undefined {
  const passage = withoutTrailing(withFirstIndent(given))
  const { file, old, fresh } = passage
  const toFile = solidPairs(old, file)
  const pieces = cut(passage, new Map(toFile), new Map(solidPairs(old, fresh)))
  if (pieces.some(forgets) || !isSteady(toFile, passage)) return undefined
  const votes = pieces.map(vote)
  const forFile = votes.includes('file')
  const forOld = votes.includes('old')
  if (forFile && forOld) return undefined
  const edge = sideOfEdge(passage)
  if (forFile) return edge === 'old' ? undefined : fresh
  const merged = mergeAll(pieces, passage, toFile)
  if (forOld) return edge === 'file' ? undefined : merged
  if (merged && same(merged, fresh)) return merged
  const leaning = lean(pieces, passage)
  if (leaning === 'file') return fresh
  return leaning === 'old' ? merged : undefined
}

/** Space at the ends of lines that the file has nowhere is only the model's. */
function withoutTrailing({ file, old, fresh }: Passage): Passage {
  const trails = (lines: readonly string[]): boolean => lines.some((line) => line.trimEnd() !== line)
  if (trails(file) || !trails(old)) return { file, old, fresh }
  const isOwn = trails(fresh.filter((line) => file.includes(line.trimEnd())))
  const plain = (lines: readonly string[]): string[] => lines.map((line) => line.trimEnd())
  return { file, old: plain(old), fresh: isOwn ? plain(fresh) : fresh }
}

/** Texts often begin after the indentation of their first line; where all the rest is right, the first line gets it back. */
function withFirstIndent({ file, old, fresh }: Passage): Passage {
  const [had, is] = [indentOf(old[0] ?? ''), indentOf(file[0] ?? '')]
  if (had === is || !is.startsWith(had) || essence(old[0] ?? '') !== essence(file[0] ?? '')) return { file, old, fresh }
  const rest = solidPairs(old.slice(1), file.slice(1))
  if (rest.length === 0 || !indentPairs(rest, old.slice(1), file.slice(1)).every(([model, real]) => model === real)) {
    return { file, old, fresh }
  }
  const moved = ([first = '', ...others]: readonly string[]): readonly string[] => {
    return indentOf(first) === had && !isBlank(first) ? [is + first.slice(had.length), ...others] : [first, ...others]
  }
  return { file, old: moved(old), fresh: moved(fresh) }
}

/** Pairs the lines that are the same in essence. Blank ones are no sign of anything. */
function solidPairs(left: readonly string[], right: readonly string[]): Pairs {
  return align(left, right, (one, other) => {
    const key = essence(one)
    return key !== '' && key === essence(other) ? 1 + Math.min(key.length, 40) / 40 : 0
  })
}

/** A line that all three have, or what lies between two such lines. */
type Piece = Passage

function cut({ file, old, fresh }: Passage, inFile: Map<number, number>, inFresh: Map<number, number>): Piece[] {
  const pieces: Piece[] = []
  let [i, j, k] = [0, 0, 0]
  for (const at of [...old.keys(), old.length]) {
    const last = at === old.length
    const f = last ? file.length : inFile.get(at)
    const n = last ? fresh.length : inFresh.get(at)
    if (f === undefined || n === undefined) continue
    const between = { old: old.slice(i, at), file: file.slice(j, f), fresh: fresh.slice(k, n) }
    if (between.old.length + between.file.length + between.fresh.length > 0) pieces.push(between)
    if (!last) pieces.push({ old: old.slice(at, at + 1), file: file.slice(f, f + 1), fresh: fresh.slice(n, n + 1) })
    ;[i, j, k] = [at + 1, f + 1, n + 1]
  }
  return pieces
}

/** The file has lines here of which the model knows nothing; whether they are to stay is nobody's guess. */
function forgets({ old, file, fresh }: Piece): boolean {
  const count = (lines: readonly string[]): number => lines.filter((line) => !isBlank(line)).length
  return count(file) > count(old) && !same(fresh, file)
}

/** Lines at the same depth must stay at the same depth: if some are exactly right, none may be off by itself. */
function isSteady(toFile: Pairs, { old, file }: Passage): boolean {
  const pairs = indentPairs(toFile, old, file).filter(([model, real]) => model !== '' || real !== '')
  const right = pairs.filter(([model, real]) => model === real).length
  return right === 0 || right === pairs.length
}

function indentPairs(toFile: Pairs, old: readonly string[], file: readonly string[]): [string, string][] {
  return toFile.map(([o, f]) => [indentOf(old[o] ?? ''), indentOf(file[f] ?? '')])
}

/** Where the model's memory is wrong and it changed nothing: does the new text follow the file, or the memory? */
function vote({ old, file, fresh }: Piece): 'file' | 'old' | undefined {
  if (same(old, file)) return undefined
  if (same(fresh, file)) return 'file'
  return same(fresh, old) ? 'old' : undefined
}

/** Whose depth has the first new line, if the file and the memory disagree about it? */
function sideOfEdge({ file, old, fresh }: Passage): 'file' | 'old' | undefined {
  const [inFile, inOld, inFresh] = [file, old, fresh].map((lines) =>
    indentOf(lines.find((line) => !isBlank(line)) ?? ''),
  )
  if (inFile === inOld) return undefined
  return inFresh === inFile ? 'file' : inFresh === inOld ? 'old' : undefined
}

/** Weaker signs, in what is new: an indentation, a quote or a blank line that only the file has, or only the memory. */
function lean(pieces: readonly Piece[], { file, old }: Passage): 'file' | 'old' | undefined {
  const changed = pieces.filter((piece) => !same(piece.fresh, piece.old)).flatMap(({ fresh }) => fresh)
  const sides = [indents, quotes].flatMap((signsOf) => {
    const [inFile, inOld] = [signsOf(file), signsOf(old)]
    const only = [...signsOf(changed)].filter((sign) => inFile.has(sign) !== inOld.has(sign))
    return only.map((sign) => (inFile.has(sign) ? 'file' : 'old'))
  })
  const isMoved = pieces.some((piece) => [...indents(piece.old)].some((sign) => !indents(piece.file).has(sign)))
  // Where the indentation is in doubt, only indentation can tell.
  const [inFile, inOld] = [indents(file), indents(old)]
  if (isMoved && ![...indents(changed)].some((sign) => inFile.has(sign) !== inOld.has(sign))) return undefined
  const [side] = sides
  return sides.every((one) => one === side) ? side : undefined
}

const indents = (lines: readonly string[]): Set<string> => new Set(lines.filter((line) => !isBlank(line)).map(indentOf))
const quotes = (lines: readonly string[]): Set<string> => new Set(lines.flatMap((line) => line.match(QUOTES) ?? []))

function mergeAll(pieces: readonly Piece[], { file, old }: Passage, toFile: Pairs): string[] | undefined {
  const reindent = reindenter(indentPairs(toFile, old, file))
  const requote = requoter(toFile.map(([o, f]) => [old[o] ?? '', file[f] ?? '']))
  const result: string[] = []
  for (const piece of pieces) {
    if (same(piece.fresh, piece.old) || same(piece.fresh, piece.file)) {
      result.push(...piece.file)
      continue
    }
    if (!isPlain(piece) || isFlattened(piece.fresh, old)) return undefined
    for (const line of piece.fresh) {
      const moved = isBlank(line) ? '' : reindent(line)
      const quoted = moved === undefined ? undefined : requote(moved)
      if (quoted === undefined) return undefined
      result.push(quoted)
    }
  }
  return result
}

/** Has the model lost all indentation? Then a new block inside the new text is flat too, and nobody knows how deep it is. */
function isFlattened(fresh: readonly string[], old: readonly string[]): boolean {
  const lines = fresh.filter((line) => !isBlank(line))
  if ([...old, ...lines].some((line) => indentOf(line) !== '')) return false
  return lines.some((line, at) => /[{([<:]\s*$/.test(line) && !/^\s*[})\]>]/.test(lines[at + 1] ?? '}'))
}

/** Is the memory of what the model changes here wrong only in white space, and does nothing depend on blank lines? */
function isPlain({ old, file, fresh }: Piece): boolean {
  const solid = (lines: readonly string[]): string[] => {
    return lines.filter((line) => !isBlank(line)).map((line) => squeeze(line, { quotes: false }).text)
  }
  if (!same(solid(old), solid(file))) return false
  const blanks = (lines: readonly string[]): number => lines.filter(isBlank).length
  const [inOld, inFile, inFresh] = [blanks(old), blanks(file), blanks(fresh)]
  if (inOld > inFile) return inFresh === 0
  if (inOld < inFile) return inFresh >= inFile
  return old.every((line, at) => isBlank(line) === isBlank(file[at] ?? ''))
}

function same(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((line, at) => line === other[at])
}
