import { canonical } from '../model/json.ts'
import type { NameCandidates } from './call-name.ts'
import type { Slot } from './calls.ts'
import { readArguments } from './arguments.ts'
import { isOpen, type Slots } from './slots.ts'

/** The hints of a fragment, cleaned: what is absent or empty is undefined. */
export interface Hints {
  readonly id: string | undefined
  readonly name: string | undefined
  readonly args: string
  readonly index: number | undefined
  readonly position: number
  readonly listed: number
}

/** Where a fragment belongs: to a slot, to a new call (no slot), or nowhere because it repeats what is there. */
export interface Target {
  readonly slot: Slot | undefined
  readonly replay?: true
  /** Calls that the fragment might belong to as well: none of them can be trusted any more. */
  readonly doubtful: readonly Slot[]
}

/** What pieces of a name can mean, and whether that can still become a declared name. */
type NameCheck = (pieces: readonly string[]) => NameCandidates

/**
 * Finds the call that a fragment belongs to: by id, then by index, then by its place in the list, then the newest call
 * that is still open. Where two open calls could be meant, both become doubtful: better no call than a wrong one.
 */
export function route(slots: Slots, hints: Hints, names: NameCheck): Target {
  const known = byId(slots, hints)
  if (known) return opensAnother(known, hints, names) ? fresh() : into(known, hints)
  if (hints.index !== undefined) {
    const last = slots.newestAt(hints.index)
    if (last) return opensAnother(last, hints, names) ? fresh() : shared(slots, last, hints)
    if (hints.name !== undefined) return fresh()
    const open = slots.open().filter((slot) => slot.wireIndex === undefined)
    return adrift(open, slots.newestAt(undefined), slots.countAt(undefined), hints)
  }
  if (hints.name !== undefined) return unplaced(slots, hints, names)
  return adrift(slots.open(), slots.newest(), slots.all.length, hints)
}

/** The newest call that came under this id; of several with one id, the one at this index (T10). */
function byId(slots: Slots, { id, index }: Hints): Slot | undefined {
  if (id === undefined) return undefined
  const known = slots.withId(id)
  const both = index === undefined ? undefined : known.findLast((slot) => slot.wireIndex === index)
  // An id that stands for a call in another place does not lead away from the call that is in this one.
  const isTaken = index !== undefined && slots.countAt(index) > 0
  return both ?? (isTaken ? known.findLast((slot) => slot.wireIndex === undefined) : known.at(-1))
}

/** A fragment with a name but without index or known id: a new call, unless it goes on spelling the name of the last one. */
function unplaced(slots: Slots, hints: Hints, names: NameCheck): Target {
  const last = slots.newest()
  if (!last || last.closed || last.wireIndex !== undefined) return fresh()
  // Two calls in one list are two calls.
  if (hints.listed > 1) return fresh()
  if (hints.id !== undefined && last.ids.size > 0) return fresh()
  if (opensAnother(last, hints, names)) return fresh()
  const meant = slots.open().filter((slot) => repeats(slot, hints.name ?? '', names))
  return { ...into(last, hints), doubtful: meant.length > 1 ? meant : [] }
}

/** Where one index stands for several calls, a fragment may belong to any of them that is still open. */
function shared(slots: Slots, last: Slot, hints: Hints): Target {
  if (slots.countAt(last.wireIndex) === 1) return into(last, hints)
  const open = slots.open().filter((slot) => slot !== last && slot.wireIndex === last.wireIndex)
  const isDoubtful = open.length > 0 || isStray(last, hints.args)
  return { ...into(last, hints), doubtful: isDoubtful ? [...open, last] : [] }
}

/** A fragment with arguments only, for one of the calls of which these are open and this one was spoken of last. */
function adrift(open: readonly Slot[], newest: Slot | undefined, count: number, hints: Hints): Target {
  if (hints.listed > 1 && open.length === hints.listed) return { slot: open[hints.position], doubtful: [] }
  const last = newest?.closed ? open.at(-1) : newest
  if (!last) return fresh()
  const otherId = hints.id !== undefined && last.ids.size > 0
  // Nothing but an id: a call that will be named later (T14).
  if (otherId && last.raw === '' && hints.args.trim() === '') return fresh()
  if (isOpen(last)) {
    // Another id may be the same call's (T09), or that of a call whose name was lost.
    const nameless = otherId && last.raw === '' && begins(hints.args)
    const stray = count > 1 && isStray(last, hints.args)
    return { slot: last, doubtful: open.length > 1 || nameless || stray ? open : [] }
  }
  if (otherId) return fresh()
  const other = open.at(-1)
  // All calls are complete: this is a repeat of the last one's arguments, or trailing text of it.
  if (!other) return into(last, hints)
  // It goes on with the one call that is open, unless it could as well be said once more of the last one.
  const repeated = begins(hints.args) || isStray(other, hints.args) || !begins(last.raw)
  return { slot: other, doubtful: open.length > 1 || repeated ? [...open, last] : [] }
}

