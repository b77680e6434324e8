import type { TurnEvent } from '../../model/event.ts'
import type { Fault } from '../../model/fault.ts'
import type { ModelPort } from '../port.ts'

/** A port that asks in another way, and is otherwise the one inside it, also where that one changes. */
export function wrapped(inner: ModelPort, ask: ModelPort['ask']): ModelPort {
  const own = { ask: { value: ask, enumerable: true } }
  return Object.defineProperties({}, { ...Object.getOwnPropertyDescriptors(inner), ...own }) as ModelPort
}

/** The last event of a turn. */
export type FinishEvent = Extract<TurnEvent, { type: 'finish' }>

/** Passes the events of an answer on, all but the last, which it gives back; a warning that was told before is not told again. */
export async function* passOn(
  events: AsyncIterable<TurnEvent>,
  told: Set<string>,
  seen: (event: TurnEvent) => void = () => {},
): AsyncGenerator<TurnEvent, FinishEvent> {
  let finish: FinishEvent | undefined
  for await (const event of events) {
    seen(event)
    if (event.type === 'finish') finish ??= event
    else if (event.type !== 'warn') yield event
    else {
      const words = `${event.warning.code}: ${event.warning.message}`
      if (!told.has(words)) yield event
      told.add(words)
    }
  }
  return finish ?? { type: 'finish', reason: 'fault', fault: BROKE_OFF }
}

const BROKE_OFF: Fault = { kind: 'transport', message: 'The answer broke off.' }

/** The key of another attempt: the ids of its calls must not be those of the attempt before. */
export function keyOf(key: string, mark: string, attempt: number): string {
  return attempt === 0 ? key : `${key}${mark}${attempt}`
}

/** A sentence that ends like one. */
export function sentence(text: string): string {
  return /[.!?]$/.test(text.trim()) ? text.trim() : `${text.trim()}.`
}
