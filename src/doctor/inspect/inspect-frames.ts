import type { WireId } from '../../model/turn.ts'
import type { Frame } from '../../wire/framing/frame.ts'
import { createFramer } from '../../wire/framing/framer.ts'
import type { ResponseTrace } from '../recording-client.ts'
import type { FrameInspection } from './frame-inspection.ts'
import { inspectAnthropicEvent } from './anthropic.ts'
import { inspectChatChunk } from './openai-chat.ts'
import { inspectGeminiChunk } from './gemini.ts'
import { inspectInteractionsEvent } from './interactions.ts'
import { inspectResponsesEvent } from './openai-responses.ts'

const FRAME_INSPECTORS: Readonly<
  Record<WireId, (inspection: FrameInspection, value: Record<string, unknown>) => void>
> = {
  'openai-chat': inspectChatChunk,
  'openai-responses': inspectResponsesEvent,
  anthropic: inspectAnthropicEvent,
  gemini: inspectGeminiChunk,
  interactions: inspectInteractionsEvent,
  'code-assist': inspectGeminiChunk,
}

export function inspectFrames(wire: WireId, frames: readonly Frame[]): FrameInspection {
  const inspection: FrameInspection = {
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

/** Parses the frames of a response from its bytes again. */
export function parseTraceFrames({ headers, chunks }: Pick<ResponseTrace, 'headers' | 'chunks'>): Frame[] {
  const frameParser = createFramer(headers['content-type'])
  return [...chunks.flatMap((chunk) => frameParser.push(chunk)), ...frameParser.end()]
}

export function decodeTraceBody({ chunks }: Pick<ResponseTrace, 'chunks'>): string {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join('') + decoder.decode()
}
