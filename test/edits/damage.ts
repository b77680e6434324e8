import { diffArrays } from 'diff'
import type { Random } from '../support/mutate-random.ts'

/** What a model looks for, and what it wants to put there. */
export interface Wanted {
  readonly old: readonly string[]
  readonly fresh: readonly string[]
}

/**
 * A way in which models spoil what they quote; nothing where it would change nothing. `both` tells whether the new text
 * is spoiled in the same way, or is written as the file has it. A line that is new is never spoiled in a way that cannot be
 * taken back: what it was meant to be would be nobody's guess, not even the test's.
 */
export type Damage = (wanted: Wanted, random: Random, both: boolean) => Wanted | undefined

/** The kinds of damage, by name. */
export const DAMAGES: Readonly<Record<string, Damage>> = {
  'indentation shifted': (wanted, random, both) => restyled(wanted, shifted(wanted, random), both),
  'first line not indented': (wanted, _random, both) => {
    const cut = ([first = '', ...rest]: readonly string[]): string[] => [first.trimStart(), ...rest]
    const isKept = indentOf(wanted.old[0] ?? '') === indentOf(wanted.fresh[0] ?? '')
    return isKept && wanted.fresh.length > 0
      ? { old: cut(wanted.old), fresh: both ? cut(wanted.fresh) : wanted.fresh }
      : undefined
  },
  'tabs and spaces': (wanted, random, both) => restyled(wanted, tabbed(wanted, random), both),
  'width of indentation': (wanted, random, both) => restyled(wanted, widened(wanted, random), both),
  'space at line ends': (wanted, random, both) => trailing(wanted, random, both),
  quotes: (wanted, random, both) => restyled(wanted, requoted(wanted, random), both),
  'space inside lines': (wanted, random, both) => restyled(wanted, spaced(random), both, true),
  'one stale line': (wanted, random, both) => stale(wanted, random, both),
  'blank lines missing': (wanted, random, both) => {
    const blanks = wanted.old.flatMap((line, at) => (line.trim() === '' ? [at] : []))
    if (blanks.length === 0) return undefined
    return without(wanted, random.chance(0.5) ? blanks : [random.pick(blanks)], both)
  },
  'a blank line too many': (wanted, random, both) => {
    if (wanted.old.length < 2) return undefined
    return put(wanted, random.range(1, wanted.old.length - 1), [''], 0, both)
  },
  'a comment line dropped': (wanted, random, both) => {
    const comments = wanted.old.flatMap((line, at) => (COMMENT.test(line) ? [at] : []))
    return comments.length === 0 ? undefined : without(wanted, [random.pick(comments)], both)
  },
}

const COMMENT = /^\s*(?:\/\/|#(?!\w*(?:include|define|if|end|else))|\/\*|\*\s|<!--|--\s|;)/

/** Several kinds one after the other. */
export const combined: Damage = (wanted, random, both) => {
  let result: Wanted | undefined
  let done = 0
  for (const damage of random.shuffled(Object.values(DAMAGES))) {
    const next = damage(result ?? wanted, random, both)
    if (!next || !isTelling(result ?? wanted, next)) continue
    result = next
    if (++done === 2 && random.chance(0.7)) break
    if (done === 3) break
  }
  return done >= 2 ? result : undefined
}

/**
 * Is the search text damaged, and do the two texts still tell what the edit is? By chance the damage may make a line that is
 * to be changed the same as the new one.
 */
export function isTelling(edit: Wanted, damaged: Wanted): boolean {
  if (same(edit.old, damaged.old) || same(damaged.old, damaged.fresh)) return false
  const [before, after] = [kept(edit), kept(damaged)]
  // Nor may it make a new line the same as the one that the file has.
  const inFile = { old: edit.old, fresh: damaged.fresh }
  const count = ({ old }: Wanted, pairs: readonly [number, number][], blank: boolean): number =>
    pairs.filter(([from]) => ((old[from] ?? '').trim() === '') === blank).length
  const blanks = ({ old }: Wanted): number => old.filter((line) => line.trim() === '').length
  const extra = Math.max(0, blanks(damaged) - blanks(edit))
  const most = count(edit, before, false)
  if (count(damaged, after, false) > most || count(inFile, kept(inFile), false) > most) return false
  return count(damaged, after, true) <= count(edit, before, true) + extra
}

function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? ''
}

function solid(lines: readonly string[]): string[] {
  return lines.filter((line) => line.trim() !== '')
}

