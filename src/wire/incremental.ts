import type { Warning } from '../model/event.ts'
import { isObject, type Json, type JsonObject } from '../model/json.ts'
import type { Profile } from '../model/profile.ts'
import type { Request } from '../model/request.ts'
import type { Turn } from '../model/turn.ts'
import { late } from '../model/late.ts'
import { isSystem, type MarkedHistory, marker, markList, markOf, type Marks } from './marks.ts'
import { type GivenIds, givenIds } from './transcript.ts'
import type { Wire } from './wire.ts'

/** The text of a request body, in the pieces in which it is kept. */
export interface WrittenBody {
  readonly pieces: readonly string[]
  readonly warnings: readonly Warning[]
  readonly marks?: Marks
}

/** Writes request bodies. */
export type BodyWriter = (request: Request, profile: Profile) => WrittenBody

/**
 * A writer that does not write again what it has written: of a history that has grown, only the new turns are encoded,
 * and the text of the others is kept. The text is the same as that of `encode`, byte for byte; what a turn costs does
 * not grow with the history.
 */
export function bodyWriter(wire: Wire): BodyWriter {
  const write = growingWriter(wire)
  const still = stillProfiles()

  return (request, profile) => {
    // Without tools a body may depend on names that stand far back; with rolling marks, its older parts change.
    const changes = profile.cache === 'marks' || profile.alternate || profile.bridge
    if (request.tools.length > 0 && !changes && request.previous === undefined) return write(request, profile)
    const { body, warnings } = wire.encode(request, profile)
    const marks = request.previous === undefined ? { marks: write(request, still(profile)).marks } : {}
    return { pieces: [JSON.stringify(body)], warnings, ...marks }
  }
}

function growingWriter(wire: Wire): (request: Request, profile: Profile) => Required<WrittenBody> {
  const histories = new WeakMap<readonly Turn[], Kept>()
  const mark = marker()

  return (request, profile) => {
    const { turns } = request
    const last = histories.get(turns)
    const kept = last && fits(last, request, profile) ? last : startKept(request, profile)
    histories.set(turns, kept)
    // The marks of the request before are made of what was kept then.
    kept.settle()
    const tail = turns.findLastIndex((turn) => turn.role === 'assistant')
    if (tail > kept.count) {
      const { body } = encodePart(wire, request, profile, kept, tail, kept.ids)
      const texts = textsOf(historyOf(body).items)
      kept.pieces = grown(kept.pieces, texts)
      kept.unmarked.push(...texts)
      kept.count = tail
      kept.first = turns[0]
    }
    const { body, warnings } = encodePart(wire, request, profile, kept, turns.length, givenIds(kept.ids))
    const { items, frame, head } = historyOf(body)
    const texts = textsOf(items)
    const at = frame.lastIndexOf('[]') + 1
    const marked = late((): MarkedHistory => {
      for (const one of marksOf(kept.unmarked.splice(0), kept)) kept.marks.push(one)
      const history = markList(kept.marks, marksOf(texts, kept))
      return { said: kept.said, history }
    })
    kept.settle = marked
    return {
      pieces: [frame.slice(0, at), ...grown(kept.pieces, texts), frame.slice(at)],
      warnings,
      marks: mark(head, marked),
    }
  }
}

/** The profile under which what was said once stays as it was said: marks for a cache, and what a template wants, are left out. */
function stillProfiles(): (profile: Profile) => Profile {
  const known = new WeakMap<Profile, Profile>()
  return (profile) => {
    const still = known.get(profile) ?? { ...profile, cache: 'none', alternate: false, bridge: false }
    known.set(profile, still)
    return still
  }
}

/** What is kept of a history: the text of its turns up to the last assistant turn, which may still get results. */
interface Kept {
  readonly profile: Profile
  readonly tools: Request['tools']
  readonly system: string | undefined
  readonly ids: GivenIds
  pieces: readonly string[]
  /** One for each message of the text but the last ones, which are not marked yet. */
  readonly marks: string[]
  readonly unmarked: Written[]
  settle: () => void
  /** The system prompt, on wires where it is the first message. */
  said: string
  count: number
  first: Turn | undefined
}

function startKept({ tools, system }: Request, profile: Profile): Kept {
  return {
    profile,
    tools,
    system,
    ids: givenIds(),
    pieces: [],
    marks: [],
    unmarked: [],
    settle: () => {},
    said: '',
    count: 0,
    first: undefined,
  }
}

function fits(kept: Kept, { turns, tools, system }: Request, profile: Profile): boolean {
  return (
    kept.profile === profile &&
    kept.tools === tools &&
    kept.system === system &&
    turns.length >= kept.count &&
    turns[0] === (kept.first ?? turns[0])
  )
}

/** Encodes the turns after those that are kept, up to a place. */
function encodePart(wire: Wire, request: Request, profile: Profile, kept: Kept, to: number, ids: GivenIds) {
  return wire.encode({ ...request, turns: request.turns.slice(kept.count, to) }, profile, {
    ids,
    begun: kept.count > 0,
  })
}

/** The list at the end of a body; the text of the body without it, and the fields before it. */
function historyOf(body: JsonObject): { items: Json[]; frame: string; head: JsonObject } {
  const key = Object.keys(body).at(-1) ?? ''
  const value = body[key]
  if (Array.isArray(value)) {
    const head = { ...body, [key]: [] }
    return { items: value, frame: JSON.stringify(head), head }
  }
  if (!isObject(value)) throw new Error('a body must end in its history')
  const inner = historyOf(value)
  const frame = JSON.stringify({ ...body, [key]: 0 }).replace(/0\}$/, () => `${inner.frame}}`)
  return { items: inner.items, frame, head: { ...body, [key]: inner.head } }
}

interface Written {
  readonly item: Json
  readonly text: string
}

function textsOf(items: readonly Json[]): Written[] {
  return items.map((item) => ({ item, text: JSON.stringify(item) }))
}

/** The marks of messages that follow those that are kept. */
function marksOf(texts: readonly Written[], kept: Kept): string[] {
  const marks: string[] = []
  for (const { item, text } of texts) {
    if (isSystem(item) && kept.marks.length + marks.length === 0) kept.said = text
    else marks.push(markOf(item, text, marks.at(-1) ?? kept.marks.at(-1)))
  }
  return marks
}

/** Text in pieces, with more of it. Short messages make one piece together; a long one is a piece itself, and is not copied. */
function grown(pieces: readonly string[], texts: readonly Written[]): string[] {
  const all = [...pieces]
  for (const { text } of texts) {
    const last = all.at(-1)
    if (last !== undefined && last.length + text.length < PIECE) all[all.length - 1] = `${last},${text}`
    else if (last === undefined) all.push(text)
    else all.push(',', text)
  }
  return all
}

/** In characters. */
const PIECE = 2 ** 18
