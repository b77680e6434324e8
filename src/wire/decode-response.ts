import type { TurnEvent } from '../model/event.ts'
import { createTurnFold, type FoldedTurn } from '../model/fold.ts'
import type { Frame } from './framing/frame.ts'
import { createFramer } from './framing/framer.ts'
import type { DecodeContext, Wire } from './wire.ts'

/** Decodes a whole response from its bytes, however they are split into chunks. */
export function decodeResponse(
  wire: Wire,
  context: DecodeContext,
  chunks: Iterable<Uint8Array>,
  contentType?: string,
): FoldedTurn {
  const turn = createTurnFold({ provider: context.profile.signer, wire: wire.id, model: '' })
  decodeChunks(wire, context, chunks, contentType, (event) => turn.push(event))
  return turn.end()
}

export function decodeResponseEvents(
  wire: Wire,
  context: DecodeContext,
  chunks: Iterable<Uint8Array>,
  contentType?: string,
): TurnEvent[] {
  const events: TurnEvent[] = []
  decodeChunks(wire, context, chunks, contentType, (event) => events.push(event))
  return events
}

function decodeChunks(
  wire: Wire,
  context: DecodeContext,
  chunks: Iterable<Uint8Array>,
  contentType: string | undefined,
  onEvent: (event: TurnEvent) => void,
): void {
  const state = wire.startDecoding(context)
  const framer = createFramer(contentType)
  const decode = (frame: Frame) => wire.decodeFrame(state, frame).forEach(onEvent)
  for (const chunk of chunks) framer.push(chunk).forEach(decode)
  framer.end().forEach(decode)
  wire.finishDecoding(state).forEach(onEvent)
}
