import { canonical } from '../../model/json.ts'
import { readArguments } from '../arguments.ts'
import type { Slot } from '../calls.ts'
import type { Scribe } from '../scribe.ts'
import { type Fields, type Item, kindOf, openItem, textsOf, word } from './items.ts'

/** The items of an answer in the order in which they were first seen, and the ways to find one. */
export interface Table {
  readonly items: readonly Item[]
  /** Those that are not done. */
  open(): readonly Item[]
  /** A new item, in the place that an event gives it. */
  enter(value: Fields, type: unknown): Item
  /** The item that an announcement or a finished item is about, if it was seen before. */
  find(value: Fields, data: Fields): Item | undefined
  /** The item that a piece belongs to; a piece may come before its item is announced (T140). */
  place(value: Fields, type: string): Item
  /** The item that stands in the final list, if it was seen before. */
  listed(data: Fields, position: number): Item | undefined
  /** Is there another call under the id of this one? */
  hasTwin(item: Item): boolean
}

/** Starts the table of one answer. Items are looked up, so that many of them cost no more than few, each. */
export function startTable(scribe: Scribe): Table {
  const items: Item[] = []
  const byId = startLookup<string>()
  const byCallId = startLookup<string>()
  const byIndex = startLookup<number>()
  // What is done or listed stays so: it is left out when it is next met.
  let undone: Item[] = []
  let unlisted: Item[] = []
  // Pieces of one item come in a row; the last place is nearly always the next one too.
  let recent: { item: Item; type: string; index: unknown; id: unknown; count: number } | undefined

  function enter(value: Fields, type: unknown): Item {
    const item = openItem(scribe, String(type), indexOf(value))
    items.push(item)
    undone.push(item)
    unlisted.push(item)
    onAdd(item.ids, (id) => byId.add(id, item))
    if (item.slot) onAdd(item.slot.ids, (id) => byCallId.add(id, item))
    if (item.index !== undefined) byIndex.add(item.index, item)
    return item
  }

  function open(): readonly Item[] {
    if (undone.some(({ done }) => done)) undone = undone.filter(({ done }) => !done)
    return undone
  }

  function free(): readonly Item[] {
    if (unlisted.some(({ listed }) => listed)) unlisted = unlisted.filter(({ listed }) => !listed)
    return unlisted
  }

  /** By its place (T141), then by its id, then the newest that is still open; without the id, only one that may be meant. */
  function locate(
    value: Fields,
    type: unknown,
    id: string | undefined,
    fits: (item: Item) => boolean,
  ): Item | undefined {
    const index = indexOf(value)
    const kind = kindOf(type)
    const here = index === undefined ? [] : byIndex.get(index).filter((item) => item.kind === kind)
    const newest = () =>
      open().findLast((item) => item.kind === kind && fits(item) && (index === undefined || item.index === undefined))
    const found =
      (id === undefined ? undefined : here.findLast((item) => item.ids.has(id))) ??
      here.findLast(fits) ??
      (id === undefined ? undefined : byId.get(id).findLast((item) => item.kind === kind)) ??
      newest()
    if (!found) return undefined
    if (found.index === undefined && index !== undefined) {
      found.index = index
      byIndex.add(index, found)
    }
    // An item that was announced without an id has that of its pieces, if they can be nobody else's.
    if (id === undefined || found.ids.size > 0) return found
    const meant = open().filter(
      (item) => item.kind === kind && fits(item) && (index === undefined || item.index === index),
    )
    if (meant.length === 1 && meant[0] === found) found.ids.add(id)
    return found
  }

  /** A call is known by its own id first; vendors give two calls one id (T10), so that its place decides between them. */
  function findCall(value: Fields, data: Fields): Item | undefined {
    const id = word(data['call_id'])
    const index = indexOf(value)
    const own = byId.get(word(data['id']) ?? '').findLast((item) => item.slot)
    if (own?.slot && (id === undefined || own.slot.ids.size === 0 || own.slot.ids.has(id))) return own
    // The same id in another place, and of another item, is that of another call.
    const apart = (item: Item) => index !== undefined && item.index !== undefined && item.index !== index
    const named = byCallId.get(id ?? '').filter((item) => !apart(item) || item.ids.has(word(data['id']) ?? ''))
    const placed = named.find((item) => item.index === index)
    if (placed ?? named[0]) return placed ?? named.find((item) => !item.done) ?? named.at(-1)
    const name = word(data['name'])
    const mayBe = ({ slot }: Item) => name === undefined || (slot?.names[0] ?? name) === name
    const found = locate(value, data['type'], word(data['id']), mayBe)
    // Another id means another call; one that came without an id is this one, if it is open and has the very place.
    if (!found?.slot || id === undefined || found.slot.wireId === undefined) return found
    return found.slot.ids.size > 0 || index === undefined || found.done ? undefined : found
  }

  return {
    items,
    open,
    enter,
    find: (value, data) =>
      kindOf(data['type']) === 'call'
        ? findCall(value, data)
        : locate(value, data['type'], word(data['id']), () => true),
    place(value, type) {
      const { output_index: index, item_id: itemId } = value
      const again = recent && recent.type === type && recent.index === index && recent.id === itemId
      if (recent && again && recent.count === items.length && isWaiting(recent.item)) return recent.item
      const id = word(itemId)
      // What comes for a call that is whole, under another id, is not for that call.
      const known = locate(value, type, id, (item) => id === undefined || item.done || isWaiting(item))
      const item = known ?? enter(value, type)
      if (!known && id !== undefined) item.ids.add(id)
      recent = { item, type, index, id: itemId, count: items.length }
      return item
    },
    listed(data, position) {
      const kind = kindOf(data['type'])
      const isFree = (item: Item) => !item.listed && item.kind === kind
      const id = word(data['id']) ?? ''
      const lookup = kind === 'call' ? byCallId.get(word(data['call_id']) ?? '') : byId.get(id)
      const named = lookup.filter((item) => isFree(item) && isNamed(item, data))
      const all = () => free().filter((item) => item.kind === kind)
      return (
        named.find((item) => isHere(item, data, position)) ??
        named.find((item) => isSame(item, data)) ??
        named[0] ??
        byId.get(id).find(isFree) ??
        byIndex.get(position).find((item) => isFree(item) && isHere(item, data, position)) ??
        all().find((item) => item.done && isSame(item, data)) ??
        all().find((item) => isSame(item, data)) ??
        all().find(({ slot, done }) => slot && !done && slot.wireId === undefined && isBeginning(slot, data))
      )
    },
    hasTwin(item) {
      const id = item.slot?.wireId
      return (
        id !== undefined &&
        [...byCallId.get(id), ...byId.get(id)].some((one) => one !== item && one.slot?.wireId === id)
      )
    },
  }
}

