import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import { stringifyWithRawJson } from '../../wire/json/raw-json.ts'
import type { Wire } from '../../wire/wire.ts'
import type { MisbehaviourAt, StreamErrorKind } from './misbehaviour.ts'
import type { ScriptedFrame } from '../response/encode-frames.ts'
import { resolveStreamPosition } from './stream-position.ts'

export function alterFrames(
  frames: ScriptedFrame[],
  misbehaviour: MisbehaviourAt<'frames'>,
  wire: Wire,
): ScriptedFrame[] {
  switch (misbehaviour.kind) {
    case 'finish-missing':
      return frames.filter(({ section }) => section !== 'end')
    case 'finish-repeated':
      return frames.flatMap((frame) => (frame.section === 'end' ? [frame, frame] : [frame]))
    case 'no-done':
      return frames.filter(({ raw }) => raw !== '[DONE]')
    case 'corrupt':
      return truncateFrame(frames, resolveStreamPosition(frames, misbehaviour.at ?? 'arguments').index)
    case 'error': {
      const { index } = resolveStreamPosition(frames, misbehaviour.at ?? 'text')
      const frame = wire.responseWriter.writeErrorFrame(STREAM_ERRORS[misbehaviour.trouble ?? 'overloaded'])
      return [...frames.slice(0, index), { ...frame, section: 'text' }]
    }
    case 'unknown-events':
      return addUnknownEvents(frames)
    case 'spliced':
      return insertSecondStart(frames)
    case 'usage-hostile':
      return frames.map((frame) => ({ ...frame, data: corruptTokenCounts(frame.data) }))
    default:
      return misbehaviour satisfies never
  }
}

const STREAM_ERRORS: Readonly<Record<StreamErrorKind, { readonly status: number; readonly message: string }>> = {
  overloaded: { status: 529, message: 'Overloaded' },
  rate: { status: 429, message: 'Rate limit reached. Please try again in 1.5s.' },
  server: { status: 500, message: 'The server had an error while processing your request.' },
  invalid: { status: 400, message: 'The request is invalid.' },
}

/** Replaces token counts by invalid ones. */
export function corruptTokenCounts(data: Json): Json {
  let turn = 0
  return JSON.parse(
    JSON.stringify(data, (key, value: unknown) =>
      typeof value === 'number' && /tokens|TokenCount/.test(key)
        ? INVALID_TOKEN_COUNTS[turn++ % INVALID_TOKEN_COUNTS.length]
        : value,
    ),
  ) as Json
}

const INVALID_TOKEN_COUNTS = [-1, '17', null, 1e300] as const

/** Truncates one event. */
function truncateFrame(frames: ScriptedFrame[], index: number): ScriptedFrame[] {
  return frames.map((frame, position) => {
    if (position !== index) return frame
    const text = frame.raw ?? stringifyWithRawJson(frame.data)
    return { ...frame, raw: text.slice(0, Math.ceil(text.length * 0.7)) }
  })
}

function addUnknownEvents(frames: ScriptedFrame[]): ScriptedFrame[] {
  const unknownEvent: ScriptedFrame = {
    event: 'rehearsal.note',
    data: { type: 'rehearsal.note', note: 'An unknown event.' },
    section: 'text',
  }
  const extended = frames.map((frame) =>
    isObject(frame.data) ? { ...frame, data: { ...frame.data, x_new: [1] } } : frame,
  )
  return [...extended.slice(0, 1), unknownEvent, ...extended.slice(1)]
}

/** A gateway switches its upstream, which starts its response again in the middle of this one. */
function insertSecondStart(frames: ScriptedFrame[]): ScriptedFrame[] {
  const [first] = frames
  const message = first && isObject(first.data) && isObject(first.data['message']) ? first.data['message'] : undefined
  if (!first || !message) return frames
  const second = { ...(first.data as JsonObject), message: { ...message, id: 'msg_another' } }
  const { index } = resolveStreamPosition(frames, 'before-end')
  return [...frames.slice(0, index), { ...first, data: second }, ...frames.slice(index)]
}
