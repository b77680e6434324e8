import type { TurnEvent } from '../../model/event.ts'
import { type Frame, readStatusComment } from '../framing/frame.ts'
import type { TurnBuilder } from './turn-builder.ts'

interface FrameHandlers<State> {
  json(state: State, value: unknown, event: string | undefined): void
  /** By default the response is marked as unreadable. */
  bad?(state: State, text: string, event: string | undefined): void
  /** The body is one JSON object, and nothing of it is missing: it needs no other end signal. */
  complete?(state: State): void
}

/** The `decodeFrame` of a wire. `status` of a state is the HTTP status, also if the server sent it in a comment. */
export function createFrameDecoder<State extends { readonly builder: TurnBuilder; status?: number | undefined }>(
  handlers: FrameHandlers<State>,
): (state: State, frame: Frame) => TurnEvent[] {
  return (state, frame) => {
    switch (frame.kind) {
      case 'json':
        handlers.json(state, frame.value, frame.event)
        break
      case 'bad':
        if (handlers.bad) handlers.bad(state, frame.text, frame.event)
        else state.builder.markUnreadable(frame.text)
        break
      case 'comment':
        if ('status' in state) state.status = readStatusComment(frame.text) ?? state.status
        break
      case 'complete':
        handlers.complete?.(state)
        break
      case 'done':
        break
      default:
        frame satisfies never
    }
    return state.builder.takeEvents()
  }
}
