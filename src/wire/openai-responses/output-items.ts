import { nonBlankString, toCanonicalJson } from '../../model/json.ts'
import { parseCallArguments } from '../calls/parse-arguments.ts'
import type { PendingCall } from '../calls/call-assembler.ts'
import { createOpenList } from '../calls/open-list.ts'
import type { TurnBuilder } from '../turn/turn-builder.ts'
import { type JsonFields, type OutputItem, getItemKind, openOutputItem, getTextsByChannel } from './output-item.ts'

/** The items of a response in the order in which they first appeared, indexed so that the lookup time does not grow. */
export function createOutputItems(builder: TurnBuilder) {
  const items: OutputItem[] = []
  const byId = createLookup<string>()
  const byCallId = createLookup<string>()
  const byIndex = createLookup<number>()
  const openItems = createOpenList<OutputItem>()
  const openWithoutIndex = createOpenList<OutputItem>()
  // Items that are listed stay so, and mostly in their order: they are removed from the front.
  const unlisted: OutputItem[] = []
  let firstUnlisted = 0
  // Deltas of one item usually follow each other, so the last item is tried first.
  let recent: { item: OutputItem; type: string; index: unknown; id: unknown; count: number } | undefined

  function enter(value: JsonFields, type: unknown): OutputItem {
    const item = openOutputItem(builder, String(type), getOutputIndex(value))
    items.push(item)
    openItems.add(item)
    if (item.outputIndex === undefined) openWithoutIndex.add(item)
    unlisted.push(item)
    onAdd(item.ids, (id) => byId.add(id, item))
    if (item.pendingCall) onAdd(item.pendingCall.ids, (id) => byCallId.add(id, item))
    if (item.outputIndex !== undefined) byIndex.add(item.outputIndex, item)
    return item
  }

  function findUnlisted(isMatch: (item: OutputItem) => boolean): OutputItem | undefined {
    while (unlisted[firstUnlisted]?.isListed) firstUnlisted++
    for (let at = firstUnlisted; at < unlisted.length; at++) {
      const item = unlisted[at]
      if (item && !item.isListed && isMatch(item)) return item
    }
    return undefined
  }

  /** By its index (T141), then by its id, then the newest that is still open; without the id, only one that `fits`. */
  function locate(
    value: JsonFields,
    type: unknown,
    id: string | undefined,
    fits: (item: OutputItem) => boolean,
  ): OutputItem | undefined {
    const index = getOutputIndex(value)
    const kind = getItemKind(type)
    const here = index === undefined ? [] : byIndex.get(index).filter((item) => item.kind === kind)
    const newest = () =>
      (index === undefined ? openItems : openWithoutIndex).findLast((item) => item.kind === kind && fits(item))
    const found =
      (id === undefined ? undefined : here.findLast((item) => item.ids.has(id))) ??
      here.findLast(fits) ??
      (id === undefined ? undefined : byId.get(id).findLast((item) => item.kind === kind)) ??
      newest()
    if (!found) return undefined
    if (found.outputIndex === undefined && index !== undefined) {
      found.outputIndex = index
      openWithoutIndex.remove(found)
      byIndex.add(index, found)
    }
    // An item that was announced without an id gets the id of its deltas, if they cannot belong to another one.
    if (id === undefined || found.ids.size > 0) return found
    const candidates = index === undefined ? openItems.list() : byIndex.get(index)
    const matching = candidates.filter((item) => !item.isDone && item.kind === kind && fits(item))
    if (matching.length === 1 && matching[0] === found) found.ids.add(id)
    return found
  }

  /** A call is found by its own id first; two calls may have the same id (T10), then the index decides. */
  function findCall(value: JsonFields, data: JsonFields): OutputItem | undefined {
    const id = nonBlankString(data['call_id'])
    const index = getOutputIndex(value)
    const sameItem = byId.get(nonBlankString(data['id']) ?? '').findLast((item) => item.pendingCall)
    if (
      sameItem?.pendingCall &&
      (id === undefined || sameItem.pendingCall.ids.size === 0 || sameItem.pendingCall.ids.has(id))
    )
      return sameItem
    // The same id at another index, and of another item, belongs to another call.
    const isElsewhere = (item: OutputItem) =>
      index !== undefined && item.outputIndex !== undefined && item.outputIndex !== index
    const sameCallId = byCallId
      .get(id ?? '')
      .filter((item) => !isElsewhere(item) || item.ids.has(nonBlankString(data['id']) ?? ''))
    const atSameIndex = sameCallId.find((item) => item.outputIndex === index)
    if (atSameIndex ?? sameCallId[0]) return atSameIndex ?? sameCallId.find((item) => !item.isDone) ?? sameCallId.at(-1)
    const name = nonBlankString(data['name'])
    const hasMatchingName = ({ pendingCall }: OutputItem) =>
      name === undefined || (pendingCall?.nameFragments[0] ?? name) === name
    const found = locate(value, data['type'], nonBlankString(data['id']), hasMatchingName)
    // Another id means another call; an open call without an id at the same index is this one.
    if (!found?.pendingCall || id === undefined || found.pendingCall.wireId === undefined) return found
    return found.pendingCall.ids.size > 0 || index === undefined || found.isDone ? undefined : found
  }

  return {
    items: items as readonly OutputItem[],
    create: enter,
    /** The open items at an index, and those without one. */
    listOpenAt(index: number | undefined): readonly OutputItem[] {
      const here = index === undefined ? [] : byIndex.get(index).filter(({ isDone }) => !isDone)
      return [...here, ...openWithoutIndex.list()]
    },
    finish(item: OutputItem): void {
      item.isDone = true
      openItems.remove(item)
      openWithoutIndex.remove(item)
    },
    /** The item of an announcement or of a finished item, if it is known. */
    find: (value: JsonFields, data: JsonFields) =>
      getItemKind(data['type']) === 'call'
        ? findCall(value, data)
        : locate(value, data['type'], nonBlankString(data['id']), () => true),
    /** The item of a delta, which may come before its item is announced (T140). */
    findOrCreate(value: JsonFields, type: string): OutputItem {
      const { output_index: index, item_id: itemId } = value
      const again = recent && recent.type === type && recent.index === index && recent.id === itemId
      if (recent && again && recent.count === items.length && expectsMoreOfItem(recent.item)) return recent.item
      const id = nonBlankString(itemId)
      // A delta with another id does not belong to a call that is complete.
      const existing = locate(value, type, id, (item) => id === undefined || item.isDone || expectsMoreOfItem(item))
      const item = existing ?? enter(value, type)
      if (!existing && id !== undefined) item.ids.add(id)
      recent = { item, type, index, id: itemId, count: items.length }
      return item
    },
    /** The item of an entry in the final list, if it is known. */
    findListed(data: JsonFields, position: number): OutputItem | undefined {
      const kind = getItemKind(data['type'])
      const isFree = (item: OutputItem) => !item.isListed && item.kind === kind
      const id = nonBlankString(data['id']) ?? ''
      const lookup = kind === 'call' ? byCallId.get(nonBlankString(data['call_id']) ?? '') : byId.get(id)
      const sameCallId = lookup.filter((item) => isFree(item) && hasSameId(item, data))
      return (
        sameCallId.find((item) => isAtPosition(item, data, position)) ??
        sameCallId.find((item) => hasSameContent(item, data)) ??
        sameCallId[0] ??
        byId.get(id).find(isFree) ??
        byIndex.get(position).find((item) => isFree(item) && isAtPosition(item, data, position)) ??
        findUnlisted((item) => item.kind === kind && item.isDone && hasSameContent(item, data)) ??
        findUnlisted((item) => item.kind === kind && hasSameContent(item, data)) ??
        findUnlisted(
          ({ kind: itemKind, pendingCall, isDone }) =>
            itemKind === kind &&
            pendingCall !== undefined &&
            !isDone &&
            pendingCall.wireId === undefined &&
            isPrefixOfCall(pendingCall, data),
        )
      )
    },
    hasDuplicateId(item: OutputItem): boolean {
      const id = item.pendingCall?.wireId
      if (id === undefined) return false
      return [...byCallId.get(id), ...byId.get(id)].some((one) => one !== item && one.pendingCall?.wireId === id)
    },
  }
}

