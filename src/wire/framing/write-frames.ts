import { stringifyWithRawJson } from '../json/raw-json.ts'
import type { WrittenResponseFrame } from '../response-writer.ts'

/** Server-sent events, or the elements of one JSON array. */
export type StreamFraming = 'sse' | 'array'

export const STREAM_CONTENT_TYPES: Readonly<Record<StreamFraming, string>> = {
  sse: 'text/event-stream; charset=utf-8',
  array: 'application/json; charset=UTF-8',
}

export function formatFrameData({ data, raw }: WrittenResponseFrame): string {
  return raw ?? stringifyWithRawJson(data)
}

/** One event. */
export function formatSseFrame(frame: WrittenResponseFrame): string {
  const name = frame.event === undefined ? '' : `event: ${frame.event}\n`
  return `${name}data: ${formatFrameData(frame)}\n\n`
}

export type FrameFormatter = ReturnType<typeof createFrameFormatter>

/** The text of a stream of frames, frame by frame. */
export function createFrameFormatter(framing: StreamFraming) {
  let count = 0
  return {
    format(frame: WrittenResponseFrame): string {
      const isFirst = count++ === 0
      return framing === 'sse' ? formatSseFrame(frame) : `${getArraySeparator(isFirst)}${formatFrameData(frame)}`
    },
    /** What follows the last frame. */
    end: (): string => (framing === 'sse' ? '' : count === 0 ? '[]' : ARRAY_END),
  }
}

/** What stands before an element of an array, as Google writes it. */
export function getArraySeparator(isFirst: boolean): string {
  return isFirst ? '[' : ',\r\n'
}

export const ARRAY_END = '\n]'
