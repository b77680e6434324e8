import type { JsonObject } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
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
export function addExtraFields(pieces: readonly string[], extra: JsonObject, { refuses }: Profile): readonly string[] {
  const fields = Object.entries(extra).filter(([name]) => !refuses.includes(name))
  const [first = '', ...rest] = pieces
  return fields.length === 0
    ? pieces
    : [`${JSON.stringify(Object.fromEntries(fields)).slice(0, -1)},`, first.slice(1), ...rest]
}

export function countBodyBytes(pieces: readonly string[]): number {
  return pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0)
}