/** Items by a key, each list in the order of the items. */
function createLookup<Key>() {
  const lists = new Map<Key, OutputItem[]>()
  return {
    get: (key: Key): readonly OutputItem[] => lists.get(key) ?? [],
    add(key: Key, item: OutputItem): void {
      const items = lists.get(key)
      if (!items) return void lists.set(key, [item])
      const before = items.findLastIndex((one) => one.partIndex <= item.partIndex)
      if (items[before] !== item) items.splice(before + 1, 0, item)
    },
  }
}

/** Calls a function for everything that is added to a set from now on. */
function onAdd(set: Set<string>, added: (value: string) => void): void {
  const add = set.add.bind(set)
  set.add = (value) => {
    added(value)
    return add(value)
  }
}

/** Is more of this item expected? If its arguments are ambiguous, more may come. */
export function expectsMoreOfItem(item: OutputItem): boolean {
  return !item.isDone && (!item.hasFinalArguments || item.pendingCall?.isAmbiguous === true)
}

/** Is a finished item with the index or id of another one a repeat of it? */
export function isRepeatedItem(item: OutputItem, data: JsonFields): boolean {
  if (item.pendingCall) return isSameCall(item.pendingCall, data)
  return nonBlankString(data['id']) === undefined || item.ids.has(String(data['id'])) || hasSameText(item, data)
}