/** Writes every line in another style; `keptOnly`: only those that the new text does not bring. */
function restyled(
  wanted: Wanted,
  style: ((line: string) => string) | undefined,
  both: boolean,
  keptOnly = false,
): Wanted | undefined {
  if (!style) return undefined
  const old = wanted.old.map(style)
  if (old.every((line, at) => line === wanted.old[at])) return undefined
  if (!both) return { old, fresh: wanted.fresh }
  if (!keptOnly) return { old, fresh: wanted.fresh.map(style) }
  const fresh = [...wanted.fresh]
  for (const [from, to] of kept(wanted)) fresh[to] = old[from] ?? ''
  return { old, fresh }
}

/** All lines further in, or further out as far as they all go. */
function shifted({ old, fresh }: Wanted, random: Random): ((line: string) => string) | undefined {
  const lines = solid([...old, ...fresh])
  const [first = ''] = lines
  let common = indentOf(first)
  for (const line of lines) while (!line.startsWith(common)) common = common.slice(0, -1)
  const unit = lines.some((line) => line.startsWith('\t')) ? '\t' : random.pick(['  ', '    '])
  const way = random.below(4)
  const blank = (line: string): boolean => line.trim() === ''
  if (way === 0) return (line) => (blank(line) ? line : unit + line)
  if (common === '') return way === 1 ? (line) => (blank(line) ? line : unit + line) : undefined
  const cut = way === 3 && common.length > unit.length ? unit.length : common.length
  return (line) => (blank(line) ? line : line.slice(cut))
}

/** Tabs for spaces, or spaces for tabs, where all lines have one of them. */
function tabbed({ old, fresh }: Wanted, random: Random): ((line: string) => string) | undefined {
  const indents = solid([...old, ...fresh]).map(indentOf)
  const all = indents.join('')
  if (all === '') return undefined
  if (all.includes('\t')) {
    // Other spaces could not be told from tabs any more.
    if (indents.some((indent) => !/^\t* ?$/.test(indent) || indent === ' ')) return undefined
    const width = random.pick([2, 4])
    return (line) => (line.trim() === '' ? line : line.replace(/^\t+/, (tabs) => ' '.repeat(tabs.length * width)))
  }
  const width = indents.every((indent) => indent.length % 4 === 0) ? random.pick([2, 4]) : 2
  return (line) => {
    const indent = indentOf(line)
    if (line.trim() === '') return line
    return (
      '\t'.repeat(Math.floor(indent.length / width)) + ' '.repeat(indent.length % width) + line.slice(indent.length)
    )
  }
}

/** Four spaces for two, or two for four; what is left over, as before the stars of a comment, stays. */
function widened({ old, fresh }: Wanted, random: Random): ((line: string) => string) | undefined {
  const indents = solid([...old, ...fresh]).map(indentOf)
  if (indents.join('').includes('\t') || indents.join('') === '') return undefined
  const isWide = indents.every((indent) => indent.length % 4 < 2)
  const [from, to] = isWide && random.chance(0.5) ? [4, 2] : [2, 4]
  return (line) => {
    const { length } = indentOf(line)
    return line.trim() === '' ? line : ' '.repeat(Math.floor(length / from) * to + (length % from)) + line.slice(length)
  }
}

/** Space put at the ends of some lines, or of all; or taken away from those that have it. */
function trailing(wanted: Wanted, random: Random, both: boolean): Wanted | undefined {
  const has = wanted.old.some((line) => line !== line.trimEnd())
  if (has && random.chance(0.7)) return restyled(wanted, (line) => line.trimEnd(), both, true)
  // Space that is new could not be told from what is put here.
  if (wanted.fresh.some((line) => line !== line.trimEnd() && !wanted.old.includes(line))) return undefined
  const share = random.pick([0.3, 1])
  const space = random.pick([' ', '  ', '\t'])
  const marks = new Map([...wanted.old, ...wanted.fresh].map((line) => [line, random.chance(share)]))
  return restyled(wanted, (line) => (marks.get(line) ? line + space : line), both)
}

/** Printers' quotes for plain ones, plain ones for printers', or the one plain kind for the other. */
function requoted({ old, fresh }: Wanted, random: Random): ((line: string) => string) | undefined {
  const all = [...old, ...fresh].join('\n')
  const isCurly = /[‘’“”]/.test(all)
  if (isCurly) {
    // Only where the plain ones are not there as well: they could not be told apart any more.
    return /['"]/.test(all) ? undefined : (line) => line.replace(/[‘’]/g, "'").replace(/[“”]/g, '"')
  }
  const way = random.below(3)
  if (way === 0)
    return (line) =>
      line
        .replace(/"([^"]*)"/g, '“$1”')
        .replace(/'([^']*)'/g, '‘$1’')
        .replaceAll("'", '’')
  if (way === 1 && !all.includes('"')) return (line) => line.replaceAll("'", '"')
  if (way === 2 && !all.includes("'")) return (line) => line.replaceAll('"', "'")
  return undefined
}

