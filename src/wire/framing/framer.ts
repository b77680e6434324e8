import type { Frame } from './frame.ts'
import { appendFrames, createBadFrame, type FrameReader, MAX_BAD_TEXT_CHARS } from './frame-reader.ts'
import { createJsonValuesReader } from './json-values-reader.ts'
import { createSseReader } from './sse.ts'
import { INVALID_BYTES_MARKER, createUtf8Decoder } from './utf8-decoder.ts'

/**
 * Splits the bytes of one response into frames. The content type is only a hint; the first characters decide (T26, T112,
 * T113). There is one UTF-8 decoder, so chunks may end anywhere (T105).
 */
export function createFramer(contentType: string | undefined) {
  const decoder = createUtf8Decoder()
  const declaredFraming = getDeclaredFraming(contentType)
  let reader: FrameReader | undefined
  let head = ''

  function read(text: string, last: boolean): Frame[] {
    const frames: Frame[] = []
    if (reader === undefined) {
      // Leading white space has no meaning in any framing; some gateways send it to keep the connection open.
      head = (head + text).trimStart()
      reader = chooseFrameReader(head, declaredFraming, last)
      reader?.push(head, frames)
    } else if (text !== '') reader.push(text, frames)
    if (last) reader?.end(frames)
    return frames
  }

  return {
    push: (bytes: Uint8Array) => read(decoder.push(bytes), false),
    end: () => read(decoder.end(), true),
  }
}

type DeclaredFraming = 'sse' | 'ndjson' | 'other'

function getDeclaredFraming(contentType = ''): DeclaredFraming {
  if (/event-stream/i.test(contentType)) return 'sse'
  return /ndjson|jsonl|json-?lines|json-seq|stream\+json/i.test(contentType) ? 'ndjson' : 'other'
}

/** Undefined while the text is too short to decide. */
function chooseFrameReader(head: string, declaredFraming: DeclaredFraming, last: boolean): FrameReader | undefined {
  const first = head.charAt(0)
  if (first === '') return undefined
  if (first === '{') return declaredFraming === 'ndjson' ? createNdjsonReader() : createJsonValuesReader()
  if (first === '[') return createJsonValuesReader()
  if (first === '<') return createWholeTextReader()
  if (first === GZIP_MAGIC.charAt(0) && head.length < GZIP_MAGIC.length && !last) return undefined
  if (head.startsWith(GZIP_MAGIC)) return createUnreadableReader('The body is still compressed (gzip).')
  if (declaredFraming === 'sse') return createSseReader()
  if (SSE_FIELD.test(head)) return createSseReader()
  if (!last && SSE_FIELD_PREFIX.test(head)) return undefined
  return declaredFraming === 'ndjson' ? createNdjsonReader() : createWholeTextReader()
}

/** One JSON value per line; an invalid line does not affect the others. */
function createNdjsonReader(): FrameReader {
  // Only new text is searched for line ends, so that long lines in small chunks take linear time.
  let buffer = ''
  return {
    push(text, frames) {
      let from = 0
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
        const line = (buffer + text.slice(from, end)).trim()
        buffer = ''
        from = end + 1
        if (line !== '') appendFrames(frames, line)
      }
      buffer += text.slice(from)
    },
    end(frames) {
      if (buffer.trim() !== '') appendFrames(frames, buffer.trim())
      buffer = ''
    },
  }
}

/** A body without framing: a JSON string or number, a web page, or an error message (T112). */
function createWholeTextReader(): FrameReader {
  let held = ''
  let isReported = false
  return {
    push(text, frames) {
      if (isReported) return
      held += text
      if (held.length <= MAX_BAD_TEXT_CHARS) return
      isReported = true
      frames.push(createBadFrame(held))
    },
    end(frames) {
      if (!isReported) appendFrames(frames, held)
    },
  }
}

/** Reports once that the body is not text, and ignores it. */
function createUnreadableReader(message: string): FrameReader {
  let isReported = false
  return {
    push(_text, frames) {
      if (!isReported) frames.push(createBadFrame(message))
      isReported = true
    },
    end: () => {},
  }
}

/** The bytes 1f 8b after decoding: the second one is invalid UTF-8 (T115). */
const GZIP_MAGIC = `\u001F${INVALID_BYTES_MARKER}`
const SSE_FIELD = /^(?:data|event|id|retry)?:/
const SSE_FIELD_PREFIX = /^(?:d(?:a(?:ta?)?)?|e(?:v(?:e(?:nt?)?)?)?|id?|r(?:e(?:t(?:ry?)?)?)?)$/
