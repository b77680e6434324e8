import type { Warning } from '../../model/event.ts'
import { isObject, isSameJson, type Json, type JsonObject } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import { getSnapshotSource } from '../../model/history-snapshot.ts'
import type { ModelRequest } from '../../model/request.ts'
import type { AssistantPart, Turn } from '../../model/turn.ts'
import { lazy } from '../../model/lazy.ts'
import type { HashedHistory, PrefixHashes } from './prefix-hashes.ts'
import { createPrefixHasher, hashMessagePrefix, isSystemMessage, joinHashLists } from './prefix-hashes.ts'
import { type BodyPiece, createEncodedMessages } from './encoded-messages.ts'
import { type ContinuedIdRegistry, type IdRegistry, createIdRegistry } from './transcript.ts'
import { hasLateResults } from './late-results.ts'
import { collectDeclaredTools, type CollectedTools } from '../late-tools.ts'
import { type HeaderLists, mergeHeaderLists } from '../header-lists.ts'
import type { EncodedRequest, Wire } from '../wire.ts'

export interface EncodedBody {
  readonly pieces: readonly BodyPiece[]
  readonly warnings: readonly Warning[]
  /** The headers that the body needs. */
  readonly headers?: HeaderLists
  readonly prefixHashes?: PrefixHashes
}

/**
 * Writes request bodies without encoding again what is encoded: only the new turns of a history are encoded, and the text of
 * the others is kept. The text is the same as that of `encodeRequest`, byte for byte, but the cost of a turn does not grow
 * with the history.
 */
export function createIncrementalBodyWriter(wire: Wire): (request: ModelRequest, profile: Profile) => EncodedBody {
  const write = createHistoryWriter(wire)
  const toStableProfile = createStableProfiles()
  const countReportedTurns = createReportedTurnCounter()

  return (request, profile) => {
    const reportedTurnCount = countReportedTurns(request.turns)
    // Without tools a body may depend on names in old turns; with cache marks on messages, its older parts change.
    const tools = collectDeclaredTools(request)
    if (tools.known.length > 0 && profile.cache !== 'marks' && request.previous === undefined)
      return write(request, profile, reportedTurnCount)
    const position = { ids: createIdRegistry(), isContinuation: false, tools, reportedTurnCount }
    const { body, ...encoded } = wire.encodeRequest(
      request,
      profile,
      request.previous === undefined ? position : undefined,
    )
    const pieces = [JSON.stringify(body)]
    if (request.previous !== undefined) return { ...encoded, pieces }
    return {
      ...encoded,
      pieces,
      prefixHashes: write(request, toStableProfile(profile), reportedTurnCount).prefixHashes,
    }
  }
}

/** How many turns an earlier request of the same history gave the warnings of: all before the last response. */
function createReportedTurnCounter(): (turns: readonly Turn[]) => number {
  const seen = new WeakSet<readonly Turn[]>()
  return (turns) => {
    const source = getSnapshotSource(turns)
    const count = seen.has(source) ? Math.max(0, findLastResponse(turns)) : 0
    seen.add(source)
    return count
  }
}

function findLastResponse(turns: readonly Turn[]): number {
  return turns.findLastIndex((turn) => turn.role === 'assistant')
}

/**
 * Where the history can be split last: before a response that is a message of its own on every wire, so that the messages of
 * the user on both sides are not joined.
 */
function findLastSplit(turns: readonly Turn[], wire: Wire, from: number): number {
  let split = from
  for (let at = turns.length - 1; at >= from; at--) {
    const turn = turns[at]
    if (turn?.role !== 'assistant') continue
    // The response before the split must not depend on the one after it either.
    if (wire.dependsOnNeighbours?.(turn)) split = from
    else if (turn.parts.some(isSentEverywhere)) {
      if (split > from) return split
      split = at
    }
  }
  return split
}

function isSentEverywhere(part: AssistantPart): boolean {
  return part.kind === 'call' ? part.name !== '' : part.kind === 'text' && part.text.trim() !== ''
}

type HistoryWriter = (request: ModelRequest, profile: Profile, reportedTurnCount: number) => Required<EncodedBody>

