import type { Warning } from '../../model/event.ts'
import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import type { ModelRequest } from '../../model/request.ts'
import type { Turn } from '../../model/turn.ts'
import { lazy } from '../../model/lazy.ts'
import {
  isSystemMessage,
  type HashedHistory,
  createPrefixHasher,
  joinHashLists,
  hashMessage,
  type PrefixHashes,
} from './prefix-hashes.ts'
import { type IdRegistry, createIdRegistry } from './transcript.ts'
import type { Wire } from '../wire.ts'

/** The text of a request body, in the pieces in which it is kept. */
export interface EncodedBody {
  readonly pieces: readonly string[]
  readonly warnings: readonly Warning[]
  readonly prefixHashes?: PrefixHashes
}

/** Writes request bodies. */
export type BodyWriter = (request: ModelRequest, profile: Profile) => EncodedBody

/**
 * A writer that does not write again what it has written: of a history that has grown, only the new turns are encoded,
 * and the text of the others is kept. The text is the same as that of `encode`, byte for byte; what a turn costs does
 * not grow with the history.
 */
export function createIncrementalBodyWriter(wire: Wire): BodyWriter {
  const write = createHistoryWriter(wire)
  const toStableProfile = createStableProfiles()

  return (request, profile) => {
    // Without tools a body may depend on names that stand far back; with rolling marks, its older parts change.
    const changes = profile.cache === 'marks' || profile.alternate || profile.bridge
    if (request.tools.length > 0 && !changes && request.previous === undefined) return write(request, profile)
    const { body, warnings } = wire.encodeRequest(request, profile)
    const marks: Partial<EncodedBody> =
      request.previous === undefined ? { prefixHashes: write(request, toStableProfile(profile)).prefixHashes } : {}
    return { pieces: [JSON.stringify(body)], warnings, ...marks }
  }
}

function createHistoryWriter(wire: Wire): (request: ModelRequest, profile: Profile) => Required<EncodedBody> {
  const histories = new WeakMap<readonly Turn[], CachedHistory>()
  const hashBody = createPrefixHasher()

  return (request, profile) => {
    const { turns } = request
    const previous = histories.get(turns)
    const cached = previous && isReusable(previous, request, profile) ? previous : createCachedHistory(request, profile)
    histories.set(turns, cached)
    // The marks of the request before are made of what was kept then.
    cached.hashPending()
    const tail = turns.findLastIndex((turn) => turn.role === 'assistant')
    if (tail > cached.turnCount) {
      const { body } = encodeTurns(wire, request, profile, cached, tail, cached.ids)
      const texts = encodeMessages(splitHistory(body).items)
      cached.pieces = grown(cached.pieces, texts)
      cached.unhashed.push(...texts)
      cached.turnCount = tail
      cached.firstTurn = turns[0]
    }
    const { body, warnings } = encodeTurns(wire, request, profile, cached, turns.length, createIdRegistry(cached.ids))
    const { items, frame, head } = splitHistory(body)
    const texts = encodeMessages(items)
    const at = frame.lastIndexOf('[]') + 1
    const hashHistory = lazy((): HashedHistory => {
      for (const one of hashMessages(cached.unhashed.splice(0), cached)) cached.hashes.push(one)
      const history = joinHashLists(cached.hashes, hashMessages(texts, cached))
      return { systemText: cached.systemText, history }
    })
    cached.hashPending = hashHistory
    return {
      pieces: [frame.slice(0, at), ...grown(cached.pieces, texts), frame.slice(at)],
      warnings,
      prefixHashes: hashBody(head, hashHistory),
    }
  }
}

/** The profile under which what was said once stays as it was said: marks for a cache, and what a template wants, are left out. */
function createStableProfiles(): (profile: Profile) => Profile {
  const stableByProfile = new WeakMap<Profile, Profile>()
  return (profile) => {
    const toStableProfile = stableByProfile.get(profile) ?? {
      ...profile,
      cache: 'none',
      alternate: false,
      bridge: false,
    }
    stableByProfile.set(profile, toStableProfile)
    return toStableProfile
  }
}

/** What is kept of a history: the text of its turns up to the last assistant turn, which may still get results. */
interface CachedHistory {
  readonly profile: Profile
  readonly tools: ModelRequest['tools']
  readonly system: string | undefined
  readonly ids: IdRegistry
  pieces: readonly string[]
  /** One for each message of the text but the last ones, which are not marked yet. */
  readonly hashes: string[]
  readonly unhashed: EncodedMessage[]
  hashPending: () => void
  /** The system prompt, on wires where it is the first message. */
  systemText: string
  turnCount: number
  firstTurn: Turn | undefined
}

function createCachedHistory({ tools, system }: ModelRequest, profile: Profile): CachedHistory {
  return {
    profile,
    tools,
    system,
    ids: createIdRegistry(),
    pieces: [],
    hashes: [],
    unhashed: [],
    hashPending: () => {},
    systemText: '',
    turnCount: 0,
    firstTurn: undefined,
  }
}

function isReusable(cached: CachedHistory, { turns, tools, system }: ModelRequest, profile: Profile): boolean {
  return (
    cached.profile === profile &&
    cached.tools === tools &&
    cached.system === system &&
    turns.length >= cached.turnCount &&
    turns[0] === (cached.firstTurn ?? turns[0])
  )
}

/** Encodes the turns after those that are kept, up to a place. */
function encodeTurns(
  wire: Wire,
  request: ModelRequest,
  profile: Profile,
  cached: CachedHistory,
  to: number,
  ids: IdRegistry,
) {
  return wire.encodeRequest({ ...request, turns: request.turns.slice(cached.turnCount, to) }, profile, {
    ids,
    isContinuation: cached.turnCount > 0,
  })
}

/** The list at the end of a body; the text of the body without it, and the fields before it. */
function splitHistory(body: JsonObject): { items: Json[]; frame: string; head: JsonObject } {
  const key = Object.keys(body).at(-1) ?? ''
  const value = body[key]
  if (Array.isArray(value)) {
    const head = { ...body, [key]: [] }
    return { items: value, frame: JSON.stringify(head), head }
  }
  if (!isObject(value)) throw new Error('a body must end in its history')
  const inner = splitHistory(value)
  const frame = JSON.stringify({ ...body, [key]: 0 }).replace(/0\}$/, () => `${inner.frame}}`)
  return { items: inner.items, frame, head: { ...body, [key]: inner.head } }
}

interface EncodedMessage {
  readonly item: Json
  readonly text: string
}

function encodeMessages(items: readonly Json[]): EncodedMessage[] {
  return items.map((item) => ({ item, text: JSON.stringify(item) }))
}

/** The marks of messages that follow those that are kept. */
function hashMessages(texts: readonly EncodedMessage[], cached: CachedHistory): string[] {
  const marks: string[] = []
  for (const { item, text } of texts) {
    if (isSystemMessage(item) && cached.hashes.length + marks.length === 0) cached.systemText = text
    else marks.push(hashMessage(item, text, marks.at(-1) ?? cached.hashes.at(-1)))
  }
  return marks
}

/** Text in pieces, with more of it. Short messages make one piece together; a long one is a piece itself, and is not copied. */
function grown(pieces: readonly string[], texts: readonly EncodedMessage[]): string[] {
  const all = [...pieces]
  for (const { text } of texts) {
    const previous = all.at(-1)
    if (previous !== undefined && previous.length + text.length < PIECE) all[all.length - 1] = `${previous},${text}`
    else if (previous === undefined) all.push(text)
    else all.push(',', text)
  }
  return all
}

/** In characters. */
const PIECE = 2 ** 18
