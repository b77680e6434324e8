/** Watches the numbers of events: one that comes again is dropped, one that never comes is noticed. */
export interface EventSequence {
  /** Was this very event here before? */
  isRepeated(type: string, value: Readonly<Record<string, unknown>>): boolean
  /** What is missing, in a sentence. */
  readonly gapMessage: string | undefined
}

/** How far back a repeat is recognised by what it says; an older number that comes again is a repeat anyway. */
const REPEAT_WINDOW = 64

/** Starts the watch of one stream. Servers that number every event alike are not believed. */
export function createEventSequence(): EventSequence {
  const recent: ({ readonly type: string; readonly value: Readonly<Record<string, unknown>> } | undefined)[] = []
  let last: number | undefined
  let gap: string | undefined
  let trusted = true

  return {
    isRepeated(type, value) {
      const number = value['sequence_number']
      if (typeof number !== 'number' || !trusted) return false
      if (last === undefined || number > last) {
        if (last !== undefined && number > last + 1)
          gap ??= `Events are missing between number ${last} and number ${number}.`
        last = number
        recent[number % REPEAT_WINDOW] = { type, value }
        return false
      }
      const before = recent[number % REPEAT_WINDOW]
      if (before?.value['sequence_number'] !== number) {
        if (number > last - REPEAT_WINDOW) return false
        // Either it is a repeat, or the count began anew; only the list at the end can tell what was lost.
        gap ??= `After number ${last} came number ${number}.`
        return true
      }
      if (before.type === type && isSameEvent(before.value, value)) return true
      trusted = false
      gap = undefined
      return false
    },
    get gapMessage() {
      return gap
    },
  }
}

function isSameEvent(before: Readonly<Record<string, unknown>>, value: Readonly<Record<string, unknown>>): boolean {
  return before['output_index'] === value['output_index'] && before['delta'] === value['delta']
}
