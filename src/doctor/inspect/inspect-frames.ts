import type { WireId } from '../../model/turn.ts'
import type { Frame } from '../../wire/framing/frame.ts'
import { createFramer } from '../../wire/framing/framer.ts'
import type { ResponseTrace } from '../recording-client.ts'
import { inspectAnthropicEvent } from './anthropic.ts'
import { inspectChatChunk } from './openai-chat.ts'
import { inspectGeminiChunk } from './gemini.ts'
import { inspectResponsesEvent } from './openai-responses.ts'

/** A piece of a call as it stood in one frame, before anybody put calls together. What a frame did not hold is undefined. */
export interface CallFragment {
  /** The number that tells calls apart on this wire; null where there should be one, and undefined where the wire has none. */
  readonly index: number | null | undefined
  readonly id: unknown
  /** The vendor's second id of the same thing (Responses). */
  readonly itemId?: unknown
  readonly name: unknown
  readonly arguments: unknown
  /** Does the wire say that a call begins here? */
  readonly startsCall: boolean
  /** The arguments are all of them, said once more at the end. */
  readonly isFinalCopy?: true
}

/** What stands in the frames of an answer, in the same words for all wires. */
export interface FrameInspection {
  readonly fragments: readonly CallFragment[]
  /** The numbers of the blocks or items in the order in which they began, and null for one without. */
  readonly blockIndexes: readonly (number | null)[]
  /** The words with which the answer ended. */
  readonly finishReasons: readonly string[]
  /** The objects that hold token counts. */
  readonly usages: readonly unknown[]
  /** The visible text. */
  readonly text: string
  /** How often an answer began. */
  readonly startCount: number
  /** Something began that was not said to have ended. */
  readonly hasOpenBlock: boolean
  /** An error came inside the answer. */
  readonly hasError: boolean
}

/** A look that sees nothing yet; the eyes of a wire add to it. */
export interface InspectionBuilder {
  fragments: CallFragment[]
  blockIndexes: (number | null)[]
  finishReasons: string[]
  usages: unknown[]
  text: string
  startCount: number
  hasOpenBlock: boolean
  hasError: boolean
}

const FRAME_INSPECTORS: Readonly<
  Record<WireId, (inspection: InspectionBuilder, value: Record<string, unknown>) => void>
> = {
  'openai-chat': inspectChatChunk,
  'openai-responses': inspectResponsesEvent,
  anthropic: inspectAnthropicEvent,
  gemini: inspectGeminiChunk,
  'code-assist': inspectGeminiChunk,
}

/** Looks at the frames of an answer. */
export function inspectFrames(wire: WireId, frames: readonly Frame[]): FrameInspection {
  const inspection: InspectionBuilder = {
    fragments: [],
    blockIndexes: [],
    finishReasons: [],
    usages: [],
    text: '',
    startCount: 0,
    hasOpenBlock: false,
    hasError: false,
  }
  for (const frame of frames) {
    if (frame.kind !== 'json') continue
    const values: readonly unknown[] = Array.isArray(frame.value) ? frame.value : [frame.value]
    for (const value of values) FRAME_INSPECTORS[wire](inspection, value as Record<string, unknown>)
  }
  return inspection
}

/** The frames of an answer, cut again from its bytes. */
export function parseTraceFrames({ headers, chunks }: Pick<ResponseTrace, 'headers' | 'chunks'>): Frame[] {
  const frameParser = createFramer(headers['content-type'])
  return [...chunks.flatMap((chunk) => frameParser.push(chunk)), ...frameParser.end()]
}

/** The text of an answer, byte for byte. */
export function decodeTraceBody({ chunks }: Pick<ResponseTrace, 'chunks'>): string {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join('') + decoder.decode()
}
