import { canonical } from '../model/json.ts'
import type { CallPart } from '../model/turn.ts'
import type { Slot } from './calls.ts'

/** Tells a call that is sent again from one that is made again, and remembers it for the next. */
export type Copies = (slot: Slot, parts: readonly CallPart[]) => boolean

/** Starts to watch the calls of one turn (T11, T21). Each call is looked up, not compared with all others. */
export function startCopies(): Copies {
  const contents = new Map<string, number>()
  const made = new Set<string>()

  return (slot, parts) => {
    if (parts.some((part) => part.flaw)) return false
    const text = canonical(parts.map(({ name, input }) => [name, input]))
    const content = contents.get(text) ?? contents.size
    contents.set(text, content)
    if (lookups(slot).some((key) => made.has(`${content} ${key}`))) return true
    for (const key of marks(slot)) made.add(`${content} ${key}`)
    return false
  }
}

/** Under what a call is remembered: its ids, its place, and that nobody told it apart. */
function marks({ ids, wireIndex, placed }: Slot): string[] {
  const kind = ids.size > 0 ? 'id' : 'no id'
  return [
    ...[...ids].map((id) => `id ${id}`),
    ...(wireIndex === undefined ? [] : [`${kind}, at ${wireIndex}`]),
    ...(placed ? [] : [`${kind}, anywhere`]),
    ...(placed || wireIndex !== undefined ? [] : [`${kind}, nowhere`]),
  ]
}

/**
 * Where a call of which this may be a copy would be remembered. Two with ids are told apart by them; else two with places by
 * these; else nothing tells them apart, unless the wire itself did.
 */
function lookups({ ids, wireIndex, placed }: Slot): string[] {
  const others = ids.size > 0 ? ['no id'] : ['id', 'no id']
  const apart = (kind: string): string[] => {
    if (wireIndex === undefined) return placed ? [] : [`${kind}, anywhere`]
    return [`${kind}, at ${wireIndex}`, ...(placed ? [] : [`${kind}, nowhere`])]
  }
  return [...[...ids].map((id) => `id ${id}`), ...others.flatMap(apart)]
}
