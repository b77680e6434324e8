import type { PendingCall } from './call-assembler.ts'

/** The calls of one turn, indexed so that finding one does not take time in proportion to their number. */
export interface PendingCalls {
  readonly all: readonly PendingCall[]
  add(pendingCall: PendingCall): void
  /** A fragment with this id was added to the call. */
  addId(pendingCall: PendingCall, id: string): void
  /** A fragment was added to the call: it is the latest of all, and the latest at its index. */
  markUpdated(pendingCall: PendingCall): void
  findById(id: string): readonly PendingCall[]
  countAtIndex(index: number | undefined): number
  /** The call that was updated last. */
  findLatest(): PendingCall | undefined
  /** The same at a vendor's index, or among the calls without one. */
  findLatestAtIndex(index: number | undefined): PendingCall | undefined
  /** The calls that are not complete, in order. */
  listOpen(): readonly PendingCall[]
}

export function createPendingCalls(): PendingCalls {
  const all: PendingCall[] = []
  const byId = new Map<string, PendingCall[]>()
  const indexedCalls = new Set<PendingCall>()
  const counts = new Map<number | undefined, number>()
  const latestByIndex = new Map<number | undefined, PendingCall>()
  let last: PendingCall | undefined
  // A call that is complete or closed stays so, so it is removed lazily.
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
      // Its index may have become known only now.
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
    findLatestAtIndex: (index) => ((counts.get(index) ?? 0) > 0 ? latestByIndex.get(index) : undefined),
    listOpen() {
      if (!openCalls.every(isCallOpen)) openCalls = openCalls.filter(isCallOpen)
      return openCalls
    },
  }
}

/** Is more of this call expected? */
export function isCallOpen(pendingCall: PendingCall): boolean {
  return !pendingCall.isClosed && !pendingCall.scan.isComplete
}

function searchLatestAtIndex(pendingCalls: readonly PendingCall[], index: number | undefined): PendingCall | undefined {
  let found: PendingCall | undefined
  for (const pendingCall of pendingCalls)
    if (pendingCall.wireIndex === index && pendingCall.lastUpdate >= (found?.lastUpdate ?? 0)) found = pendingCall
  return found
}
