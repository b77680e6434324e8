import { canonical } from '../model/json.ts'
import { resultText } from '../model/text.ts'
import type { CallPart } from '../model/turn.ts'
import { base62Hash } from '../schema/hash.ts'
import type { Outcome } from './carry-out.ts'

/** How often something may come back before the model is told, and before the run is stopped. */
interface Patience {
  readonly tell: number
  readonly stop: number
}

/** The same calls with the same results: nothing will ever change. */
const SAME: Patience = { tell: 4, stop: 7 }

/**
 * The same calls with other results: somebody may wait for something, but not for ever. This is for tools that say of their
 * results that parts of them vary each time; where another result means that something changed, the run goes on.
 */
const CALLS: Patience = { tell: 15, stop: 60 }

/** The longest cycle of rounds that is noticed. */
const LONGEST = 6

/** Notices a model that goes round in circles: the same calls, or the same few rounds, again and again (T164). */
export function startLoopWatch() {
  const same = startCount(SAME)
  const calls = startCount(CALLS)
  return {
    seen(made: readonly CallPart[], outcomes: readonly Outcome[]): 'go on' | 'tell' | 'stop' {
      const call = canonical(made.map((one) => [one.name, one.input ?? one.raw]))
      const result = canonical(outcomes.map(({ result: one, stable }) => [one.status, stable ?? resultText(one)]))
      const varies = outcomes.every(({ stable }) => stable !== undefined)
      const found = [same(base62Hash(`${call}\n${result}`, 10)), ...(varies ? [calls(base62Hash(call, 10))] : [])]
      return (['stop', 'tell'] as const).find((one) => found.includes(one)) ?? 'go on'
    },
  }
}

function startCount({ tell, stop }: Patience): (round: string) => 'go on' | 'tell' | 'stop' {
  const rounds: string[] = []
  let before = 0
  return (round) => {
    rounds.push(round)
    if (rounds.length > stop * LONGEST) rounds.shift()
    let most = 1
    for (let length = 1; length <= LONGEST; length++) most = Math.max(most, repeats(rounds, length))
    const isNews = most >= tell && before < tell
    before = most
    if (most >= stop) return 'stop'
    return isNews ? 'tell' : 'go on'
  }
}

/** How often the last `length` rounds stand at the end, one after the other. */
function repeats(rounds: readonly string[], length: number): number {
  let count = 1
  for (let at = rounds.length - 1; at - length >= 0; at--) {
    if (rounds[at] !== rounds[at - length]) break
    if ((rounds.length - 1 - at + 1) % length === 0) count++
  }
  return count
}
