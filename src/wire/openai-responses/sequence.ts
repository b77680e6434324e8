/** Watches the numbers of events: one that comes again is dropped, one that never comes is noticed. */
export interface Sequence {
  /** Was this very event here before? */
  repeated(type: string, value: Readonly<Record<string, unknown>>): boolean
  /** What is missing, in a sentence. */
  readonly gap: string | undefined
}

/** Starts the watch of one stream. Servers that number every event alike are not believed. */
export function startSequence(): Sequence {
  const seen = new Map<number, string>()
  let last: number | undefined
  let gap: string | undefined
  let trusted = true

  return {
    repeated(type, value) {
      const number = value['sequence_number']
      if (typeof number !== 'number' || !trusted) return false
      const mark = [type, value['output_index'], value['delta']].join(' ')
      const before = seen.get(number)
      if (before === mark) return true
      if (before !== undefined) {
        trusted = false
        gap = undefined
        return false
      }
      seen.set(number, mark)
      if (last !== undefined && number > last + 1)
        gap ??= `Events are missing between number ${last} and number ${number}.`
      last = Math.max(last ?? number, number)
      return false
    },
    get gap() {
      return gap
    },
  }
}
