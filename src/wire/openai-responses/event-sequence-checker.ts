import type { JsonFields } from './output-item.ts'

/** Within this distance a repeat is recognised by its content; an older number that comes again is always a repeat. */
const REPEAT_WINDOW = 64

/** Finds repeated and missing events by their numbers, unless a server gives different events the same number. */
export function createEventSequenceChecker() {
  const recent: ({ readonly type: string; readonly value: JsonFields } | undefined)[] = []
  let last: number | undefined
  let gap: { readonly after: number; readonly next: number } | undefined
  let trusted = true

  return {
    isRepeated(type: string, value: JsonFields): boolean {
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
    /** The first place where events are missing. */
    getGap: () => gap,
  }
}

function isSameEvent(before: JsonFields, value: JsonFields): boolean {
  return before['output_index'] === value['output_index'] && before['delta'] === value['delta']
}
