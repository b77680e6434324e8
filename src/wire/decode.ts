import type { TurnEvent } from '../model/event.ts'
import { type Folded, startFold } from '../model/fold.ts'
import type { Frame } from './frame.ts'
import { framer } from './framing/framer.ts'
import type { Reading, Wire } from './wire.ts'

/** Reads a whole response from its bytes, in whatever pieces they come. */
export function decode(wire: Wire, reading: Reading, pieces: Iterable<Uint8Array>, contentType?: string): Folded {
  const folder = startFold({ provider: reading.profile.signer, wire: wire.id, model: '' })
  const state = wire.start(reading)
  const frames = framer(contentType)
  const read = (some: readonly Frame[]) => {
    for (const frame of some) for (const event of wire.step(state, frame)) folder.push(event)
  }
  for (const piece of pieces) read(frames.push(piece))
  read(frames.end())
  for (const event of wire.stop(state)) folder.push(event)
  return folder.end()
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
