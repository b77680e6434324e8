export interface LinkedRecord<T> {
  readonly id: string
  readonly parent: string | undefined
  readonly record: T
}

export interface Branch<T> {
  /** From the first record to the last one. */
  readonly records: readonly T[]
  /** How often a record named a parent that is not there; the record before it in the file was taken instead. */
  readonly missingLinks: number
}

/** The branch of a log that is a tree: from its last record back to the first one. */
export function followBranch<T>(all: readonly LinkedRecord<T>[], leaf = all.at(-1)): Branch<T> {
  const positions = new Map<string, number>()
  // A record that was written twice counts once, at its first place.
  for (const [at, { id }] of all.entries()) if (!positions.has(id)) positions.set(id, at)
  const records: T[] = []
  let missingLinks = 0
  let at = leaf === undefined ? undefined : positions.get(leaf.id)
  while (at !== undefined) {
    const current = all[at]
    if (!current) break
    records.unshift(current.record)
    if (current.parent === undefined) break
    const parent = positions.get(current.parent)
    // A link to itself or forwards would never end.
    const isUsable = parent !== undefined && parent < at
    if (!isUsable) missingLinks++
    at = isUsable ? parent : at > 0 ? positions.get(all[at - 1]?.id ?? '') : undefined
    if (at !== undefined && all[at] === current) break
  }
  return { records, missingLinks }
}