/** Space before brackets, or none after commas. */
function spaced(random: Random): (line: string) => string {
  const way = random.below(3)
  const inner = (line: string, change: (body: string) => string): string => {
    const indent = indentOf(line)
    return indent + change(line.slice(indent.length))
  }
  if (way === 0) return (line) => inner(line, (body) => body.replaceAll(', ', ','))
  if (way === 1) return (line) => inner(line, (body) => body.replace(/\((?=\S)/g, '( ').replace(/(?<=\S)\)/g, ' )'))
  return (line) => inner(line, (body) => body.replace(/(?<=\S) {2,}(?=\S)/g, ' '))
}

/** One line is as it was some time ago. */
function stale(wanted: Wanted, random: Random, both: boolean): Wanted | undefined {
  const lines = wanted.old.flatMap((line, at) => (/\w{3}/.test(line) ? [at] : []))
  if (lines.length === 0) return undefined
  const at = random.pick(lines)
  const line = wanted.old[at] ?? ''
  const words = [...line.matchAll(/\w{3,}/g)]
  const word = random.pick(words)
  const start = word.index
  const other = random.pick(['value', 'name', 'result', 'x', '', `${word[0]}s`, word[0].slice(1)])
  const changed = line.slice(0, start) + other + line.slice(start + word[0].length)
  // A part of a line that the file has is no other line.
  if (line.includes(changed.trim())) return undefined
  return put(wanted, at, [changed], 1, both)
}

/**
 * Takes lines out of the old text, and out of the new one. Only such that stay; and at the edge, only if they are at the
 * edge of both: of others the two texts together would tell nothing any more.
 */
function without(wanted: Wanted, lines: readonly number[], both: boolean): Wanted | undefined {
  const pairs = kept(wanted)
  const isSolid = (at: number): boolean => (wanted.old[at] ?? '').trim() !== ''
  const stay = pairs.filter(([from, to]) => {
    // A blank line is the same only beside a line that is the same, and a bracket is like any other.
    const isBeside = (step: number): boolean =>
      /\w/.test(wanted.old[from + step] ?? '') && pairs.some((pair) => pair[0] === from + step && pair[1] === to + step)
    if (!lines.includes(from) || !(isSolid(from) || isBeside(-1) || isBeside(1))) return false
    // At an edge, only if it is at the edge of both.
    const isTop = wanted.old.slice(0, from).every((_line, at) => !isSolid(at))
    if (isTop && !same(wanted.old.slice(0, from), wanted.fresh.slice(0, to))) return false
    const isBottom = wanted.old.every((_line, at) => at <= from || !isSolid(at))
    return !isBottom || same(wanted.old.slice(from), wanted.fresh.slice(to))
  })
  const [gone, alsoGone] = [stay.map(([from]) => from), stay.map(([, to]) => to)]
  const old = wanted.old.filter((_line, at) => !gone.includes(at))
  if (gone.length === 0 || old.join('').trim() === '') return undefined
  if (!both) return { old, fresh: wanted.fresh }
  const left = { old, fresh: wanted.fresh.filter((_line, at) => !alsoGone.includes(at)) }
  // A line that changes places with one that is gone would seem to stay.
  return kept(left).length > pairs.length - gone.length ? undefined : left
}

/** Puts lines in place of some lines of the old text, and of the new one where the place is one that stays. */
function put(wanted: Wanted, at: number, lines: readonly string[], count: 0 | 1, both: boolean): Wanted | undefined {
  const old = [...wanted.old.slice(0, at), ...lines, ...wanted.old.slice(at + count)]
  const pairs = new Map(kept(wanted))
  const to = pairs.get(at)
  // Between two lines: both must stay, side by side.
  const isThere = to !== undefined && (count === 1 || pairs.get(at - 1) === to - 1)
  if (!isThere) return count === 1 ? { old, fresh: wanted.fresh } : undefined
  if (!both) return { old, fresh: wanted.fresh }
  return { old, fresh: [...wanted.fresh.slice(0, to), ...lines, ...wanted.fresh.slice(to + count)] }
}

/** The lines that stay. */
function kept({ old, fresh }: Wanted): [number, number][] {
  const pairs: [number, number][] = []
  let [left, right] = [0, 0]
  for (const { added, removed, value } of diffArrays([...old], [...fresh])) {
    if (added) right += value.length
    else if (removed) left += value.length
    else for (let step = 0; step < value.length; step++) pairs.push([left++, right++])
  }
  return pairs
}

function same(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((line, at) => line === other[at])
}
