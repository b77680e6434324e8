import type { Attempt, Verdict } from './attempt.ts'

/** How many attempts ended in which way. */
export type Count = Record<Verdict, number>

/** Counts of attempts, by kind of damage. */
export interface Tally {
  add(attempt: Pick<Attempt, 'kind'>, verdict: Verdict): void
  of(kind: string): Count
  readonly all: Count
}

/** Starts to count. */
export function startTally(): Tally {
  const kinds = new Map<string, Count>()
  const all = none()
  const of = (kind: string): Count => kinds.get(kind) ?? none()
  return {
    all,
    of,
    add({ kind }, verdict) {
      const count = of(kind)
      count[verdict]++
      all[verdict]++
      kinds.set(kind, count)
    },
  }
}

/** A share in percent, of all that were counted. */
export function share(count: Count, verdict: Verdict): string {
  const sum = count.right + count.refused + count.wrong
  return sum === 0 ? '–' : `${((100 * count[verdict]) / sum).toFixed(1)} %`
}

function none(): Count {
  return { right: 0, refused: 0, wrong: 0 }
}
