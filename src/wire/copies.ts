import { canonical } from '../model/json.ts'
import type { CallPart } from '../model/turn.ts'
import type { Slot } from './calls.ts'

/** Tells a call that is sent again from one that is made again, and remembers it for the next. */
export type Copies = (slot: Slot, parts: readonly CallPart[]) => boolean

interface Made {
  readonly slot: Slot
  readonly parts: readonly CallPart[]
}

/** Starts to watch the calls of one turn (T11, T21). */
export function startCopies(): Copies {
  const byId = new Map<string, Made[]>()
  const byIndex = new Map<number, Made[]>()
  const unplaced: Made[] = []

  return (slot, parts) => {
    if (parts.some((part) => part.flaw)) return false
    const near = [
      ...[...slot.ids].flatMap((id) => byId.get(id) ?? []),
      ...(slot.wireIndex === undefined ? [] : (byIndex.get(slot.wireIndex) ?? [])),
      ...(slot.placed ? [] : unplaced),
    ]
    if (near.some((made) => mayBe(made.slot, slot) && same(made.parts, parts))) return true
    const made = { slot, parts }
    for (const id of slot.ids) put(byId, id, made)
    if (slot.wireIndex !== undefined) put(byIndex, slot.wireIndex, made)
    if (!slot.placed) unplaced.push(made)
    return false
  }
}

/** Does nothing tell the two apart? */
function mayBe(before: Slot, slot: Slot): boolean {
  if (before.ids.size > 0 && slot.ids.size > 0) return [...slot.ids].some((id) => before.ids.has(id))
  if (before.wireIndex !== undefined && slot.wireIndex !== undefined) return before.wireIndex === slot.wireIndex
  return !before.placed && !slot.placed
}

function same(before: readonly CallPart[], parts: readonly CallPart[]): boolean {
  if (before.length !== parts.length || before.some(({ name }, at) => name !== parts[at]?.name)) return false
  return canonical(before.map(({ input }) => input)) === canonical(parts.map(({ input }) => input))
}

function put<Key>(map: Map<Key, Made[]>, key: Key, made: Made): void {
  const known = map.get(key)
  if (known) known.push(made)
  else map.set(key, [made])
}