/**
 * Does a fragment, sent to a slot by its id or index, begin another call there? Vendors give every call index 0 (T02,
 * T03), repeat the name in every delta (T12), rotate the id (T09), or use one id twice (T10).
 */
function opensAnother(slot: Slot, hints: Hints, names: NameCheck): boolean {
  const { id, name, args } = hints
  if (slot.closed) return name !== undefined && !isReplay(slot, hints)
  const elsewhere = hints.index !== undefined && slot.wireIndex !== undefined && slot.wireIndex !== hints.index
  const newId = id !== undefined && slot.ids.size > 0 && !slot.ids.has(id)
  if (name === undefined) return elsewhere || (newId && slot.scan.complete && begins(args) && !isReplay(slot, hints))
  if (slot.names.length === 0) return elsewhere || (newId && slot.scan.complete && args.trim() !== '')
  const other = newId || elsewhere
  if (slot.scan.complete) {
    // An id may come late (T06), but not after all arguments and with the name of the next call.
    const next = other || (id !== undefined && slot.ids.size === 0)
    return !isReplay(slot, hints) && (next || beginsAnother(slot, args) || !stillSpells(slot, name, names))
  }
  // The slot is still open: a new id or place with a name begins a call, unless its text plainly goes on with the open one.
  if (other) return !(args.trim() !== '' && slot.raw !== '' && !begins(args) && spells(slot, name, names))
  return slot.raw === '' ? !spells(slot, name, names) : !stillSpells(slot, name, names)
}

function spells(slot: Slot, name: string, names: NameCheck): boolean {
  return repeats(slot, name, names) || names([...slot.names, name]).fits
}

/** After arguments, and after a whole name, a piece that could begin a name begins another call. */
function stillSpells(slot: Slot, name: string, names: NameCheck): boolean {
  if (repeats(slot, name, names)) return true
  return names([...slot.names, name]).fits && !(names(slot.names).whole && names([name]).fits)
}

/** Is this the name that the call has already (T12)? */
function repeats(slot: Slot, name: string, names: NameCheck): boolean {
  return slot.names.at(-1) === name || names(slot.names).names.includes(name)
}

/** A line break cannot stand in a string: it is the end of another call's arguments, or nothing that can be trusted. */
function isStray(slot: Slot, args: string): boolean {
  return slot.scan.quoted && /^\s*[\n\r\t]\s*$/.test(args)
}

function begins(args: string): boolean {
  return /^\s*\{/.test(args)
}

/** An object after an object is another call; but after an empty one it may be what that held the place for (T18). */
function beginsAnother(slot: Slot, args: string): boolean {
  return begins(args) && !/^\s*\{\s*\}\s*$/.test(slot.raw)
}

function into(slot: Slot, hints: Hints): Target {
  return isReplay(slot, hints) ? { slot, replay: true, doubtful: [] } : { slot, doubtful: [] }
}

/** Is this the same call again, whole: the same name and the same arguments? */
function isReplay(slot: Slot, hints: Hints): boolean {
  if (!slot.scan.complete || !begins(hints.args)) return false
  if (hints.name !== undefined && slot.names.length > 0 && slot.names.at(-1) !== hints.name) return false
  if (hints.id !== undefined && slot.ids.size > 0 && !slot.ids.has(hints.id) && hints.name !== undefined) return false
  if (hints.args === slot.raw) return true
  // Spaces and escapes do not make that much of a difference; what holds many objects is not read again for each more.
  if (slot.raw.length > MOST_SPACE * (hints.args.length + MOST_SPACE)) return false
  const before = readArguments(slot.raw)
  const now = readArguments(hints.args)
  return before.ok && now.ok && canonical(before.inputs) === canonical(now.inputs)
}

const MOST_SPACE = 20

function fresh(): Target {
  return { slot: undefined, doubtful: [] }
}
