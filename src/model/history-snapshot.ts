import type { Turn } from './turn.ts'

const histories = new WeakMap<readonly Turn[], readonly Turn[]>()

/** A copy of a history that grows. Whoever gets the copy in a request can keep it: it does not change under them. */
export function takeHistorySnapshot(history: readonly Turn[]): readonly Turn[] {
  const snapshot = Object.freeze([...history])
  histories.set(snapshot, history)
  return snapshot
}

/** The history that a snapshot was taken of, so that what is known of its earlier turns can be found again. */
export function getSnapshotSource(turns: readonly Turn[]): readonly Turn[] {
  return histories.get(turns) ?? turns
}
