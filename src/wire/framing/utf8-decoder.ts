/** Two low surrogates stand for invalid UTF-8: no valid text has them, not even after an escaped high surrogate. */
export const INVALID_BYTES_MARKER = '\uDFFF\uDFFF'

/** Decodes one response; chunks may split characters (T105). Only chunks with invalid bytes take the slow path. */
export function createUtf8Decoder() {
  let pendingBytes = EMPTY_BYTES
  let isFirst = true

  function decode(bytes: Uint8Array): string {
    if (bytes.length === 0) return ''
    const text = decodeValid(bytes) ?? decodeInvalid(bytes)
    const hasByteOrderMark = isFirst && text.startsWith(BYTE_ORDER_MARK)
    isFirst = false
    return hasByteOrderMark ? text.slice(1) : text
  }

  return {
    push(bytes: Uint8Array): string {
      const all = pendingBytes.length === 0 ? bytes : concatBytes(pendingBytes, bytes)
      const whole = all.length - unfinishedLength(all)
      // A copy, because the caller may reuse the memory of the chunk.
      pendingBytes = whole === all.length ? EMPTY_BYTES : all.slice(whole)
      return decode(whole === all.length ? all : all.subarray(0, whole))
    },
    end(): string {
      const rest = pendingBytes
      pendingBytes = EMPTY_BYTES
      return decode(rest)
    },
  }
}

/** Invalid bytes as U+FFFD, for display. */
export function replaceInvalidBytes(text: string): string {
  return text.includes(INVALID_BYTES_MARKER) ? text.replaceAll(INVALID_BYTES_MARKER, '\uFFFD') : text
}

const EMPTY_BYTES = new Uint8Array(0)
const BYTE_ORDER_MARK = '\uFEFF'
const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decodeValid(bytes: Uint8Array): string | undefined {
  try {
    return strictDecoder.decode(bytes)
  } catch {
    return undefined
  }
}

/** One replacement for each maximal invalid subsequence: where standard decoders put U+FFFD. */
function decodeInvalid(bytes: Uint8Array): string {
  let text = ''
  let from = 0
  for (let at = 0; at < bytes.length;) {
    const { length, isWhole } = sequenceAt(bytes, at)
    if (!isWhole) {
      text += strictDecoder.decode(bytes.subarray(from, at)) + INVALID_BYTES_MARKER
      from = at + length
    }
    at += length
  }
  return text + strictDecoder.decode(bytes.subarray(from))
}

/** The length of the character at an offset, or of its valid beginning. Overlong forms and surrogates are invalid. */
function sequenceAt(bytes: Uint8Array, at: number): { length: number; isWhole: boolean } {
  const lead = bytes[at] ?? 0
  if (lead < 0x80) return { length: 1, isWhole: true }
  const needed = getSequenceLength(lead)
  if (needed === 0) return { length: 1, isWhole: false }
  for (let next = 1; next < needed; next++) {
    const byte = bytes[at + next]
    const [low, high] = next === 1 ? getSecondByteRange(lead) : CONTINUATION_RANGE
    if (byte === undefined || byte < low || byte > high) return { length: next, isWhole: false }
  }
  return { length: needed, isWhole: true }
}

/** How many bytes at the end are the beginning of a character that may continue in the next chunk. */
function unfinishedLength(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return getSequenceLength(byte) > back ? back : 0
  }
  return 0
}

function getSequenceLength(lead: number): number {
  if (lead < 0xc2 || lead > 0xf4) return 0
  return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
}

const CONTINUATION_RANGE = [0x80, 0xbf] as const

function getSecondByteRange(lead: number): readonly [low: number, high: number] {
  if (lead === 0xe0) return [0xa0, 0xbf]
  if (lead === 0xed) return [0x80, 0x9f]
  if (lead === 0xf0) return [0x90, 0xbf]
  return lead === 0xf4 ? [0x80, 0x8f] : CONTINUATION_RANGE
}

function concatBytes(one: Uint8Array, other: Uint8Array): Uint8Array {
  const both = new Uint8Array(one.length + other.length)
  both.set(one)
  both.set(other, one.length)
  return both
}
