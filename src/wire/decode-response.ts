import type { TurnEvent } from '../model/event.ts'
import { type FoldedTurn, fold } from '../model/fold.ts'
import { createFramer } from './framing/framer.ts'
import type { DecodeContext, Wire } from './wire.ts'

/** Decodes a whole response from its bytes, however they are split into chunks. */
export function decodeResponse(
  wire: Wire,
  context: DecodeContext,
  chunks: Iterable<Uint8Array>,
  contentType?: string,
): FoldedTurn {
  const origin = { provider: context.profile.signer, wire: wire.id, model: '' }
  return fold(decodeResponseEvents(wire, context, chunks, contentType), origin)
}

export function* decodeResponseEvents(
  wire: Wire,
  context: DecodeContext,
  chunks: Iterable<Uint8Array>,
  contentType?: string,
): Generator<TurnEvent> {
  const state = wire.startDecoding(context)
  const frames = createFramer(contentType)
  for (const chunk of chunks) for (const frame of frames.push(chunk)) yield* wire.decodeFrame(state, frame)
  for (const frame of frames.end()) yield* wire.decodeFrame(state, frame)
  yield* wire.finishDecoding(state)
}
