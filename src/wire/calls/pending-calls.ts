import type { PendingCall } from './call-assembler.ts'

export type PendingCalls = ReturnType<typeof createPendingCalls>

/** The calls of one turn, indexed so that finding one does not take time in proportion to their number. */
export function createPendingCalls() {
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
    all: all as readonly PendingCall[],
    add(pendingCall: PendingCall): void {
      all.push(pendingCall)
      openCalls.push(pendingCall)
      count(pendingCall, 1, pendingCall.wireIndex)
    },
    addId(pendingCall: PendingCall, id: string): void {
      const sameId = byId.get(id)
      if (!sameId) byId.set(id, [pendingCall])
      else if (sameId.at(-1) !== pendingCall && !sameId.includes(pendingCall)) sameId.push(pendingCall)
    },
    /** A fragment was added to the call: it is the latest of all, and the latest at its index. */
    markUpdated(pendingCall: PendingCall): void {
      // Its index may have become known only now.
      if (pendingCall.wireIndex !== undefined && !indexedCalls.has(pendingCall)) {
        count(pendingCall, -1, undefined)
        count(pendingCall, 1, pendingCall.wireIndex)
        if (latestByIndex.get(undefined) === pendingCall)
          latestByIndex.set(undefined, searchLatestWithoutIndex(all) ?? pendingCall)
      }
      last = pendingCall
      latestByIndex.set(pendingCall.wireIndex, pendingCall)
    },
    findById: (id: string): readonly PendingCall[] => byId.get(id) ?? [],
    countAtIndex: (index: number | undefined) => counts.get(index) ?? 0,
    findLatest: () => last,
    /** Without an index: the latest of the calls that have none. */
    findLatestAtIndex: (index: number | undefined) =>
      (counts.get(index) ?? 0) > 0 ? latestByIndex.get(index) : undefined,
    listOpen(): readonly PendingCall[] {
      if (!openCalls.every(isCallOpen)) openCalls = openCalls.filter(isCallOpen)
      return openCalls
    },
  }
}

export function isCallOpen(pendingCall: PendingCall): boolean {
  return !pendingCall.isClosed && !pendingCall.scan.isComplete
}

function searchLatestWithoutIndex(pendingCalls: readonly PendingCall[]): PendingCall | undefined {
  const calls = pendingCalls.filter(({ wireIndex }) => wireIndex === undefined)
  return calls.toSorted((one, other) => one.lastUpdate - other.lastUpdate).at(-1)
}
