import type { Json, JsonObject } from '../../src/model/json.ts'
import { cutText, letters, type Random } from './mutate-random.ts'
import {
  copyEvent,
  type Gone,
  isOrderAll,
  isSequential,
  listed,
  type Mutation,
  type Stream,
  under,
  type WireEvent,
} from './mutate-stream.ts'

/** One entry of a delta's list of calls. */
interface Entry {
  readonly call: number
  readonly entry: JsonObject
  /** Its `function`. */
  readonly fields: JsonObject
  readonly event: WireEvent
}

/** The entries of an event, each with the planned call that it is about. */
export function entriesOf(one: WireEvent): Entry[] {
  if (typeof one.data === 'string') return []
  const list = listed(under(one.data, 'choices', 0, 'delta')['tool_calls'])
  return list.flatMap((entry, at) => {
    const call = one.calls[at]
    return call === undefined ? [] : [{ call, entry, fields: under(entry, 'function'), event: one }]
  })
}

function allEntries(stream: Stream): Entry[] {
  return stream.events.flatMap(entriesOf)
}

/** Changes the entries of one call, or of all. */
function entries(
  kind: Mutation['kind'],
  name: string,
  change: (entry: Entry, random: Random, stream: Stream) => boolean,
  keeps: Mutation['keeps'] = 'runs',
): Mutation {
  return {
    kind,
    name,
    keeps,
    apply(stream, random) {
      const one = random.chance(0.5) ? random.below(Math.max(1, stream.plan.calls.length)) : undefined
      const chosen = allEntries(stream).filter(({ call }) => one === undefined || call === one)
      let changed = false
      for (const entry of chosen) if (change(entry, random, stream)) changed = true
      return changed
    },
  }
}

function drop(fields: JsonObject, key: string): boolean {
  if (!(key in fields)) return false
  delete fields[key]
  return true
}

function set(fields: JsonObject, key: string, value: Json): boolean {
  if (!(key in fields) || fields[key] === value) return false
  fields[key] = value
  return true
}

/**
 * Notes what is lost, unless that would leave nothing by which anybody could tell what was sent: a call without name and
 * index is more arguments of the one before; fragments in disorder need an id or an index; and ids that are new in every
 * delta are told from those of new calls only by the first id and by the name.
 */
function lose(stream: Stream, what: Gone): boolean {
  const { gone } = stream
  if (gone.has(what)) return true
  gone.add(what)
  const lost = (one: Gone, two: Gone) => gone.has(one) && gone.has(two)
  const renamed = lost('rotated', 'renamed') || lost('rotated', 'name') || lost('rotated', 'id')
  const blind = lost('opener', 'index') || renamed || (gone.has('index') && stream.placeholder !== '')
  if (!blind && (!isOrderAll(stream) || isSequential(stream))) return true
  gone.delete(what)
  return false
}

const nameOf = (fields: JsonObject) => (typeof fields['name'] === 'string' ? fields['name'] : '')

const isOpener = ({ fields }: Entry) => nameOf(fields) !== ''

/** What servers do to the fields of a delta (T01–T28). */
export const chatMutations: readonly Mutation[] = [
  entries('drop', 'index', ({ entry }, _random, stream) => lose(stream, 'index') && drop(entry, 'index'), 'all'),
  entries('drop', 'id', ({ entry }, _random, stream) => lose(stream, 'id') && drop(entry, 'id')),
  entries('drop', 'type', ({ entry }) => drop(entry, 'type')),
  entries('drop', 'name', ({ fields }, _random, stream) => lose(stream, 'opener') && drop(fields, 'name'), 'nothing'),
  entries('null', 'index', ({ entry }, _random, stream) => lose(stream, 'index') && set(entry, 'index', null), 'all'),
  entries(
    'null',
    'id',
    ({ entry }, random, stream) => lose(stream, 'id') && set(entry, 'id', random.pick([null, '', ' '])),
  ),
  entries(
    'null',
    'name',
    ({ fields }, random, stream) => lose(stream, 'opener') && set(fields, 'name', random.pick([null, ''])),
    'nothing',
  ),
  entries('null', 'blank-continuations', (entry, random) => {
    if (isOpener(entry)) return false
    Object.assign(entry.entry, { id: random.pick([null, '']), type: random.pick([null, '', 'function']) })
    Object.assign(entry.fields, { name: random.pick([null, '']) })
    return true
  }),
  entries('null', 'type', ({ entry }, random) => set(entry, 'type', random.pick([null, '']))),
  entries('repeat', 'name', (entry, _random, stream) => {
    if (isOpener(entry) || !lose(stream, 'renamed')) return false
    entry.fields['name'] = stream.plan.calls[entry.call]?.name ?? ''
    return true
  }),
  entries('repeat', 'id', (entry, _random, { plan }) => {
    if (isOpener(entry)) return false
    entry.entry['id'] = plan.calls[entry.call]?.id ?? ''
    return true
  }),
  entries('rotate', 'ids', (entry, random, stream) => {
    if (isOpener(entry) || !lose(stream, 'rotated')) return false
    entry.entry['id'] = `call_${letters(random, 12)}`
    return true
  }),
  { kind: 'rotate', name: 'shifted-indexes', keeps: 'runs', apply: shiftIndexes },
  { kind: 'rotate', name: 'zero-indexes', keeps: 'all', apply: zeroIndexes },
  { kind: 'rotate', name: 'same-ids', keeps: 'runs', apply: sameIds },
  { kind: 'split', name: 'names', keeps: 'runs', apply: splitNames },
  { kind: 'split', name: 'lists', keeps: 'runs', apply: splitLists },
  { kind: 'reorder', name: 'name-late', keeps: 'runs', apply: nameLate },
  entries('insert', 'object-arguments', ({ fields, call }, _random, { plan }) => {
    const planned = plan.calls[call]
    if (!planned || fields['arguments'] !== planned.text || planned.text === '') return false
    fields['arguments'] = planned.input
    return true
  }),
  { kind: 'insert', name: 'placeholder', keeps: 'runs', apply: placeholder },
  choices('drop', 'finish-reason', (choice, one) => unended(one) && drop(choice, 'finish_reason'), 'all'),
  choices('null', 'finish-reason', (choice, one) => unended(one) && set(choice, 'finish_reason', null), 'all'),
  choices('drop', 'choice-index', (choice) => drop(choice, 'index')),
  choices('drop', 'role', (choice) => drop(under(choice, 'delta'), 'role')),
  choices('null', 'role', (choice) => set(under(choice, 'delta'), 'role', '')),
]

