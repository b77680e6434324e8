import { toCanonicalJson } from '../../model/json.ts'
import { formatResultText } from '../../model/text.ts'
import type { CallPart } from '../../model/turn.ts'
import { base62Hash } from '../../schema/hash.ts'
import type { CallOutcome } from '../calls/execute-calls.ts'

/** How often something may come back before the model is told, and before the run is stopped. */
interface RepetitionLimits {
  readonly warnAfter: number
  readonly stopAfter: number
}

/** The same calls with the same results: nothing will ever change. */
const SAME_RESULT_LIMITS: RepetitionLimits = { warnAfter: 4, stopAfter: 7 }

/**
 * The same calls with other results: somebody may wait for something, but not for ever. This is for tools that say of their
 * results that parts of them vary each time; where another result means that something changed, the run goes on.
 */
const SAME_CALL_LIMITS: RepetitionLimits = { warnAfter: 15, stopAfter: 60 }

/** The longest cycle of rounds that is noticed. */
const MAX_CYCLE_ROUNDS = 6

/** Notices a model that goes round in circles: the same calls, or the same few rounds, again and again (T164). */
export function createRepetitionDetector() {
  const checkSameResults = createRepeatCounter(SAME_RESULT_LIMITS)
  const calls = createRepeatCounter(SAME_CALL_LIMITS)
  return {
    check(madeCalls: readonly CallPart[], outcomes: readonly CallOutcome[]): 'go on' | 'tell' | 'stop' {
      const call = toCanonicalJson(madeCalls.map((one) => [one.name, one.input ?? one.raw]))
      const result = toCanonicalJson(
        outcomes.map(({ result: one, stable }) => [one.status, stable ?? formatResultText(one)]),
      )
      const varies = outcomes.every(({ stable }) => stable !== undefined)
      const verdicts = [
        checkSameResults(base62Hash(`${call}\n${result}`, 10)),
        ...(varies ? [calls(base62Hash(call, 10))] : []),
      ]
      return (['stop', 'tell'] as const).find((one) => verdicts.includes(one)) ?? 'go on'
    },
  }
}

function createRepeatCounter({ warnAfter, stopAfter }: RepetitionLimits): (round: string) => 'go on' | 'tell' | 'stop' {
  const rounds: string[] = []
  let before = 0
  return (round) => {
    rounds.push(round)
    if (rounds.length > stopAfter * MAX_CYCLE_ROUNDS) rounds.shift()
    let maxRepeats = 1
    for (let length = 1; length <= MAX_CYCLE_ROUNDS; length++)
      maxRepeats = Math.max(maxRepeats, countRepeats(rounds, length))
    const isNews = maxRepeats >= warnAfter && before < warnAfter
    before = maxRepeats
    if (maxRepeats >= stopAfter) return 'stop'
    return isNews ? 'tell' : 'go on'
  }
}

/** How often the last `length` rounds stand at the end, one after the other. */
function countRepeats(rounds: readonly string[], length: number): number {
  let count = 1
  for (let at = rounds.length - 1; at - length >= 0; at--) {
    if (rounds[at] !== rounds[at - length]) break
    if ((rounds.length - 1 - at + 1) % length === 0) count++
  }
  return count
}