function hasSameId(item: OutputItem, data: JsonFields): boolean {
  const id = nonBlankString(item.pendingCall ? data['call_id'] : data['id'])
  return id !== undefined && (item.pendingCall ? item.pendingCall.wireId === id : item.ids.has(id))
}

/** Indexes may be missing, so calls must also have the same content. */
function isAtPosition(item: OutputItem, data: JsonFields, position: number): boolean {
  return (
    item.outputIndex === position &&
    item.type === data['type'] &&
    (!item.pendingCall || isSameCall(item.pendingCall, data))
  )
}

/** Does a listed item have the same content, even if its id is different (T141)? */
function hasSameContent(item: OutputItem, data: JsonFields): boolean {
  return item.pendingCall ? isSameCall(item.pendingCall, data) : item.type === data['type'] && hasSameText(item, data)
}

function hasSameText(item: OutputItem, data: JsonFields): boolean {
  const joined = Object.values(getTextsByChannel(data)).flat().join('')
  return joined !== '' && [...item.channelTexts.values()].some((channelText) => channelText.text === joined)
}

function isSameCall(pendingCall: PendingCall, data: JsonFields): boolean {
  if (pendingCall.nameFragments[0] !== nonBlankString(data['name'])) return false
  const given = data['arguments'] ?? data['input']
  if (!pendingCall.isClosed && isPrefixOfCall(pendingCall, data)) return true
  const before = parseCallArguments(pendingCall.raw)
  const now = parseCallArguments(typeof given === 'string' ? given : JSON.stringify(given ?? null))
  return (
    pendingCall.raw === given || (before.ok && now.ok && toCanonicalJson(before.inputs) === toCanonicalJson(now.inputs))
  )
}

function isPrefixOfCall(pendingCall: PendingCall, data: JsonFields): boolean {
  const given = data['arguments'] ?? data['input']
  return typeof given !== 'string' || given.startsWith(pendingCall.raw)
}

function getOutputIndex(value: JsonFields): number | undefined {
  return typeof value['output_index'] === 'number' ? value['output_index'] : undefined
}
