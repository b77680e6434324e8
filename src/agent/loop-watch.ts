import { canonical } from '../model/json.ts'
import { resultText } from '../model/text.ts'
import type { CallPart, ResultPart } from '../model/turn.ts'

/** How often the same round may come back before the model is told, and before the run is stopped. */
const TELL = 4
const STOP = 7

/** The longest cycle of rounds that is noticed. */
const LONGEST = 3

/**
 * Notices a model that goes round in circles: the same calls with the same arguments and the same results, again and
 * again (T164). Waiting for something that changes is no circle, for then the results differ.
 */
export function startLoopWatch() {
  const rounds: string[] = []
  return {
    seen(calls: readonly CallPart[], results: readonly ResultPart[]): 'go on' | 'tell' | 'stop' {
      const made = calls.map((call) => [call.name, call.input ?? call.raw])
      rounds.push(canonical([made, results.map(resultText)]))
      if (rounds.length > STOP * LONGEST) rounds.shift()
      let most = 1
      for (let length = 1; length <= LONGEST; length++) most = Math.max(most, repeats(rounds, length))
      if (most >= STOP) return 'stop'
      return most === TELL ? 'tell' : 'go on'
    },
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
