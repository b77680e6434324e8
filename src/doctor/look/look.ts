import type { WireId } from '../../model/turn.ts'
import type { Frame } from '../../wire/frame.ts'
import { framer } from '../../wire/framing/framer.ts'
import type { Trace } from '../tap.ts'
import { lookAnthropic } from './anthropic.ts'
import { lookChat } from './openai-chat.ts'
import { lookGemini } from './gemini.ts'
import { lookResponses } from './openai-responses.ts'

/** A piece of a call as it stood in one frame, before anybody put calls together. What a frame did not hold is undefined. */
export interface Piece {
  /** The number that tells calls apart on this wire; null where there should be one, and undefined where the wire has none. */
  readonly index: number | null | undefined
  readonly id: unknown
  /** The vendor's second id of the same thing (Responses). */
  readonly item?: unknown
  readonly name: unknown
  readonly arguments: unknown
  /** Does the wire say that a call begins here? */
  readonly opens: boolean
  /** The arguments are all of them, said once more at the end. */
  readonly closing?: true
}

/** What stands in the frames of an answer, in the same words for all wires. */
export interface Look {
  readonly pieces: readonly Piece[]
  /** The numbers of the blocks or items in the order in which they began, and null for one without. */
  readonly numbers: readonly (number | null)[]
  /** The words with which the answer ended. */
  readonly finishes: readonly string[]
  /** The objects that hold token counts. */
  readonly usages: readonly unknown[]
  /** The visible text. */
  readonly text: string
  /** How often an answer began. */
  readonly begins: number
  /** Something began that was not said to have ended. */
  readonly open: boolean
  /** An error came inside the answer. */
  readonly error: boolean
}

/** A look that sees nothing yet; the eyes of a wire add to it. */
export interface Sight {
  pieces: Piece[]
  numbers: (number | null)[]
  finishes: string[]
  usages: unknown[]
  text: string
  begins: number
  open: boolean
  error: boolean
}

const EYES: Readonly<Record<WireId, (sight: Sight, value: Record<string, unknown>) => void>> = {
  'openai-chat': lookChat,
  'openai-responses': lookResponses,
  anthropic: lookAnthropic,
  gemini: lookGemini,
  'code-assist': lookGemini,
}

/** Looks at the frames of an answer. */
export function look(wire: WireId, frames: readonly Frame[]): Look {
  const sight: Sight = {
    pieces: [],
    numbers: [],
    finishes: [],
    usages: [],
    text: '',
    begins: 0,
    open: false,
    error: false,
  }
  for (const frame of frames) {
    if (frame.kind !== 'json') continue
    const values: readonly unknown[] = Array.isArray(frame.value) ? frame.value : [frame.value]
    for (const value of values) EYES[wire](sight, value as Record<string, unknown>)
  }
  return sight
}

/** The frames of an answer, cut again from its bytes. */
export function framesOf({ headers, chunks }: Pick<Trace, 'headers' | 'chunks'>): Frame[] {
  const cut = framer(headers['content-type'])
  return [...chunks.flatMap((chunk) => cut.push(chunk)), ...cut.end()]
}

/** The text of an answer, byte for byte. */
export function bodyText({ chunks }: Pick<Trace, 'chunks'>): string {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join('') + decoder.decode()
}
