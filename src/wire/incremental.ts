import type { Warning } from '../model/event.ts'
import { isObject, type Json, type JsonObject } from '../model/json.ts'
import type { Profile } from '../model/profile.ts'
import type { Request } from '../model/request.ts'
import type { Turn } from '../model/turn.ts'
import { type GivenIds, givenIds } from './transcript.ts'
import type { Wire } from './wire.ts'

/** The text of a request body, in the pieces in which it is kept. */
export interface WrittenBody {
  readonly pieces: readonly string[]
  readonly warnings: readonly Warning[]
}

/** Writes request bodies. */
export type BodyWriter = (request: Request, profile: Profile) => WrittenBody

/**
 * A writer that does not write again what it has written: of a history that has grown, only the new turns are encoded,
 * and the text of the others is kept. The text is the same as that of `encode`, byte for byte; what a turn costs does
 * not grow with the history.
 */
export function bodyWriter(wire: Wire): BodyWriter {
  const histories = new WeakMap<readonly Turn[], Kept>()

  return (request, profile) => {
    // Without tools a body may depend on names that stand far back; with rolling marks, its older parts change.
    if (
      request.tools.length === 0 ||
      profile.cache === 'marks' ||
      profile.alternate ||
      profile.bridge ||
      request.previous !== undefined
    ) {
      const { body, warnings } = wire.encode(request, profile)
      return { pieces: [JSON.stringify(body)], warnings }
    }
    const { turns } = request
    const last = histories.get(turns)
    const kept = last && fits(last, request, profile) ? last : startKept(request, profile)
    histories.set(turns, kept)
    const tail = turns.findLastIndex((turn) => turn.role === 'assistant')
    if (tail > kept.count) {
      const { body } = encodePart(wire, request, profile, kept, tail, kept.ids)
      kept.text = joined(kept.text, textOf(historyOf(body).items))
      kept.count = tail
      kept.first = turns[0]
    }
    const { body, warnings } = encodePart(wire, request, profile, kept, turns.length, givenIds(kept.ids))
    const { items, frame } = historyOf(body)
    const at = frame.lastIndexOf('[]') + 1
    return { pieces: [frame.slice(0, at), joined(kept.text, textOf(items)), frame.slice(at)], warnings }
  }
}

/** What is kept of a history: the text of its turns up to the last assistant turn, which may still get results. */
interface Kept {
  readonly profile: Profile
  readonly tools: Request['tools']
  readonly system: string | undefined
  readonly ids: GivenIds
  text: string
  count: number
  first: Turn | undefined
}

function startKept({ tools, system }: Request, profile: Profile): Kept {
  return { profile, tools, system, ids: givenIds(), text: '', count: 0, first: undefined }
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

/** The list at the end of a body, and the text of the body without it. */
function historyOf(body: JsonObject): { items: Json[]; frame: string } {
  const key = Object.keys(body).at(-1) ?? ''
  const value = body[key]
  if (Array.isArray(value)) return { items: value, frame: JSON.stringify({ ...body, [key]: [] }) }
  if (!isObject(value)) throw new Error('a body must end in its history')
  const inner = historyOf(value)
  return { items: inner.items, frame: JSON.stringify({ ...body, [key]: 0 }).replace(/0\}$/, () => `${inner.frame}}`) }
}

function textOf(items: readonly Json[]): string {
  return items.map((item) => JSON.stringify(item)).join(',')
}

function joined(first: string, second: string): string {
  return first === '' || second === '' ? first + second : `${first},${second}`
}