/** Items by something that they are known by, each list in the order of the items. */
function startLookup<Key>() {
  const lists = new Map<Key, Item[]>()
  return {
    get: (key: Key): readonly Item[] => lists.get(key) ?? [],
    add(key: Key, item: Item): void {
      const known = lists.get(key)
      if (!known) lists.set(key, [item])
      else if (!known.includes(item))
        lists.set(
          key,
          [...known, item].sort((a, b) => a.part - b.part),
        )
    },
  }
}

/** Hears of all that is put into a set from now on. */
function onAdd(set: Set<string>, added: (value: string) => void): void {
  const add = set.add.bind(set)
  set.add = (value) => {
    added(value)
    return add(value)
  }
}

/** May more of this item come? Where it is in doubt whose the arguments were, it may. */
export function isWaiting(item: Item): boolean {
  return !item.done && (!item.argued || item.slot?.ambiguous === true)
}

/** Is a finished item, which comes in the place or under the id of another, that one again? */
export function isRepeat(item: Item, data: Fields): boolean {
  if (item.slot) return sameCall(item.slot, data)
  return word(data['id']) === undefined || item.ids.has(String(data['id'])) || sameWords(item, data)
}

/** Does a listed item carry the id of this one? */
function isNamed(item: Item, data: Fields): boolean {
  const id = word(item.slot ? data['call_id'] : data['id'])
  return id !== undefined && (item.slot ? item.slot.wireId === id : item.ids.has(id))
}

/** Does a listed item stand in the place of this one? Calls must also be the same there, because places may be missing. */
function isHere(item: Item, data: Fields, position: number): boolean {
  return item.index === position && item.type === data['type'] && (!item.slot || sameCall(item.slot, data))
}

/** Does a listed item say what this one says, under another id (T141)? */
function isSame(item: Item, data: Fields): boolean {
  return item.slot ? sameCall(item.slot, data) : item.type === data['type'] && sameWords(item, data)
}

function sameWords(item: Item, data: Fields): boolean {
  const said = Object.values(textsOf(data)).flat().join('')
  return said !== '' && [...item.voices.values()].some((voice) => voice.shown === said)
}

function sameCall(slot: Slot, data: Fields): boolean {
  if (slot.names[0] !== word(data['name'])) return false
  const given = data['arguments'] ?? data['input']
  if (!slot.closed && isBeginning(slot, data)) return true
  const before = readArguments(slot.raw)
  const now = readArguments(typeof given === 'string' ? given : JSON.stringify(given ?? null))
  return slot.raw === given || (before.ok && now.ok && canonical(before.inputs) === canonical(now.inputs))
}

/** Could what came of an open call so far be the beginning of this one? */
function isBeginning(slot: Slot, data: Fields): boolean {
  const given = data['arguments'] ?? data['input']
  return typeof given !== 'string' || given.startsWith(slot.raw)
}

function indexOf(value: Fields): number | undefined {
  return typeof value['output_index'] === 'number' ? value['output_index'] : undefined
}
