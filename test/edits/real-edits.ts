import { diffArrays } from 'diff'
import type { Random } from '../support/mutate-random.ts'

/** An edit that somebody really made, as a careful model would ask for it. */
export interface RealEdit {
  /** The file that it was made in, for messages. */
  readonly name: string
  /** All of the file, before and after this one edit, with plain line ends. */
  readonly before: string
  readonly after: string
  /** The passage with some lines around it, and what it becomes. */
  readonly old: readonly string[]
  readonly fresh: readonly string[]
}

/** The edits that lead from one version of a file to the next, each taken by itself. */
export function realEdits(name: string, before: string, after: string, random: Random): RealEdit[] {
  const [old, fresh] = [linesOf(before), linesOf(after)]
  if (!isSource(before) || !isSource(after)) return []
  const found = hunks(old, fresh, random.pick([0, 1, 3]))
  // A file of which half is new was written anew, not edited.
  if (found.reduce((sum, { from, to }) => sum + to - from, 0) > old.length / 2) return []
  return found.flatMap((hunk) => {
    const edit = quoted(old, fresh, hunk, random)
    if (!edit) return []
    const rest = old.slice(edit.end)
    const whole = [...old.slice(0, edit.first), ...edit.fresh, ...rest].join('\n')
    const last = before.endsWith('\n') ? '\n' : ''
    return [{ name, before, after: whole + last, old: edit.old, fresh: edit.fresh }]
  })
}

const MAX_SIZE = 200_000
const MAX_LINE = 400
const MAX_OLD = 40
const MAX_FRESH = 80

/** Written by people, and as long as what a model would edit. */
function isSource(text: string): boolean {
  if (text.length > MAX_SIZE || text.trim() === '' || text.includes('\0') || text.includes('\uFFFD')) return false
  return !text.includes('\r') && text.split('\n').every((line) => line.length <= MAX_LINE)
}

/** The last line's end is the file's affair: an edit keeps it as it is. */
function linesOf(text: string): string[] {
  return text.replace(/\n$/, '').split('\n')
}

interface Hunk {
  readonly from: number
  readonly to: number
  readonly freshFrom: number
  readonly freshTo: number
}

/** Changes that have no more than `near` lines between them are one. */
function hunks(old: readonly string[], fresh: readonly string[], near: number): Hunk[] {
  const found: Hunk[] = []
  let [left, right] = [0, 0]
  for (const { added, removed, value } of diffArrays([...old], [...fresh], { timeout: 2000 }) ?? []) {
    const { length } = value
    if (added || removed) {
      const [from, freshFrom] = [left, right]
      if (removed) left += length
      else right += length
      const last = found.at(-1)
      if (last && from - last.to <= near) found.pop()
      found.push({
        from: last && from - last.to <= near ? last.from : from,
        freshFrom: last && from - last.to <= near ? last.freshFrom : freshFrom,
        to: left,
        freshTo: right,
      })
    } else {
      left += length
      right += length
    }
  }
  return found
}

/** The passage with lines around it, as many as it takes to be the only one. */
function quoted(
  old: readonly string[],
  fresh: readonly string[],
  { from, to, freshFrom, freshTo }: Hunk,
  random: Random,
): { first: number; end: number; old: string[]; fresh: string[] } | undefined {
  const whole = `\n${old.join('\n')}\n`
  let [above, below] = [random.range(0, 3), random.range(0, 3)]
  for (let more = 0; more < 8; more++, above++, below++) {
    const [first, end] = [Math.max(0, from - above), Math.min(old.length, to + below)]
    const passage = old.slice(first, end)
    const words = passage.join('\n')
    if (words.trim() === '' || whole.split(words).length !== 2) continue
    const next = [...old.slice(first, from), ...fresh.slice(freshFrom, freshTo), ...old.slice(to, end)]
    if (passage.length > MAX_OLD || next.length > MAX_FRESH) return undefined
    // An empty text cannot say whether it is no line or an empty one.
    if (next.length > 0 && next.join('').trim() === '') return undefined
    return { first, end, old: passage, fresh: next }
  }
  return undefined
}
