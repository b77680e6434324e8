export type OpenList<Item> = ReturnType<typeof createOpenList<Item>>

/**
 * What is open, in the order in which it was added. Whoever closes an item removes it, so nothing has to be searched for what
 * is still open; the order is cleaned up only when all of it is read. `isMarked`, once true of an item, stays so.
 */
export function createOpenList<Item>(isMarked: (item: Item) => boolean = () => false) {
  const open = new Set<Item>()
  let ordered: Item[] = []
  let unmarked: Item[] = []

  return {
    add(item: Item): void {
      open.add(item)
      ordered.push(item)
      unmarked.push(item)
    },
    remove: (item: Item) => open.delete(item),
    has: (item: Item) => open.has(item),
    count: () => open.size,
    findLast(isMatch: (item: Item) => boolean = () => true): Item | undefined {
      while (ordered.length > 0 && !open.has(ordered.at(-1) as Item)) ordered.pop()
      return ordered.findLast((item) => open.has(item) && isMatch(item))
    },
    list(): readonly Item[] {
      if (ordered.length > open.size) ordered = ordered.filter((item) => open.has(item))
      return ordered
    },
    /** Those that are not marked yet. */
    listUnmarked(): readonly Item[] {
      unmarked = unmarked.filter((item) => open.has(item) && !isMarked(item))
      return unmarked
    },
  }
}