function createHistoryWriter(wire: Wire): HistoryWriter {
  const histories = new WeakMap<readonly Turn[], CachedHistory>()
  const hashBody = createPrefixHasher()
  const encodeFrame = createFrameEncoder()

  return (request, profile, reportedTurnCount) => {
    const { turns } = request
    const source = getSnapshotSource(turns)
    const oldWarnings: Warning[] = []
    const previous = histories.get(source)
    const tools = collectDeclaredTools(request)
    const cached =
      previous && isReusable(previous, request, profile, tools)
        ? previous
        : createCachedHistory(request, profile, tools)
    histories.set(source, cached)
    // The hashes of the previous request depend on what is cached now.
    cached.hashPending()
    /** Encodes the turns that are not cached, up to an index. */
    const encodeTurns = (to: number, ids: IdRegistry) => {
      const newTurns = turns.slice(cached.turnCount, to)
      const isContinuation = cached.turnCount > 0
      const { turnCount, endState: before } = cached
      const position = { ids, isContinuation, tools, reportedTurnCount: reportedTurnCount - turnCount, before }
      return wire.encodeRequest({ ...request, turns: newTurns }, profile, position)
    }
    const split = findLastSplit(turns, wire, cached.turnCount)
    // A result that came late changes a message before the last response.
    if (split > cached.turnCount && !hasLateResults(turns.slice(split))) {
      const { tail } = cached
      const known = tail && reportedTurnCount >= split && isSameTail(tail, request, split) ? tail : undefined
      const { ids, encoded } = known ?? encodeTail(encodeTurns, split, cached)
      if (reportedTurnCount < split) oldWarnings.push(...encoded.warnings)
      for (const id of ids.added) cached.ids.add(id)
      cached.headers = mergeHeaderLists(cached.headers, encoded.headers)
      for (const { text } of encoded.messages) cached.messages.append(text)
      cached.unhashed.push(...encoded.messages)
      cached.turnCount = split
      cached.endState = encoded.endState
      cached.firstTurn = turns[0]
    }
    const { ids, encoded } = encodeTail(encodeTurns, turns.length, cached)
    cached.tail = { request, from: cached.turnCount, ids, encoded }
    const { warnings, headers, messages } = encoded
    const { frame, head } = encodeFrame(encoded.body)
    const at = frame.lastIndexOf('[]') + 1
    const start = frame.slice(0, at)
    if (cached.start.text !== start) cached.start = { text: start, bytes: Buffer.from(start) }
    const hashHistory = lazy((): HashedHistory => {
      for (const one of hashMessages(cached.unhashed.splice(0), cached)) cached.hashes.push(one)
      const history = joinHashLists(cached.hashes, hashMessages(messages, cached))
      return { systemText: cached.systemText, history }
    })
    cached.hashPending = hashHistory
    const end = `${messages.map(({ text }) => text).join(',')}${frame.slice(at)}`
    const { pieces } = cached.messages
    return {
      pieces: [cached.start.bytes, ...pieces, pieces.length > 0 && messages.length > 0 ? `,${end}` : end],
      // Both have the warnings about the request itself.
      warnings: [...oldWarnings.filter((one) => !warnings.some((other) => isSameWarning(one, other))), ...warnings],
      headers: mergeHeaderLists(cached.headers, headers),
      prefixHashes: hashBody(head, hashHistory),
    }
  }
}

/** The turns after the cached ones, as they were encoded for a request. Most often the next request has them unchanged. */
interface EncodedTail {
  readonly request: ModelRequest
  readonly from: number
  readonly ids: ContinuedIdRegistry
  readonly encoded: EncodedRequest & { readonly messages: readonly EncodedMessage[] }
}

type TurnsEncoder = (to: number, ids: IdRegistry) => EncodedRequest

function encodeTail(
  encodeTurns: TurnsEncoder,
  to: number,
  cached: CachedHistory,
): Pick<EncodedTail, 'ids' | 'encoded'> {
  const ids = createIdRegistry(cached.ids)
  const encoded = encodeTurns(to, ids)
  return { ids, encoded: { ...encoded, messages: encodeMessages(findHistory(encoded.body)) } }
}

/** Are the turns up to an index those of the tail, and nothing else of the request different? */
function isSameTail({ request: before, from }: EncodedTail, request: ModelRequest, to: number): boolean {
  const { turns: _turns, prompt: _prompt, ...fields } = request
  const isSameRequest = Object.entries(fields).every(([key, value]) => before[key as keyof ModelRequest] === value)
  if (!isSameRequest || before.turns.length !== to || Object.keys(before).length !== Object.keys(request).length)
    return false
  return request.turns.slice(from, to).every((turn, at) => turn === before.turns[from + at])
}

