import type { JsonObject } from '../../model/json.ts'
import type { Usage } from '../../model/usage.ts'
import type { Wire } from '../../wire/wire.ts'
import type { StreamFraming } from '../../wire/framing/write-frames.ts'

/** A response of the scripted model, before a wire encodes it. */
export interface ScriptedResponse {
  /** See `createResponseId`; wires add their own prefixes. */
  readonly id: string
  readonly model: string
  /** Seconds since 1970, derived from the position in the script, so that the same request gets the same bytes. */
  readonly created: number
  readonly parts: readonly ScriptedResponsePart[]
  readonly finish: 'stop' | 'calls' | 'length' | 'filter' | 'malformed-call'
  /** Replaces the vendor's finish reason; null removes it. */
  readonly finishReasonOverride?: string | null
  readonly usage: Usage
  /** Into how many chunks each text is split. */
  readonly chunkCount: number | undefined
}

export type ScriptedResponsePart =
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }
  | ScriptedResponseCall

export interface ScriptedResponseCall {
  readonly kind: 'call'
  /** Without the wire's prefix; undefined if none is sent. */
  readonly id: string | undefined
  readonly name: string
  readonly raw: string
  /** Send the arguments as an object where the wire has text. */
  readonly sendsObject?: true
  readonly isTruncated?: true
}

/** How a response is encoded and sent. */
export interface ScriptedResponseOptions {
  readonly wire: Wire
  /** Empty if it was not parsed. */
  readonly requestBody: JsonObject
  readonly stream: boolean
  readonly framing: StreamFraming
  /** Google sends errors inside an array to clients that asked for a stream of JSON. */
  readonly wrapsErrorsInArray: boolean
  readonly delayMs: number
  readonly paceMs: number
}

export function getResponseCalls(response: ScriptedResponse): ScriptedResponseCall[] {
  return response.parts.filter((part) => part.kind === 'call')
}

/** Never splits a character; by default, chunks are small but not too many. */
export function splitText(text: string, count: number | undefined): string[] {
  const size = Math.max(
    1,
    count === undefined ? Math.max(DEFAULT_CHUNK_CHARS, text.length / MAX_DEFAULT_CHUNKS) : text.length / count,
  )
  const chunks: string[] = []
  let from = 0
  for (let step = 1; from < text.length; step++) {
    let to = Math.max(from + 1, Math.round(step * size))
    const code = text.charCodeAt(to)
    if (code >= 0xdc00 && code <= 0xdfff) to++
    chunks.push(text.slice(from, to))
    from = to
  }
  return chunks
}

const DEFAULT_CHUNK_CHARS = 18
const MAX_DEFAULT_CHUNKS = 2000
