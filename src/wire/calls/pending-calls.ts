import type { PendingCall } from './call-assembler.ts'
import { createOpenList, type OpenList } from './open-list.ts'

export type PendingCalls = ReturnType<typeof createPendingCalls>

/** The calls of one turn, indexed so that finding one does not take time in proportion to their number. */
export function createPendingCalls() {
  const all: PendingCall[] = []
  const byId = createLookup<string>()
  const byIdAndIndex = createLookup<string>()
  const counts = new Map<number | undefined, number>()
  const newestByIndex = new Map<number, PendingCall>()
  const latestByIndex = new Map<number | undefined, PendingCall>()
  let last: PendingCall | undefined
  const openCalls = createOpenCalls()
  const openByIndex = new Map<number | undefined, OpenList<PendingCall>>()
  const unindexed = new Set<PendingCall>()

  function getOpenAtIndex(index: number | undefined): OpenList<PendingCall> {
    const calls = openByIndex.get(index) ?? createOpenCalls()
    openByIndex.set(index, calls)
    return calls
  }

  function count(index: number | undefined, change: 1 | -1): void {
    counts.set(index, (counts.get(index) ?? 0) + change)
  }

  function addAtIndex(pendingCall: PendingCall): void {
    const { wireIndex, ordinal, ids } = pendingCall
    count(wireIndex, 1)
    if (wireIndex === undefined) return void unindexed.add(pendingCall)
    if (ordinal >= (newestByIndex.get(wireIndex)?.ordinal ?? 0)) newestByIndex.set(wireIndex, pendingCall)
    for (const id of ids) byIdAndIndex.add(toKey(id, wireIndex), pendingCall)
  }

  /** Its index has become known only now. */
  function moveToIndex(pendingCall: PendingCall): void {
    unindexed.delete(pendingCall)
    count(undefined, -1)
    addAtIndex(pendingCall)
    if (getOpenAtIndex(undefined).remove(pendingCall)) getOpenAtIndex(pendingCall.wireIndex).add(pendingCall)
    if (latestByIndex.get(undefined) === pendingCall)
      latestByIndex.set(undefined, findLatestUpdate(unindexed) ?? pendingCall)
  }

  return {
    all: all as readonly PendingCall[],
    add(pendingCall: PendingCall): void {
      all.push(pendingCall)
      addAtIndex(pendingCall)
      openCalls.add(pendingCall)
      getOpenAtIndex(pendingCall.wireIndex).add(pendingCall)
    },
    addId(pendingCall: PendingCall, id: string): void {
      if (pendingCall.ids.has(id)) return
      pendingCall.ids.add(id)
      byId.add(id, pendingCall)
      if (pendingCall.wireIndex !== undefined) byIdAndIndex.add(toKey(id, pendingCall.wireIndex), pendingCall)
    },
    /** A fragment was added to the call: it is the latest of all, and the latest at its index. */
    markUpdated(pendingCall: PendingCall): void {
      if (pendingCall.wireIndex !== undefined && unindexed.has(pendingCall)) moveToIndex(pendingCall)
      last = pendingCall
      latestByIndex.set(pendingCall.wireIndex, pendingCall)
    },
    /** A call that is complete or closed stays so. */
    updateOpen(pendingCall: PendingCall): void {
      if (isCallOpen(pendingCall) || !openCalls.remove(pendingCall)) return
      getOpenAtIndex(pendingCall.wireIndex).remove(pendingCall)
    },
    findById: byId.get,
    findLastByIdAtIndex: (id: string, index: number) => byIdAndIndex.get(toKey(id, index)).at(-1),
    countAtIndex: (index: number | undefined) => counts.get(index) ?? 0,
    findNewestAtIndex: (index: number) => newestByIndex.get(index),
    findLatest: () => last,
    /** Without an index: the latest of the calls that have none. */
    findLatestAtIndex: (index: number | undefined) =>
      (counts.get(index) ?? 0) > 0 ? latestByIndex.get(index) : undefined,
    openCalls,
    getOpenAtIndex,
  }
}

export function isCallOpen(pendingCall: PendingCall): boolean {
  return !pendingCall.isClosed && !pendingCall.scan.isComplete
}

function createOpenCalls(): OpenList<PendingCall> {
  return createOpenList(({ isAmbiguous }) => isAmbiguous)
}

function createLookup<Key>() {
  const lists = new Map<Key, PendingCall[]>()
  return {
    get: (key: Key): readonly PendingCall[] => lists.get(key) ?? [],
    add(key: Key, pendingCall: PendingCall): void {
      const list = lists.get(key)
      if (list) list.push(pendingCall)
      else lists.set(key, [pendingCall])
    },
  }
}

function toKey(id: string, index: number): string {
  return `${index} ${id}`
}

function findLatestUpdate(pendingCalls: Iterable<PendingCall>): PendingCall | undefined {
  let latest: PendingCall | undefined
  for (const pendingCall of pendingCalls)
    if (!latest || pendingCall.lastUpdate > latest.lastUpdate) latest = pendingCall
  return latest
}
