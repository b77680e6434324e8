import type { TurnEvent } from '../model/event.ts'
import { isObject } from '../model/json.ts'
import type { WireId } from '../model/turn.ts'
import { ENDPOINTS } from '../wire/endpoint.ts'
import type { Frame } from '../wire/frame.ts'

/** Tells the frames that say something from those that only keep the connection open (T109). */
export interface Pulse {
  /** Did this frame say something? `events` is what the wire made of it. */
  felt(frame: Frame, events: readonly TurnEvent[]): boolean
}

/** Starts to feel the pulse of one answer. */
export function startPulse(): Pulse {
  let silent = ''
  return {
    felt(frame, events) {
      if (frame.kind !== 'json') return frame.kind !== 'comment'
      if (events.some(({ type }) => type !== 'usage' && type !== 'warn')) return true
      if (isObject(frame.value) && PING.test(String(frame.value['type']))) return false
      // A frame that leads to nothing yet may be part of something long. But the same frame over and over, with
      // nothing but a new number or time in it, is a keep-alive.
      const shape = JSON.stringify(frame.value).replace(/\d+/g, '')
      const same = shape === silent
      silent = shape
      return !same
    },
  }
}

/** Is this the last word of an answer, on the wires that have one? What comes later is no part of it (T111). */
export function isLastWord(frame: Frame, wire: WireId): boolean {
  if (frame.kind === 'done') return true
  const type = frame.kind === 'json' && isObject(frame.value) ? frame.value['type'] : undefined
  return typeof type === 'string' && (ENDPOINTS[wire].lastFrames?.includes(type) ?? false)
}

const PING = /^(?:ping|keep-?alive|heartbeat)$/i
