import type { Usage } from '../model/usage.ts'

/** What the scripted model answers, before any wire has written it down. */
export interface Answer {
  /** See `answerId`; wires put their own prefixes before it. */
  readonly id: string
  readonly model: string
  /** Seconds since 1970. It follows from the place in the script, so that the same request gets the same bytes. */
  readonly created: number
  readonly parts: readonly AnswerPart[]
  readonly finish: 'stop' | 'calls' | 'length' | 'filter' | 'malformed-call'
  /** The vendor's word for the end, where it is to be another than the right one; null for none. */
  readonly word?: string | null
  readonly usage: Usage
  /** Into how many pieces each text is cut. */
  readonly pieces: number | undefined
}

/** A part of an answer. */
export type AnswerPart =
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }
  | AnswerCall

/** A call as it is to be sent. */
export interface AnswerCall {
  readonly kind: 'call'
  /** Without the wire's prefix; undefined where none is sent. */
  readonly id: string | undefined
  readonly name: string
  readonly raw: string
  /** The arguments go as an object where the wire wants text. */
  readonly asObject?: true
  /** The arguments were cut off. */
  readonly cut?: true
}

/** The calls of an answer. */
export function callsOf(answer: Answer): AnswerCall[] {
  return answer.parts.filter((part) => part.kind === 'call')
}

/** Cuts text into pieces, never through a character; by default small ones, but not too many. */
export function cutUp(text: string, count: number | undefined): string[] {
  const size = Math.max(1, count === undefined ? Math.max(PIECE, text.length / MOST) : text.length / count)
  const pieces: string[] = []
  let from = 0
  for (let step = 1; from < text.length; step++) {
    let to = Math.max(from + 1, Math.round(step * size))
    const code = text.charCodeAt(to)
    if (code >= 0xdc00 && code <= 0xdfff) to++
    pieces.push(text.slice(from, to))
    from = to
  }
  return pieces
}

const PIECE = 18
const MOST = 2000
