import { AssertionError } from 'node:assert'
import type { RehearsalFailure } from '../request/recorded-request.ts'
import { isScriptLoop, type RehearsalScript, type ScriptStep } from '../script/script.ts'
import { parseRehearsalScript } from '../script/script-schema.ts'

/** The steps of a script, or a script with settings. */
export type ScriptInput = RehearsalScript['steps'] | RehearsalScript

/** Throws if it is not a script. The result is a copy in which each step is an object of its own, so that it can be counted. */
export function toScript(input: ScriptInput): RehearsalScript {
  const script = Array.isArray(input) ? { steps: input as RehearsalScript['steps'] } : input
  return parseRehearsalScript(JSON.parse(JSON.stringify(script)))
}

/** Throws an AssertionError if a request failed, or if a step was not requested as often as the script says. */
export function assertScriptDone(
  { steps }: RehearsalScript,
  counts: ReadonlyMap<ScriptStep, number>,
  failures: readonly RehearsalFailure[],
): void {
  const problems = [
    ...failures.map(({ requestNumber, message }) => `Request ${requestNumber}: ${message}`),
    ...describeMissingSteps(steps, counts, 'steps', 1),
  ]
  if (problems.length > 0) throw new AssertionError({ message: problems.join('\n'), stackStartFn: assertScriptDone })
}

/** A step with `when` may be left out. An endless loop must be played once. */
function describeMissingSteps(
  steps: RehearsalScript['steps'],
  counts: ReadonlyMap<ScriptStep, number>,
  path: string,
  rounds: number,
): string[] {
  return steps.flatMap((entry, at) => {
    const place = `${path}[${at}]`
    if (isScriptLoop(entry))
      return describeMissingSteps(entry.loop, counts, `${place}.loop`, rounds * (entry.times ?? 1))
    const expected = entry.when ? 0 : rounds * (entry.repeat ?? 1)
    const actual = counts.get(entry) ?? 0
    if (actual >= expected) return []
    const often = expected === 1 ? 'was not requested' : `was requested ${actual} times, not ${expected} times`
    return [`${place} ${often}: ${JSON.stringify(entry)}`]
  })
}
