import { toCanonicalJson } from '../../model/json.ts'
import { formatResultText } from '../../model/text.ts'
import type { CallPart } from '../../model/turn.ts'
import { base62Hash } from '../../schema/hash.ts'
import type { CallOutcome } from '../calls/execute-calls.ts'

type Verdict = 'continue' | 'warn' | 'stop'

/** After how many repetitions the model is warned, and the run is stopped. */
interface RepetitionLimits {
  readonly warnAfter: number
  readonly stopAfter: number
}

/** For the same calls with the same results. */
const SAME_RESULT_LIMITS: RepetitionLimits = { warnAfter: 4, stopAfter: 7 }

/**
 * For the same calls with other results: the model may be waiting for something. Applies only to tools whose output always
 * varies in part; for others, a different result is progress.
 */
const SAME_CALL_LIMITS: RepetitionLimits = { warnAfter: 15, stopAfter: 60 }

const MAX_CYCLE_ROUNDS = 6

/** Detects a model that repeats the same calls, or the same cycle of a few rounds (T164). */
export function createRepetitionDetector() {
  const checkSameResults = createRepeatCounter(SAME_RESULT_LIMITS)
  const calls = createRepeatCounter(SAME_CALL_LIMITS)
  return {
    check(madeCalls: readonly CallPart[], outcomes: readonly CallOutcome[]): Verdict {
      const call = toCanonicalJson(madeCalls.map((one) => [one.name, one.input ?? one.raw]))
      const result = toCanonicalJson(
        outcomes.map(({ result: one, stable }) => [one.status, stable ?? formatResultText(one)]),
      )
      const varies = outcomes.every(({ stable }) => stable !== undefined)
      const verdicts = [
        checkSameResults(base62Hash(`${call}\n${result}`, 10)),
        ...(varies ? [calls(base62Hash(call, 10))] : []),
      ]
      return (['stop', 'warn'] as const).find((one) => verdicts.includes(one)) ?? 'continue'
    },
  }
}

function createRepeatCounter({ warnAfter, stopAfter }: RepetitionLimits): (round: string) => Verdict {
  const rounds: string[] = []
  let before = 0
  return (round) => {
    rounds.push(round)
    if (rounds.length > stopAfter * MAX_CYCLE_ROUNDS) rounds.shift()
    let maxRepeats = 1
    for (let length = 1; length <= MAX_CYCLE_ROUNDS; length++)
      maxRepeats = Math.max(maxRepeats, countRepeats(rounds, length))
    const isFirst = maxRepeats >= warnAfter && before < warnAfter
    before = maxRepeats
    if (maxRepeats >= stopAfter) return 'stop'
    return isFirst ? 'warn' : 'continue'
  }
}

/** How many times in a row the last `length` rounds occur at the end. */
function countRepeats(rounds: readonly string[], length: number): number {
  let count = 1
  for (let at = rounds.length - 1; at - length >= 0; at--) {
    if (rounds[at] !== rounds[at - length]) break
    if ((rounds.length - 1 - at + 1) % length === 0) count++
  }
  return count
}
