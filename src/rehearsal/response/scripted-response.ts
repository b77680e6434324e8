import type { Usage } from '../../model/usage.ts'

/** What the scripted model answers, before any wire has written it down. */
export interface ScriptedResponse {
  /** See `answerId`; wires put their own prefixes before it. */
  readonly id: string
  readonly model: string
  /** Seconds since 1970. It follows from the place in the script, so that the same request gets the same bytes. */
  readonly created: number
  readonly parts: readonly ScriptedResponsePart[]
  readonly finish: 'stop' | 'calls' | 'length' | 'filter' | 'malformed-call'
  /** The vendor's word for the end, where it is to be another than the right one; null for none. */
  readonly finishReasonOverride?: string | null
  readonly usage: Usage
  /** Into how many pieces each text is cut. */
  readonly chunkCount: number | undefined
}

/** A part of an answer. */
export type ScriptedResponsePart =
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }
  | ScriptedResponseCall

/** A call as it is to be sent. */
export interface ScriptedResponseCall {
  readonly kind: 'call'
  /** Without the wire's prefix; undefined where none is sent. */
  readonly id: string | undefined
  readonly name: string
  readonly raw: string
  /** The arguments go as an object where the wire wants text. */
  readonly sendsObject?: true
  /** The arguments were cut off. */
  readonly isTruncated?: true
}

/** The calls of an answer. */
export function getResponseCalls(response: ScriptedResponse): ScriptedResponseCall[] {
  return response.parts.filter((part) => part.kind === 'call')
}

/** Cuts text into pieces, never through a character; by default small ones, but not too many. */
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
