import type { TurnEvent } from '../model/event.ts'
import { type FoldedTurn, createTurnFold } from '../model/fold.ts'
import type { Frame } from './framing/frame.ts'
import { createFramer } from './framing/framer.ts'
import type { DecodeContext, Wire } from './wire.ts'

/** Reads a whole response from its bytes, in whatever pieces they come. */
export function decodeResponse(
  wire: Wire,
  context: DecodeContext,
  chunks: Iterable<Uint8Array>,
  contentType?: string,
): FoldedTurn {
  const folder = createTurnFold({ provider: context.profile.signer, wire: wire.id, model: '' })
  const state = wire.startDecoding(context)
  const frames = createFramer(contentType)
  const read = (batch: readonly Frame[]) => {
    for (const frame of batch) for (const event of wire.decodeFrame(state, frame)) folder.push(event)
  }
  for (const chunk of chunks) read(frames.push(chunk))
  read(frames.end())
  for (const event of wire.finishDecoding(state)) folder.push(event)
  return folder.end()
}

/** The events of a whole response. */
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
