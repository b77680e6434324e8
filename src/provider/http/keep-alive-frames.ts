import type { TurnEvent } from '../../model/event.ts'
import { nonBlankString, objectOrEmpty } from '../../model/json.ts'
import { lazy } from '../../model/lazy.ts'
import type { WireId } from '../../model/turn.ts'
import { WIRE_ENDPOINTS } from '../../wire/endpoint.ts'
import type { Frame } from '../../wire/framing/frame.ts'

/** Returns a test for content, as opposed to frames that only keep the connection open (T109). */
export function createContentTest(): (frame: Frame, events: readonly TurnEvent[]) => boolean {
  let last: { readonly type: string; readonly getShape: () => string } | undefined
  return (frame, events) => {
    if (frame.kind !== 'json') return frame.kind !== 'comment'
    if (events.some(({ type }) => type !== 'usage' && type !== 'warn')) return true
    const { value } = frame
    const type = nonBlankString(objectOrEmpty(value)['type']) ?? ''
    if (PING_TYPE.test(type)) return false
    // A frame without events may be part of something long. But the same frame again and again, with only other
    // numbers in it, is a keep-alive.
    const before = last
    last = { type: type.replace(/\d+/g, ''), getShape: lazy(() => JSON.stringify(value).replace(/\d+/g, '')) }
    return before?.type !== last.type || before.getShape() !== last.getShape()
  }
}

/** Is this the last frame of a response, on wires that mark it? What follows does not belong to it (T111). */
export function isLastFrame(frame: Frame, wire: WireId): boolean {
  if (frame.kind === 'done') return true
  const fields = frame.kind === 'json' ? objectOrEmpty(frame.value) : {}
  const type = fields['type'] ?? fields['event_type']
  return typeof type === 'string' && (WIRE_ENDPOINTS[wire].lastFrames?.includes(type) ?? false)
}

const PING_TYPE = /^(?:ping|keep-?alive|heartbeat)$/i
