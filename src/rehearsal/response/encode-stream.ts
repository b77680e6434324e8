import { isObject } from '../../model/json.ts'
import type { WireId } from '../../model/turn.ts'
import type { DeliveryStep } from './send-response.ts'
import type { FramingStyle } from '../misbehaviour/misbehaviour.ts'
import {
  ARRAY_END,
  formatFrameData,
  getArraySeparator,
  STREAM_CONTENT_TYPES,
  type StreamFraming,
} from '../../wire/framing/write-frames.ts'
import { stringifyWithRawJson } from '../../wire/json/raw-json.ts'
import type { ScriptedFrame, StreamSection } from './encode-frames.ts'

export function encodeStream(
  frames: readonly ScriptedFrame[],
  wire: WireId,
  framing: StreamFraming,
  style: FramingStyle | undefined,
): DeliveryStep[] {
  const numberedFrames = wire === 'openai-responses' ? frames.map(addSequenceNumber) : frames
  if (framing === 'array') return encodeJsonArray(numberedFrames)
  const texts = numberedFrames.map((frame, at) => ({ text: encodeEvent(frame, at, style), spot: frame.section }))
  if (style === 'bom' && texts[0]) texts[0].text = `\uFEFF${texts[0].text}`
  const last = texts.at(-1)
  if (style === 'no-last-blank' && last) last.text = last.text.trimEnd()
  return texts.filter(({ text }) => text !== '').map(({ text, spot: section }) => toSendItem(text, section))
}

export function getStreamContentType(framing: StreamFraming, style: FramingStyle | undefined): string {
  return framing === 'sse' && style === 'ndjson' ? 'application/x-ndjson' : STREAM_CONTENT_TYPES[framing]
}

function addSequenceNumber(frame: ScriptedFrame, at: number): ScriptedFrame {
  return isObject(frame.data) && frame.raw === undefined
    ? { ...frame, data: { ...frame.data, sequence_number: at } }
    : frame
}

function encodeEvent(frame: ScriptedFrame, at: number, style: FramingStyle | undefined): string {
  const text = formatFrameData(frame)
  if (style === 'ndjson') return frame.raw === '[DONE]' ? '' : `${text}\n`
  const name = frame.event === undefined ? '' : `event: ${frame.event}\n`
  const lines = `${encodePreamble(at, style)}${name}${encodeDataLines(frame, text, style)}\n\n`
  if (style === 'crlf') return lines.replaceAll('\n', '\r\n')
  if (style === 'cr') return lines.replaceAll('\n', '\r')
  return style === 'mixed' ? lines.replaceAll('\n', LINE_ENDINGS[at % LINE_ENDINGS.length] ?? '\n') : lines
}

const LINE_ENDINGS = ['\r\n', '\n', '\r']

/** Lines that readers of events ignore. */
function encodePreamble(at: number, style: FramingStyle | undefined): string {
  if (style === 'comments') return `: keep-alive ${at}\n\n`
  return style === 'fields' ? `id: ${at}\nretry: 3000\nnonsense\n` : ''
}

function encodeDataLines(frame: ScriptedFrame, text: string, style: FramingStyle | undefined): string {
  if (style === 'no-space') return `data:${text}`
  if (style === 'two-spaces') return `data:  ${text}`
  if (style !== 'multi-line' || frame.raw !== undefined) return `data: ${text}`
  return stringifyWithRawJson(frame.data, 1)
    .split('\n')
    .map((line) => `data: ${line}`)
    .join('\n')
}

function encodeJsonArray(frames: readonly ScriptedFrame[]): DeliveryStep[] {
  const items = frames.map((frame, at) => {
    return toSendItem(`${getArraySeparator(at === 0)}${formatFrameData(frame)}`, frame.section)
  })
  return [...items, toSendItem(frames.length === 0 ? '[]' : ARRAY_END, 'done')]
}

function toSendItem(text: string, section: StreamSection): DeliveryStep {
  return { bytes: Buffer.from(text), section }
}