function unended(one: WireEvent): boolean {
  delete one.end
  return true
}

function choices(
  kind: Mutation['kind'],
  name: string,
  change: (choice: JsonObject, one: WireEvent) => boolean,
  keeps: Mutation['keeps'] = 'runs',
): Mutation {
  return {
    kind,
    name,
    keeps,
    apply(stream) {
      let changed = false
      for (const one of stream.events) {
        if (one.role === 'damage' || typeof one.data === 'string') continue
        if (change(under(one.data, 'choices', 0), one)) changed = true
      }
      return changed
    },
  }
}

function shiftIndexes(stream: Stream, random: Random): boolean {
  const by = random.pick([1, 2, 7, 100])
  const all = allEntries(stream).filter(({ entry }) => typeof entry['index'] === 'number')
  for (const { entry } of all) entry['index'] = Number(entry['index']) + by
  return all.length > 0
}

/** All calls at index 0: their ids tell them apart, or nothing does (T02, T03). */
function zeroIndexes(stream: Stream): boolean {
  if (!lose(stream, 'index')) return false
  const all = allEntries(stream).filter(({ entry }) => typeof entry['index'] === 'number' && entry['index'] !== 0)
  for (const { entry } of all) entry['index'] = 0
  return all.length > 0
}

function sameIds(stream: Stream): boolean {
  if (!lose(stream, 'id')) return false
  const all = allEntries(stream).filter(({ entry }) => typeof entry['id'] === 'string' && entry['id'] !== '')
  for (const { entry } of all) entry['id'] = 'call_same'
  return stream.plan.calls.length > 1 && all.length > 0
}

/** Spells names in pieces, or ever longer; the arguments come with the last piece (T13). */
function splitNames(stream: Stream, random: Random): boolean {
  const named = allEntries(stream).filter((entry) => isOpener(entry) && entry.event.calls.length === 1)
  const openers = named.filter(({ call }, at) => named.findIndex((one) => one.call === call) === at)
  const growing = random.chance(0.4)
  if (!lose(stream, 'name')) return false
  let changed = false
  for (const { fields, event: one } of openers) {
    const pieces = cutText(random, nameOf(fields), 4)
    if (pieces.length < 2 || one.end) continue
    changed = true
    const spelled = pieces.map((piece, at) => (growing ? pieces.slice(0, at + 1).join('') : piece))
    const events = spelled.map((name, at) => {
      const part = copyEvent({ ...one, joint: at < spelled.length - 1 })
      const [copied] = entriesOf(part)
      if (!copied) return part
      copied.fields['name'] = name
      if (at < spelled.length - 1) drop(copied.fields, 'arguments')
      if (at > 0 && random.chance(0.5)) drop(copied.entry, 'id')
      return part
    })
    stream.events.splice(stream.events.indexOf(one), 1, ...events)
  }
  return changed
}

/** Sends the calls of one list in deltas of their own. */
function splitLists(stream: Stream): boolean {
  const at = stream.events.findIndex((one) => one.calls.length > 1 && entriesOf(one).length > 1 && !one.end)
  const one = stream.events[at]
  if (!one) return false
  const split = entriesOf(one).map(({ call, entry }) => {
    const part = copyEvent({ ...one, calls: [call], group: `call ${call}` })
    under(part.data, 'choices', 0, 'delta')['tool_calls'] = [entry]
    return part
  })
  stream.events.splice(at, 1, ...split)
  return true
}

/** Names a call only after its arguments, or in their middle (T14). */
function nameLate(stream: Stream, random: Random): boolean {
  const calls = random.shuffled(stream.plan.calls.map((_call, at) => at))
  for (const call of calls) {
    const own = allEntries(stream).filter((entry) => entry.call === call)
    const opener = own[0]
    const later = own.slice(1).filter((entry) => entry.fields['name'] === undefined)
    if (!opener || !isOpener(opener) || own.filter(isOpener).length > 1 || later.length === 0) continue
    if (!lose(stream, 'name')) return false
    const chosen = random.pick(later)
    chosen.fields['name'] = opener.fields['name'] ?? ''
    delete opener.fields['name']
    return true
  }
  return false
}

/** Puts `{}` before the arguments (T18); without its index, such a call could not be told from one without arguments. */
function placeholder(stream: Stream): boolean {
  if (stream.gone.has('index')) return false
  const one = stream.events.find((each) => each.role === 'open')
  const [opener] = one ? entriesOf(one) : []
  const later = stream.events.some((each) => each.role === 'args' && opener && each.calls.includes(opener.call))
  if (!one || !opener || !later) return false
  opener.fields['arguments'] = '{}'
  stream.placeholder = '{}'
  return true
}
