import type { Frame } from './frame.ts'
import { isObject } from '../../model/json.ts'
import { INVALID_BYTES_MARKER, replaceInvalidBytes } from './utf8-decoder.ts'

/** Splits decoded text into frames, and appends them to a list of the caller. */
export interface FrameReader {
  push(text: string, frames: Frame[]): void
  end(frames: Frame[]): void
}

/** An array at the top level is a list of frames: Google sends errors like this (T113). */
export function appendFrames(frames: Frame[], text: string, event?: string): void {
  if (!text.startsWith('{')) {
    // An event without data loses nothing, so it is not bad.
    if (BLANK.test(text)) return void frames.push({ kind: 'comment', text: '' })
    if (DONE.test(text)) return void frames.push({ kind: 'done' })
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return void frames.push(createBadFrame(text, event))
  }
  if (text.length > MIN_DEEP_CHARS && isTooDeep(text))
    return void frames.push({ ...createBadFrame(text, event), deep: true })
  if (text.includes(INVALID_BYTES_MARKER) && !isBrokenOnlyInContent(value))
    return void frames.push(createBadFrame(text, event))
  if (Array.isArray(value)) for (const item of value) frames.push(createJsonFrame(item, event))
  else frames.push(createJsonFrame(value, event))
}

/** No response nests this deep; a value that does could not be serialised again, because of the recursion limit. */
const MAX_FRAME_DEPTH = 500

/** Shorter text cannot nest too deeply. */
const MIN_DEEP_CHARS = 2 * MAX_FRAME_DEPTH

function isTooDeep(text: string): boolean {
  let depth = 0
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (inString) {
      if (char === 0x5c) at++
      else if (char === 0x22) inString = false
    } else if (char === 0x22) inString = true
    else if (char === 0x7b || char === 0x5b) {
      if (++depth > MAX_FRAME_DEPTH) return true
    } else if (char === 0x7d || char === 0x5d) depth--
  }
  return false
}

/** Are the invalid bytes only in content? In keys or types they could change the meaning of the frame. */
function isBrokenOnlyInContent(value: unknown, key = ''): boolean {
  if (typeof value === 'string') return CONTENT_KEYS.has(key) || !value.includes(INVALID_BYTES_MARKER)
  if (Array.isArray(value)) return value.every((item) => isBrokenOnlyInContent(item, key))
  if (!isObject(value) || ARGUMENT_KEYS.has(key)) return true
  return Object.entries(value).every(
    ([inner, item]) => !inner.includes(INVALID_BYTES_MARKER) && isBrokenOnlyInContent(item, inner),
  )
}

/** The keys of arguments that are objects, on all wires. */
const ARGUMENT_KEYS = new Set(['arguments', 'args', 'input'])

/** The keys of strings that a model wrote, on all wires. */
const CONTENT_KEYS = new Set([
  ...ARGUMENT_KEYS,
  ...'call_id content delta id message name partial_json reasoning reasoning_content reasoning_text'.split(' '),
  ...'refusal stringValue summary text thinking'.split(' '),
])

/** Text that could not be parsed, shortened for display. */
export function createBadFrame(text: string, event?: string): Extract<Frame, { kind: 'bad' }> {
  const clipped = clipText(replaceInvalidBytes(text))
  return event === undefined ? { kind: 'bad', text: clipped } : { kind: 'bad', text: clipped, event }
}

export const MAX_BAD_TEXT_CHARS = 2000

function createJsonFrame(value: unknown, event: string | undefined): Frame {
  return event === undefined ? { kind: 'json', value } : { kind: 'json', value, event }
}

function clipText(text: string): string {
  if (text.length <= MAX_BAD_TEXT_CHARS) return text
  // A lone surrogate could not be written as UTF-8.
  const splits = HIGH_SURROGATE.test(text.charAt(MAX_BAD_TEXT_CHARS - 1))
  return text.slice(0, splits ? MAX_BAD_TEXT_CHARS - 1 : MAX_BAD_TEXT_CHARS)
}

const BLANK = /^\s*$/
const DONE = /^\s*\[\s*DONE\s*\]\s*$/i
const HIGH_SURROGATE = /[\uD800-\uDBFF]/
