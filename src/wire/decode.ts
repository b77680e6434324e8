import type { TurnEvent } from '../model/event.ts'
import { type Folded, fold } from '../model/fold.ts'
import { framer } from './framing/framer.ts'
import type { Reading, Wire } from './wire.ts'

/** Reads a whole response from its bytes, in whatever pieces they come. */
export function decode(wire: Wire, reading: Reading, pieces: Iterable<Uint8Array>, contentType?: string): Folded {
  const origin = { provider: reading.profile.signer, wire: wire.id, model: '' }
  return fold(decodeEvents(wire, reading, pieces, contentType), origin)
}

/** The events of a whole response. */
export function* decodeEvents(
  wire: Wire,
  reading: Reading,
  pieces: Iterable<Uint8Array>,
  contentType?: string,
): Generator<TurnEvent> {
  const state = wire.start(reading)
  const frames = framer(contentType)
  for (const piece of pieces) for (const frame of frames.push(piece)) yield* wire.step(state, frame)
  for (const frame of frames.end()) yield* wire.step(state, frame)
  yield* wire.stop(state)
}
