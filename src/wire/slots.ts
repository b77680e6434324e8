import type { Slot } from './calls.ts'

/** The calls of one turn as far as they came, and the ways to find one without looking at all of them. */
export interface Slots {
  readonly all: readonly Slot[]
  add(slot: Slot): void
  /** A fragment with this id went to the call. */
  name(slot: Slot, id: string): void
  /** A fragment went to the call: of all, and of all at its place, it is the one that was last spoken of. */
  touch(slot: Slot): void
  /** The calls that came under an id, in order. */
  withId(id: string): readonly Slot[]
  /** How many calls are at a place. */
  countAt(index: number | undefined): number
  /** The call that was last spoken of; at a vendor's index, or among those without one. */
  newest(): Slot | undefined
  newestAt(index: number | undefined): Slot | undefined
  /** The calls that are still coming in, in order. */
  open(): readonly Slot[]
}

/** Starts the list of one turn. */
export function startSlots(): Slots {
  const all: Slot[] = []
  const byId = new Map<string, Slot[]>()
  const placed = new Set<Slot>()
  const counts = new Map<number | undefined, number>()
  const lastAt = new Map<number | undefined, Slot>()
  let last: Slot | undefined
  // A call that is complete or closed stays so: it is left out when it is next met.
  let waiting: Slot[] = []

  function count(slot: Slot, change: 1 | -1, index: number | undefined): void {
    counts.set(index, (counts.get(index) ?? 0) + change)
    if (change === 1 && index !== undefined) placed.add(slot)
  }

  return {
    all,
    add(slot) {
      all.push(slot)
      waiting.push(slot)
      count(slot, 1, slot.wireIndex)
    },
    name(slot, id) {
      const known = byId.get(id)
      if (!known) byId.set(id, [slot])
      else if (known.at(-1) !== slot && !known.includes(slot)) known.push(slot)
    },
    touch(slot) {
      // Its place may have become known only now.
      if (slot.wireIndex !== undefined && !placed.has(slot)) {
        count(slot, -1, undefined)
        count(slot, 1, slot.wireIndex)
        if (lastAt.get(undefined) === slot) lastAt.set(undefined, newestOf(all, undefined) ?? slot)
      }
      last = slot
      lastAt.set(slot.wireIndex, slot)
    },
    withId: (id) => byId.get(id) ?? [],
    countAt: (index) => counts.get(index) ?? 0,
    newest: () => last,
    newestAt: (index) => (countAtLeastOne(counts, index) ? lastAt.get(index) : undefined),
    open() {
      if (!waiting.every(isOpen)) waiting = waiting.filter(isOpen)
      return waiting
    },
  }
}

/** Does more of this call have to come? */
export function isOpen(slot: Slot): boolean {
  return !slot.closed && !slot.scan.complete
}

function countAtLeastOne(counts: ReadonlyMap<number | undefined, number>, index: number | undefined): boolean {
  return (counts.get(index) ?? 0) > 0
}

function newestOf(slots: readonly Slot[], index: number | undefined): Slot | undefined {
  let found: Slot | undefined
  for (const slot of slots) if (slot.wireIndex === index && slot.touched >= (found?.touched ?? 0)) found = slot
  return found
}
