import type { TurnEvent } from '../../model/event.ts'
import type { Fault } from '../../model/fault.ts'
import type { Model } from '../model.ts'

/** A model with another `stream`; everything else is read from `inner`, also when it changes. */
export function wrapModel(inner: Model, ask: Model['stream']): Model {
  const override = { stream: { value: ask, enumerable: true } }
  return Object.defineProperties({}, { ...Object.getOwnPropertyDescriptors(inner), ...override }) as Model
}

export type FinishEvent = Extract<TurnEvent, { type: 'finish' }>

/** One attempt at a response. Its events are forwarded except the last; a warning is forwarded once. */
export function createAttempt(reportedWarnings: Set<string>) {
  let finish: FinishEvent | undefined
  return {
    isForwarded(event: TurnEvent): boolean {
      if (event.type === 'finish') finish ??= event
      if (event.type !== 'warn') return event.type !== 'finish'
      const warningKey = `${event.warning.code}: ${event.warning.message}`
      const isNew = !reportedWarnings.has(warningKey)
      reportedWarnings.add(warningKey)
      return isNew
    },
    /** The last event. */
    getFinish: (): FinishEvent => finish ?? { type: 'finish', reason: 'fault', fault: TRUNCATED_FAULT },
  }
}

const TRUNCATED_FAULT: Fault = { kind: 'transport', message: 'The response broke off.' }

/** The key of another attempt: its calls must not get the ids of the previous attempt. */
export function deriveAttemptKey(key: string, mark: string, attempt: number): string {
  return attempt === 0 ? key : `${key}${mark}${attempt}`
}
