import { canonical } from '../../model/json.ts'
import { readArguments } from '../arguments.ts'
import type { Slot } from '../calls.ts'
import type { Scribe } from '../scribe.ts'
import { type Fields, type Item, kindOf, openItem, textsOf, word } from './items.ts'

/** The items of an answer in the order in which they were first seen, and the ways to find one. */
export interface Table {
  readonly items: readonly Item[]
  /** A new item, in the place that an event gives it. */
  enter(value: Fields, type: unknown): Item
  /** The item that an announcement or a finished item is about, if it was seen before. */
  find(value: Fields, data: Fields): Item | undefined
  /** The item that a piece belongs to; a piece may come before its item is announced (T140). */
  place(value: Fields, type: string): Item
  /** The item that stands in the final list, if it was seen before. */
  listed(data: Fields, position: number): Item | undefined
}

/** Starts the table of one answer. */
export function startTable(scribe: Scribe): Table {
  const items: Item[] = []

  function enter(value: Fields, type: unknown): Item {
    const item = openItem(scribe, String(type), indexOf(value))
    items.push(item)
    return item
  }

  /** By its place (T141), then by its id, then the newest that is still open. */
  function locate(value: Fields, type: unknown, id: string | undefined): Item | undefined {
    const index = indexOf(value)
    const same = items.filter((item) => item.kind === kindOf(type))
    const here = index === undefined ? [] : same.filter((item) => item.index === index)
    const byId = (some: Item[]) => (id === undefined ? undefined : some.findLast((item) => item.ids.has(id)))
    const newest = same.findLast((item) => !item.done && (index === undefined || item.index === undefined))
    const found = byId(here) ?? here.at(-1) ?? byId(same) ?? newest
    if (found) found.index ??= index
    return found
  }

  /** A call is known by its own id first; vendors give two calls one id (T10), so that its place decides between them. */
  function findCall(value: Fields, data: Fields): Item | undefined {
    const id = word(data['call_id'])
    const index = indexOf(value)
    const named = items.filter((item) => id !== undefined && item.slot?.ids.has(id))
    const placed = named.find((item) => item.index === index)
    if (placed ?? named[0]) return placed ?? named.find((item) => !item.done) ?? named.at(-1)
    const found = locate(value, data['type'], word(data['id']))
    // Another id means another call, unless an open one has the very place.
    const other = id !== undefined && found?.slot?.wireId !== undefined
    return other && (index === undefined || found.done) ? undefined : found
  }

  return {
    items,
    enter,
    find: (value, data) =>
      kindOf(data['type']) === 'call' ? findCall(value, data) : locate(value, data['type'], word(data['id'])),
    place(value, type) {
      const id = word(value['item_id'])
      const known = locate(value, type, id)
      if (known) return known
      const item = enter(value, type)
      if (id !== undefined) item.ids.add(id)
      return item
    },
    listed: (data, position) =>
      items.find((item) => isNamed(item, data)) ?? items.find((item) => isListed(item, data, position)),
  }
}

/** Is a finished item, which comes in the place or under the id of another, that one again? */
export function isRepeat(item: Item, data: Fields): boolean {
  if (item.slot) return sameCall(item.slot, data)
  return word(data['id']) === undefined || item.ids.has(String(data['id'])) || sameWords(item, data)
}

/** Does a listed item carry the id of this one? */
function isNamed(item: Item, data: Fields): boolean {
  if (item.listed || item.kind !== kindOf(data['type'])) return false
  const id = word(item.slot ? data['call_id'] : data['id'])
  return id !== undefined && (item.slot ? item.slot.wireId === id : item.ids.has(id))
}

/** Is a listed item this one under another id: in the same place, or with the same words (T141)? */
function isListed(item: Item, data: Fields, position: number): boolean {
  if (item.listed || item.kind !== kindOf(data['type'])) return false
  if (item.slot) return item.slot.wireId === undefined || (item.index === position && sameCall(item.slot, data))
  return item.type === data['type'] && (item.index === position || sameWords(item, data))
}

function sameWords(item: Item, data: Fields): boolean {
  const said = Object.values(textsOf(data)).flat().join('')
  return said !== '' && [...item.voices.values()].some((voice) => voice.shown === said)
}

function sameCall(slot: Slot, data: Fields): boolean {
  if (slot.names[0] !== word(data['name'])) return false
  if (!slot.closed) return true
  const given = data['arguments'] ?? data['input']
  const before = readArguments(slot.raw)
  const now = readArguments(typeof given === 'string' ? given : JSON.stringify(given ?? null))
  return slot.raw === given || (before.ok && now.ok && canonical(before.inputs) === canonical(now.inputs))
}

function indexOf(value: Fields): number | undefined {
  return typeof value['output_index'] === 'number' ? value['output_index'] : undefined
}
