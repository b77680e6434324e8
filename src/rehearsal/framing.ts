import { isObject } from '../model/json.ts'
import type { WireId } from '../model/turn.ts'
import type { Item } from './deliver.ts'
import type { FramingStyle } from './misbehaviour.ts'
import { stringify } from '../wire/verbatim.ts'
import type { Frame, Spot } from './write-answer.ts'

/** How the events of a stream are held apart: as server-sent events, or as the elements of one JSON array. */
export type Framing = 'sse' | 'array'

/** Writes the events of a stream as bytes, one item for each. */
export function written(
  frames: readonly Frame[],
  wire: WireId,
  framing: Framing,
  style: FramingStyle | undefined,
): Item[] {
  const numbered = wire === 'openai-responses' ? frames.map(withNumber) : frames
  if (framing === 'array') return inArray(numbered)
  const texts = numbered.map((frame, at) => ({ text: event(frame, at, style), spot: frame.spot }))
  if (style === 'bom' && texts[0]) texts[0].text = `\uFEFF${texts[0].text}`
  const last = texts.at(-1)
  if (style === 'no-last-blank' && last) last.text = last.text.trimEnd()
  return texts.filter(({ text }) => text !== '').map(({ text, spot }) => item(text, spot))
}

/** The type of a streamed body. */
export function streamType(framing: Framing, style: FramingStyle | undefined): string {
  if (framing === 'array') return 'application/json; charset=UTF-8'
  return style === 'ndjson' ? 'application/x-ndjson' : 'text/event-stream; charset=utf-8'
}

function withNumber(frame: Frame, at: number): Frame {
  return isObject(frame.data) && frame.raw === undefined
    ? { ...frame, data: { ...frame.data, sequence_number: at } }
    : frame
}

function event(frame: Frame, at: number, style: FramingStyle | undefined): string {
  const text = frame.raw ?? stringify(frame.data)
  if (style === 'ndjson') return frame.raw === '[DONE]' ? '' : `${text}\n`
  const name = frame.event === undefined ? '' : `event: ${frame.event}\n`
  const lines = `${before(at, style)}${name}${dataLines(frame, text, style)}\n\n`
  if (style === 'crlf') return lines.replaceAll('\n', '\r\n')
  if (style === 'cr') return lines.replaceAll('\n', '\r')
  return style === 'mixed' ? lines.replaceAll('\n', MIXED[at % MIXED.length] ?? '\n') : lines
}

const MIXED = ['\r\n', '\n', '\r']

/** Lines that mean nothing to the reader of the events. */
function before(at: number, style: FramingStyle | undefined): string {
  if (style === 'comments') return `: keep-alive ${at}\n\n`
  return style === 'fields' ? `id: ${at}\nretry: 3000\nnonsense\n` : ''
}

function dataLines(frame: Frame, text: string, style: FramingStyle | undefined): string {
  if (style === 'no-space') return `data:${text}`
  if (style === 'two-spaces') return `data:  ${text}`
  if (style !== 'multi-line' || frame.raw !== undefined) return `data: ${text}`
  return stringify(frame.data, 1)
    .split('\n')
    .map((line) => `data: ${line}`)
    .join('\n')
}

function inArray(frames: readonly Frame[]): Item[] {
  const items = frames.map((frame, at) => {
    return item(`${at === 0 ? '[' : ',\r\n'}${frame.raw ?? stringify(frame.data)}`, frame.spot)
  })
  return [...items, item(frames.length === 0 ? '[]' : '\n]', 'done')]
}

function item(text: string, spot: Spot): Item {
  return { bytes: Buffer.from(text), spot }
}
