import type { JsonObject } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import type { BodyPiece } from '../../wire/history/encoded-messages.ts'
import type { createIncrementalBodyWriter } from '../../wire/history/incremental-body-writer.ts'
import type { Wire } from '../../wire/wire.ts'

/** Writes the bodies of one model; it may reuse what it wrote before. */
export type RequestBodyWriter = ReturnType<typeof createIncrementalBodyWriter>

export function createFullBodyWriter(wire: Wire): RequestBodyWriter {
  return (request, profile) => {
    const { body, ...encoded } = wire.encodeRequest(request, profile)
    return { ...encoded, pieces: [JSON.stringify(body)] }
  }
}

/** Adds fields that only this endpoint knows. They come first, so that the history stays last. */
export function addExtraFields(
  pieces: readonly BodyPiece[],
  extra: JsonObject,
  { refuses }: Profile,
): readonly BodyPiece[] {
  const fields = Object.entries(extra).filter(([name]) => !refuses.includes(name))
  if (fields.length === 0) return pieces
  const [first = '', ...rest] = pieces
  const withoutBrace = typeof first === 'string' ? first.slice(1) : first.subarray(1)
  return [`${JSON.stringify(Object.fromEntries(fields)).slice(0, -1)},`, withoutBrace, ...rest]
}

export function countBodyBytes(pieces: readonly BodyPiece[]): number {
  return pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0)
}
