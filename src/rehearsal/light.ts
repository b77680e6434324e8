import type { JsonObject } from '../model/json.ts'
import type { Wire } from '../wire/wire.ts'
import { type Asked, parseBody, readAsked } from './asked.ts'
import { scanTurns } from './count-turns.ts'

/** Reads as little of a request as will do: its turns are counted in the bytes, unless the client says how many they are. */
export function scanAsked(
  wire: Wire,
  chunks: readonly Buffer[],
  more: { model?: string; stream?: boolean },
  told: number | undefined,
): Asked {
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  const ends = `${chunks[0]?.toString('latin1', 0, EDGE) ?? ''}\n${chunks.at(-1)?.subarray(-EDGE).toString('latin1') ?? ''}`
  let full: Asked | undefined
  const read = (): Asked => {
    return (full ??= readAsked(wire, parseBody(Buffer.concat(chunks)) ?? {}, { ...more, bytes }))
  }
  const body = { stream_options: { include_usage: /"include_usage":\s*true/.test(ends) } }
  return {
    wire: wire.id,
    model: more.model ?? /"model":\s*"([^"\\]*)"/.exec(ends)?.[1] ?? '',
    stream: more.stream ?? /"stream":\s*true/.test(ends),
    turns: told ?? scanTurns(wire.id, chunks),
    light: true,
    bytes,
    body: (): JsonObject => body,
    request: () => read().request(),
  }
}

/** How much of each end of a body is looked at: settings stand before or after the conversation, not inside it. */
const EDGE = 16_384