function isSameWarning(one: Warning, other: Warning): boolean {
  return one.code === other.code && one.message === other.message
}

/** The profile without the marks that change old messages. It must be the same object each time: it is a cache key. */
function createStableProfiles(): (profile: Profile) => Profile {
  const stableByProfile = new WeakMap<Profile, Profile>()
  return (profile) => {
    const stable = stableByProfile.get(profile) ?? { ...profile, cache: 'none' }
    stableByProfile.set(profile, stable)
    return stable
  }
}

type CachedHistory = ReturnType<typeof createCachedHistory>

/** The encoded text of a history up to the last assistant turn, which may still get results. */
function createCachedHistory({ system, output }: ModelRequest, profile: Profile, tools: CollectedTools) {
  return {
    profile,
    tools,
    system,
    /** It may be described in the system prompt. */
    output,
    ids: createIdRegistry(),
    /** The text of the body before the history. */
    start: { text: '', bytes: Buffer.alloc(0) },
    messages: createEncodedMessages(),
    tail: undefined as EncodedTail | undefined,
    headers: {} as HeaderLists,
    /** One for each message, except those in `unhashed`. */
    hashes: [] as string[],
    unhashed: [] as EncodedMessage[],
    hashPending: (): unknown => undefined,
    /** The system prompt, if it is the first message. */
    systemText: '',
    turnCount: 0,
    endState: undefined as EncodedRequest['endState'],
    firstTurn: undefined as Turn | undefined,
  }
}

function isReusable(cached: CachedHistory, request: ModelRequest, profile: Profile, tools: CollectedTools): boolean {
  const { turns, system, output } = request
  return (
    cached.profile === profile &&
    cached.tools === tools &&
    cached.system === system &&
    cached.output === output &&
    turns.length >= cached.turnCount &&
    turns[0] === (cached.firstTurn ?? turns[0]) &&
    !(cached.turnCount > 0 && hasLateResults(turns.slice(cached.turnCount)))
  )
}

/** The list at the end of a body. */
function findHistory(body: JsonObject): Json[] {
  const value = body[getLastKey(body)]
  if (Array.isArray(value)) return value
  if (!isObject(value)) throw new Error('The last key of a body must be its history.')
  return findHistory(value)
}

type FrameEncoder = (body: JsonObject) => { readonly frame: string; readonly head: JsonObject }

/** Encodes a body without its history. The tools, which are most of it, are encoded only if they differ from the last ones. */
function createFrameEncoder(): FrameEncoder {
  let last = { tools: null as Json, text: 'null' }

  function encodeFrame(body: JsonObject): ReturnType<FrameEncoder> {
    const history = getLastKey(body)
    const head = { ...body }
    const texts: string[] = []
    for (const [name, value] of Object.entries(body)) {
      let text: string | undefined
      if (name === history) {
        const inner = isObject(value) ? encodeFrame(value) : { frame: '[]', head: [] }
        head[name] = inner.head
        text = inner.frame
      } else if (name === 'tools') {
        if (!isSameJson(value, last.tools)) last = { tools: value, text: JSON.stringify(value) }
        head[name] = last.tools
        text = last.text
      } else text = JSON.stringify(value)
      if (text !== undefined) texts.push(`${JSON.stringify(name)}:${text}`)
    }
    return { frame: `{${texts.join(',')}}`, head }
  }

  return encodeFrame
}

function getLastKey(body: JsonObject): string {
  return Object.keys(body).at(-1) ?? ''
}

/** The hash of a message, and of what is before it. */
interface MessageHash {
  readonly before: string | undefined
  readonly value: string
}

type EncodedMessage = ReturnType<typeof encodeMessages>[number]

function encodeMessages(items: readonly Json[]) {
  return items.map((item) => ({ item, text: JSON.stringify(item), hash: undefined as MessageHash | undefined }))
}

/** The hashes of messages that follow the cached ones. */
function hashMessages(texts: readonly EncodedMessage[], cached: CachedHistory): string[] {
  const hashes: string[] = []
  for (const message of texts) {
    const { item, text } = message
    const before = hashes.at(-1) ?? cached.hashes.at(-1)
    if (isSystemMessage(item) && cached.hashes.length + hashes.length === 0) {
      cached.systemText = text
      continue
    }
    if (message.hash?.before !== before || !message.hash)
      message.hash = { before, value: hashMessagePrefix(item, text, before) }
    hashes.push(message.hash.value)
  }
  return hashes
}
