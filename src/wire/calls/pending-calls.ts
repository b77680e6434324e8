import type { PendingCall } from './call-assembler.ts'

/** The calls of one turn as far as they came, and the ways to find one without looking at all of them. */
export interface PendingCalls {
  readonly all: readonly PendingCall[]
  add(pendingCall: PendingCall): void
  /** A fragment with this id went to the call. */
  addId(pendingCall: PendingCall, id: string): void
  /** A fragment went to the call: of all, and of all at its place, it is the one that was last spoken of. */
  markUpdated(pendingCall: PendingCall): void
  /** The calls that came under an id, in order. */
  findById(id: string): readonly PendingCall[]
  /** How many calls are at a place. */
  countAtIndex(index: number | undefined): number
  /** The call that was last spoken of; at a vendor's index, or among those without one. */
  findLatest(): PendingCall | undefined
  findLatestAtIndex(index: number | undefined): PendingCall | undefined
  /** The calls that are still coming in, in order. */
  listOpen(): readonly PendingCall[]
}

/** Starts the list of one turn. */
export function createPendingCalls(): PendingCalls {
  const all: PendingCall[] = []
  const byId = new Map<string, PendingCall[]>()
  const indexedCalls = new Set<PendingCall>()
  const counts = new Map<number | undefined, number>()
  const latestByIndex = new Map<number | undefined, PendingCall>()
  let last: PendingCall | undefined
  // A call that is complete or closed stays so: it is left out when it is next met.
  let openCalls: PendingCall[] = []

  function count(pendingCall: PendingCall, change: 1 | -1, index: number | undefined): void {
    counts.set(index, (counts.get(index) ?? 0) + change)
    if (change === 1 && index !== undefined) indexedCalls.add(pendingCall)
  }

  return {
    all,
    add(pendingCall) {
      all.push(pendingCall)
      openCalls.push(pendingCall)
      count(pendingCall, 1, pendingCall.wireIndex)
    },
    addId(pendingCall, id) {
      const sameId = byId.get(id)
      if (!sameId) byId.set(id, [pendingCall])
      else if (sameId.at(-1) !== pendingCall && !sameId.includes(pendingCall)) sameId.push(pendingCall)
    },
    markUpdated(pendingCall) {
      // Its place may have become known only now.
      if (pendingCall.wireIndex !== undefined && !indexedCalls.has(pendingCall)) {
        count(pendingCall, -1, undefined)
        count(pendingCall, 1, pendingCall.wireIndex)
        if (latestByIndex.get(undefined) === pendingCall)
          latestByIndex.set(undefined, searchLatestAtIndex(all, undefined) ?? pendingCall)
      }
      last = pendingCall
      latestByIndex.set(pendingCall.wireIndex, pendingCall)
    },
    findById: (id) => byId.get(id) ?? [],
    countAtIndex: (index) => counts.get(index) ?? 0,
    findLatest: () => last,
    findLatestAtIndex: (index) => (hasCallAtIndex(counts, index) ? latestByIndex.get(index) : undefined),
    listOpen() {
      if (!openCalls.every(isCallOpen)) openCalls = openCalls.filter(isCallOpen)
      return openCalls
    },
  }
}

/** Does more of this call have to come? */
export function isCallOpen(pendingCall: PendingCall): boolean {
  return !pendingCall.isClosed && !pendingCall.scan.isComplete
}

function hasCallAtIndex(counts: ReadonlyMap<number | undefined, number>, index: number | undefined): boolean {
  return (counts.get(index) ?? 0) > 0
}

function searchLatestAtIndex(pendingCalls: readonly PendingCall[], index: number | undefined): PendingCall | undefined {
  let found: PendingCall | undefined
  for (const pendingCall of pendingCalls)
    if (pendingCall.wireIndex === index && pendingCall.lastUpdate >= (found?.lastUpdate ?? 0)) found = pendingCall
  return found
}
