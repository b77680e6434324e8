import type { Place } from '../misbehaviour.ts'
import type { Spot } from '../write-answer.ts'

/** A place in a list of events: so many come whole, and of the next one so much. */
export interface Located {
  readonly index: number
  readonly of?: 'half' | 'all-but-one'
}

/** Finds a place in a stream. What the stream does not have is looked for in its middle. */
export function locate(spots: readonly Spot[], at: Place): Located {
  if (typeof at === 'number') return { index: Math.min(at, spots.length) }
  const middle = Math.floor(spots.length / 2)
  if (at === 'start' || at === 'first-event') return { index: Math.min(at === 'start' ? 0 : 1, spots.length) }
  if (at === 'frame') return { index: middle, of: 'half' }
  if (at === 'delimiter') return { index: middle, of: 'all-but-one' }
  if (at === 'before-end') return { index: endOf(spots) }
  if (at === 'after-call') return { index: lastCall(spots) + 1 || endOf(spots) }
  return inside(spots, at) ?? { index: middle }
}

/** The middle of the events of one kind. Where there is only one, the middle of that one: so with Gemini's calls. */
function inside(spots: readonly Spot[], wanted: Spot): Located | undefined {
  const kind = wanted === 'arguments' && !spots.includes('arguments') ? 'call' : wanted
  const found = spots.flatMap((spot, index) => (spot === kind ? [index] : []))
  const [first] = found
  if (first === undefined) return undefined
  return found.length === 1 ? { index: first, of: 'half' } : { index: found[Math.ceil(found.length / 2)] ?? first }
}

function lastCall(spots: readonly Spot[]): number {
  return spots.findLastIndex((spot) => spot === 'call' || spot === 'arguments' || spot === 'call-end')
}

function endOf(spots: readonly Spot[]): number {
  const end = spots.indexOf('end')
  return end < 0 ? spots.length : end
}
