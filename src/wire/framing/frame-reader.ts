import type { Frame } from './frame.ts'
import { isObject } from '../../model/json.ts'
import { INVALID_BYTES, replaceInvalidBytes } from './utf8.ts'

/** Cuts decoded text into frames, and adds them to a list that the caller owns. */
export interface FrameReader {
  push(text: string, frames: Frame[]): void
  end(frames: Frame[]): void
}

/** Adds what one piece of text means. An array at the top level is a list of frames: so Google sends errors (T113). */
export function appendFrames(frames: Frame[], text: string, event?: string): void {
  if (BLANK.test(text)) {
    // An event without data loses nothing, so it must not count as bad.
    frames.push({ kind: 'comment', text: '' })
    return
  }
  if (DONE.test(text)) {
    frames.push({ kind: 'done' })
    return
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    frames.push(createBadFrame(text, event))
    return
  }
  if (text.length > MIN_DEEP_CHARS && isTooDeep(text)) {
    frames.push({ ...createBadFrame(text, event), deep: true })
    return
  }
  if (text.includes(INVALID_BYTES) && !isBrokenOnlyInContent(value)) {
    frames.push(createBadFrame(text, event))
    return
  }
  if (Array.isArray(value)) for (const item of value) frames.push(createJsonFrame(item, event))
  else frames.push(createJsonFrame(value, event))
}

/** No answer nests this deep; and what does, cannot be written back, for that recursion has an end. */
const MAX_FRAME_DEPTH = 500

/** Shorter text cannot nest too deep. */
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

/**
 * Are the broken bytes only where content stands? Text is still readable with them, and a call with them will not run. But
 * a frame whose keys or kind are broken would be taken for another one, or for none, and what it held would be missing.
 */
function isBrokenOnlyInContent(value: unknown, key = ''): boolean {
  if (typeof value === 'string') return CONTENT_KEYS.has(key) || !value.includes(INVALID_BYTES)
  if (Array.isArray(value)) return value.every((item) => isBrokenOnlyInContent(item, key))
  if (!isObject(value) || ARGUMENT_KEYS.has(key)) return true
  return Object.entries(value).every(
    ([inner, item]) => !inner.includes(INVALID_BYTES) && isBrokenOnlyInContent(item, inner),
  )
}

/** The keys under which the wires carry arguments as an object. */
const ARGUMENT_KEYS = new Set(['arguments', 'args', 'input'])

/** The keys under which the wires carry what a model wrote, as a string. */
const CONTENT_KEYS = new Set([
  ...ARGUMENT_KEYS,
  'call_id',
  'content',
  'delta',
  'id',
  'message',
  'name',
  'partial_json',
  'reasoning',
  'reasoning_content',
  'reasoning_text',
  'refusal',
  'stringValue',
  'summary',
  'text',
  'thinking',
])

/** A frame for text that could not be read, cut to a length that can be shown. */
export function createBadFrame(text: string, event?: string): Extract<Frame, { kind: 'bad' }> {
  const clipped = clipText(replaceInvalidBytes(text))
  return event === undefined ? { kind: 'bad', text: clipped } : { kind: 'bad', text: clipped, event }
}

/** The longest text that a bad frame carries. */
export const MAX_BAD_TEXT_CHARS = 2000

function createJsonFrame(value: unknown, event: string | undefined): Frame {
  return event === undefined ? { kind: 'json', value } : { kind: 'json', value, event }
}

function clipText(text: string): string {
  if (text.length <= MAX_BAD_TEXT_CHARS) return text
  // Half a surrogate pair could not be sent on.
  const splits = HIGH_SURROGATE.test(text.charAt(MAX_BAD_TEXT_CHARS - 1))
  return text.slice(0, splits ? MAX_BAD_TEXT_CHARS - 1 : MAX_BAD_TEXT_CHARS)
}

const BLANK = /^\s*$/
const DONE = /^\s*\[\s*DONE\s*\]\s*$/i
const HIGH_SURROGATE = /[\uD800-\uDBFF]/
