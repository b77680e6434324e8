import { nonBlankString, stringOrEmpty } from '../../model/json.ts'
import type { PendingCall } from '../calls/call-assembler.ts'
import type { TurnBuilder } from '../turn/turn-builder.ts'
import type { JsonFields } from './content.ts'
import { getDeltaType, getStepType, readArguments, warnDropped } from './deltas.ts'
import { createEarlyCallStep, keepAnsweredCall, openStep, type TrackedStep } from './tracked-steps.ts'

/**
 * The steps of one response. Deviations from the protocol are resolved; if that is not possible, no call may run (T190).
 * Calls close at the end of the response, because until then the vendor may answer one by itself.
 */
export function createStepTracker(builder: TurnBuilder) {
  const all: TrackedStep[] = []
  const latestByIndex = new Map<number, TrackedStep>()
  /** Steps whose calls may still get arguments, all and at each index; those that are finished are removed when it is read. */
  let unfinished: TrackedStep[] = []
  const unfinishedByIndex = new Map<number, readonly TrackedStep[]>()
  let newest = -1

  function add(step: TrackedStep): TrackedStep {
    all.push(step)
    latestByIndex.set(step.index, step)
    newest = step.index
    if (step.pendingCall) {
      unfinished.push(step)
      unfinishedByIndex.set(step.index, [...(unfinishedByIndex.get(step.index) ?? []).filter(isUnfinished), step])
    }
    return step
  }

  function start(index: number, step: JsonFields): void {
    const current = latestByIndex.get(index)
    const type = stringOrEmpty(step['type'])
    if (type === '') {
      builder.warnOtherFields('a step without a type', step)
      return builder.warn('unknown-step', 'A step has no type; its deltas decide what it is (T190).')
    }
    const early = current?.isEarly && !current.isStopped ? current : undefined
    if (early?.type === type && !('args' in early)) return early.add(step, type)
    if (current?.pendingCall && !current.isStopped && isRepeatedStart(current.pendingCall, step))
      return builder.warn('repeated-step', 'A step was started twice; the second start was ignored (T190).')
    const opened = openStep(builder, index, step)
    // The next deltas at this index may still belong to an earlier call that is not complete.
    const before = (unfinishedByIndex.get(index) ?? []).filter(isUnfinished)
    if (opened.pendingCall && before.length > 0) markAmbiguous([...before, opened])
    // Arguments that came before the start of their call are added now.
    if (early && 'args' in early) opened.add({ arguments: early.args }, 'arguments_delta')
    else if (early) early.close(true)
    if (early) early.isStopped = true
    add(opened)
  }

  /** Arguments without an index may belong to any call that is still open. */
  function markUnindexed(): void {
    unfinished = unfinished.filter(isUnfinished)
    if (unfinished.length > 1) markAmbiguous(unfinished)
  }

  return {
    // A step without an index gets the next one; a delta without an index belongs to the newest step.
    start: (index: unknown, step: JsonFields) => start(typeof index === 'number' ? index : newest + 1, step),
    addDelta(index: unknown, delta: JsonFields): void {
      const at = typeof index === 'number' ? index : newest
      const current = latestByIndex.get(at)
      const type = getDeltaType(delta)
      const stepType = getStepType(type)
      if (typeof index !== 'number' && type === 'arguments_delta') markUnindexed()
      if (current && !current.isStopped) return current.add(delta, type)
      if (type === 'arguments_delta' && readArguments(delta) === '') return
      if (current && type === 'arguments_delta')
        return builder.markCorrupt('Arguments were received for a call that had ended (T190).')
      if (stepType === undefined) return warnDropped(builder, type, delta)
      if (type === 'arguments_delta') add(createEarlyCallStep(builder, at)).add(delta, type)
      else add(Object.assign(openStep(builder, at, { type: stepType }), { isEarly: true })).add(delta, type)
    },
    stop(index: unknown): void {
      const current = latestByIndex.get(typeof index === 'number' ? index : newest)
      if (!current) return builder.warn('unknown-step', 'A step was stopped that was never started (T190).')
      if (!current.isStopped && !current.pendingCall) current.close(true)
      current.isStopped = true
    },
    /** Closes the steps that were not stopped, and the calls; those that the vendor answered do not run. */
    end(hasEnded: boolean): void {
      for (const step of all) if (!step.isStopped && !step.pendingCall) step.close(hasEnded)
      const answered = new Set(all.map(({ answers }) => answers))
      for (const step of all) {
        const { pendingCall } = step
        if (pendingCall?.wireId !== undefined && answered.has(pendingCall.wireId))
          keepAnsweredCall(builder, pendingCall)
        else if (pendingCall) step.close(step.isStopped || hasEnded)
      }
    },
    /** The ids of the calls so far. */
    listCallIds: () => all.flatMap(({ pendingCall }) => (pendingCall ? [pendingCall.wireId ?? ''] : [])),
    count: () => all.length,
  }
}

function isUnfinished({ pendingCall, isStopped }: TrackedStep): boolean {
  return pendingCall !== undefined && !isStopped && !pendingCall.scan.isComplete
}

/** The calls may have received arguments of each other: none of them may run. */
function markAmbiguous(steps: readonly TrackedStep[]): void {
  for (const { pendingCall } of steps) if (pendingCall) pendingCall.isAmbiguous = true
}

function isRepeatedStart(pendingCall: PendingCall, step: JsonFields): boolean {
  return (
    step['type'] === 'function_call' &&
    nonBlankString(step['id']) === pendingCall.wireId &&
    step['name'] === pendingCall.nameFragments[0] &&
    !pendingCall.scan.isComplete
  )
}
