import type { JsonObject } from '../../model/json.ts'
import { lazy } from '../../model/lazy.ts'
import type { Wire } from '../../wire/wire.ts'
import { type IncomingRequest, parseJsonBody, parseIncomingRequest } from './incoming-request.ts'
import { countAssistantTurnsInBytes } from './count-turns.ts'

/** Parses as little of a request as possible: its turns are counted in the bytes, unless the client names their number. */
export function scanIncomingRequest(
  wire: Wire,
  chunks: readonly Buffer[],
  overrides: { model?: string; stream?: boolean },
  knownTurns: number | undefined,
): IncomingRequest {
  const byteLength = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  const edges = `${chunks[0]?.toString('latin1', 0, SCANNED_EDGE_BYTES) ?? ''}\n${chunks.at(-1)?.subarray(-SCANNED_EDGE_BYTES).toString('latin1') ?? ''}`
  const parseFully = lazy(() => {
    return parseIncomingRequest(wire, parseJsonBody(Buffer.concat(chunks)) ?? {}, { ...overrides, byteLength })
  })
  const body = { stream_options: { include_usage: /"include_usage":\s*true/.test(edges) } }
  return {
    wire: wire.id,
    model: overrides.model ?? /"model":\s*"([^"\\]*)"/.exec(edges)?.[1] ?? '',
    stream: overrides.stream ?? /"stream":\s*true/.test(edges),
    assistantTurns: knownTurns ?? countAssistantTurnsInBytes(wire.id, chunks),
    isScanned: true,
    byteLength,
    readBody: (): JsonObject => body,
    readRequest: () => parseFully().readRequest(),
  }
}

/** Settings are before or after the conversation, so only the ends of a body are searched. */
const SCANNED_EDGE_BYTES = 16_384
