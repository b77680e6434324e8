import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import { stringify } from '../../wire/verbatim.ts'
import type { Wire } from '../../wire/wire.ts'
import type { Misbehaviour, Trouble } from '../misbehaviour.ts'
import type { Frame } from '../write-answer.ts'
import { alterCalls } from './alter-calls.ts'
import { locate } from './place.ts'

/** What goes wrong with the events of a stream. */
export function alterFrames(frames: Frame[], one: Misbehaviour, wire: Wire): Frame[] {
  switch (one.kind) {
    case 'finish-missing':
      return frames.filter(({ spot }) => spot !== 'end')
    case 'finish-repeated':
      return frames.flatMap((frame) => (frame.spot === 'end' ? [frame, frame] : [frame]))
    case 'no-done':
      return frames.filter(({ raw }) => raw !== '[DONE]')
    case 'corrupt':
      return corrupted(frames, at(frames, one.at ?? 'arguments'))
    case 'error': {
      const index = at(frames, one.at ?? 'text')
      return [
        ...frames.slice(0, index),
        { ...wire.response.errorFrame(TROUBLES[one.trouble ?? 'overloaded']), spot: 'text' },
      ]
    }
    case 'unknown-events':
      return strangers(frames)
    case 'spliced':
      return spliced(frames)
    case 'usage-hostile':
      return frames.map((frame) => ({ ...frame, data: hostile(frame.data) }))
    default:
      return alterCalls(frames, one, wire.id)
  }
}

/** What an endpoint says of its troubles. */
const TROUBLES: Readonly<Record<Trouble, { readonly status: number; readonly message: string }>> = {
  overloaded: { status: 529, message: 'Overloaded' },
  rate: { status: 429, message: 'Rate limit reached. Please try again in 1.5s.' },
  server: { status: 500, message: 'The server had an error while processing your request.' },
  invalid: { status: 400, message: 'The request is invalid, and will be so again.' },
}

/** Token counts that nobody should believe, wherever they stand. */
export function hostile(data: Json): Json {
  let turn = 0
  return JSON.parse(
    JSON.stringify(data, (key, value: unknown) =>
      typeof value === 'number' && /tokens|TokenCount/.test(key) ? HOSTILE[turn++ % HOSTILE.length] : value,
    ),
  ) as Json
}

const HOSTILE = [-1, '17', null, 1e300] as const

function at(frames: readonly Frame[], place: Parameters<typeof locate>[1]): number {
  return locate(
    frames.map(({ spot }) => spot),
    place,
  ).index
}

/** One event comes with its text broken off: what it held is lost. */
function corrupted(frames: Frame[], index: number): Frame[] {
  return frames.map((frame, place) => {
    if (place !== index) return frame
    const text = frame.raw ?? stringify(frame.data)
    return { ...frame, raw: text.slice(0, Math.ceil(text.length * 0.7)) }
  })
}

/** Kinds of events and fields that nobody has heard of. */
function strangers(frames: Frame[]): Frame[] {
  const stranger: Frame = {
    event: 'rehearsal.note',
    data: { type: 'rehearsal.note', note: 'Nobody needs to understand this.' },
    spot: 'text',
  }
  const marked = frames.map((frame) =>
    isObject(frame.data) ? { ...frame, data: { ...frame.data, x_new: [1] } } : frame,
  )
  const [first, ...rest] = marked as Frame[]
  return first === undefined ? [stranger] : [first, stranger, ...rest]
}

/** A gateway changes to another upstream, which begins its answer anew in the middle of this one. */
function spliced(frames: Frame[]): Frame[] {
  const [first] = frames
  const message = first && isObject(first.data) && isObject(first.data['message']) ? first.data['message'] : undefined
  if (!first || !message) return frames
  const second = { ...(first.data as JsonObject), message: { ...message, id: 'msg_another' } }
  const index = at(frames, 'before-end')
  return [...frames.slice(0, index), { ...first, data: second }, ...frames.slice(index)]
}
