import type { SessionKey } from '../backend.ts'
import { toKeyText } from './local-state.ts'

interface Listeners<Event> {
  add(session: SessionKey, listener: (event: Event) => void): { stop(): void }
  call(session: SessionKey, event: Event): void
}

/** Callbacks for each session. */
export function createListeners<Event>(): Listeners<Event> {
  const bySession = new Map<string, Set<(event: Event) => void>>()
  return {
    add(session, listener) {
      const key = toKeyText(session)
      const all = bySession.get(key) ?? new Set()
      // The same function may be added twice.
      const one = (event: Event): void => listener(event)
      bySession.set(key, all.add(one))
      return {
        stop() {
          all.delete(one)
          if (all.size === 0 && bySession.get(key) === all) bySession.delete(key)
        },
      }
    },
    call(session, event) {
      // A set may change while it is iterated.
      for (const listener of bySession.get(toKeyText(session)) ?? []) listener(event)
    },
  }
}
