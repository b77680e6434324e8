import type { TurnEvent } from '../../model/event.ts'
import { isObject } from '../../model/json.ts'
import type { WireId } from '../../model/turn.ts'
import { WIRE_ENDPOINTS } from '../../wire/endpoint.ts'
import type { Frame } from '../../wire/framing/frame.ts'

/** Tells the frames that say something from those that only keep the connection open (T109). */
export interface KeepAliveFilter {
  /** Did this frame say something? `events` is what the wire made of it. */
  isContent(frame: Frame, events: readonly TurnEvent[]): boolean
}

/** Starts to feel the pulse of one answer. */
export function createKeepAliveFilter(): KeepAliveFilter {
  let lastShape = ''
  return {
    isContent(frame, events) {
      if (frame.kind !== 'json') return frame.kind !== 'comment'
      if (events.some(({ type }) => type !== 'usage' && type !== 'warn')) return true
      if (isObject(frame.value) && PING_TYPE.test(String(frame.value['type']))) return false
      // A frame that leads to nothing yet may be part of something long. But the same frame over and over, with
      // nothing but a new number or time in it, is a keep-alive.
      const shape = JSON.stringify(frame.value).replace(/\d+/g, '')
      const isRepeat = shape === lastShape
      lastShape = shape
      return !isRepeat
    },
  }
}

/** Is this the last word of an answer, on the wires that have one? What comes later is no part of it (T111). */
export function isLastFrame(frame: Frame, wire: WireId): boolean {
  if (frame.kind === 'done') return true
  const type = frame.kind === 'json' && isObject(frame.value) ? frame.value['type'] : undefined
  return typeof type === 'string' && (WIRE_ENDPOINTS[wire].lastFrames?.includes(type) ?? false)
}

const PING_TYPE = /^(?:ping|keep-?alive|heartbeat)$/i
