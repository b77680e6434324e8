/** Checks the sequence numbers of events: finds repeated and missing ones. */
export interface EventSequenceChecker {
  /** Was this event received before? */
  isRepeated(type: string, value: Readonly<Record<string, unknown>>): boolean
  /** The first place where events are missing. */
  readonly gap: { readonly after: number; readonly next: number } | undefined
}

/** Within this distance a repeat is recognised by its content; an older number that comes again is always a repeat. */
const REPEAT_WINDOW = 64

/** If a server gives different events the same number, its numbers are ignored. */
export function createEventSequenceChecker(): EventSequenceChecker {
  const recent: ({ readonly type: string; readonly value: Readonly<Record<string, unknown>> } | undefined)[] = []
  let last: number | undefined
  let gap: EventSequenceChecker['gap']
  let trusted = true

  return {
    isRepeated(type, value) {
      const number = value['sequence_number']
      if (typeof number !== 'number' || !trusted) return false
      if (last === undefined || number > last) {
        if (last !== undefined && number > last + 1) gap ??= { after: last, next: number }
        last = number
        recent[number % REPEAT_WINDOW] = { type, value }
        return false
      }
      const before = recent[number % REPEAT_WINDOW]
      if (before?.value['sequence_number'] !== number) {
        if (number > last - REPEAT_WINDOW) return false
        // Either it is a repeat, or the numbering restarted; only the final list shows what was lost.
        gap ??= { after: last, next: number }
        return true
      }
      if (before.type === type && isSameEvent(before.value, value)) return true
      trusted = false
      gap = undefined
      return false
    },
    get gap() {
      return gap
    },
  }
}

function isSameEvent(before: Readonly<Record<string, unknown>>, value: Readonly<Record<string, unknown>>): boolean {
  return before['output_index'] === value['output_index'] && before['delta'] === value['delta']
}
