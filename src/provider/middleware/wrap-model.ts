import type { TurnEvent } from '../../model/event.ts'
import type { Fault } from '../../model/fault.ts'
import type { Model } from '../model.ts'

/** A model with another `stream`; everything else is read from `inner`, also when it changes. */
export function wrapModel(inner: Model, ask: Model['stream']): Model {
  const override = { stream: { value: ask, enumerable: true } }
  return Object.defineProperties({}, { ...Object.getOwnPropertyDescriptors(inner), ...override }) as Model
}

export type FinishEvent = Extract<TurnEvent, { type: 'finish' }>

/** Forwards the events of a response except the last, which it returns. A warning is forwarded once. */
export async function* forwardTurnEvents(
  events: AsyncIterable<TurnEvent>,
  reportedWarnings: Set<string>,
  onEvent: (event: TurnEvent) => void = () => {},
): AsyncGenerator<TurnEvent, FinishEvent> {
  let finish: FinishEvent | undefined
  for await (const event of events) {
    onEvent(event)
    if (event.type === 'finish') finish ??= event
    else if (event.type !== 'warn') yield event
    else {
      const warningKey = `${event.warning.code}: ${event.warning.message}`
      if (!reportedWarnings.has(warningKey)) yield event
      reportedWarnings.add(warningKey)
    }
  }
  return finish ?? { type: 'finish', reason: 'fault', fault: TRUNCATED_FAULT }
}

const TRUNCATED_FAULT: Fault = { kind: 'transport', message: 'The response broke off.' }

/** The key of another attempt: its calls must not get the ids of the previous attempt. */
export function deriveAttemptKey(key: string, mark: string, attempt: number): string {
  return attempt === 0 ? key : `${key}${mark}${attempt}`
}
