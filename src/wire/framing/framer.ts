import type { Frame, Framer } from '../frame.ts'
import type { TextReader } from './frames.ts'
import { jsonValuesReader } from './json-values.ts'
import { ndjsonReader } from './ndjson.ts'
import { sseReader } from './sse.ts'
import { BROKEN, startUtf8 } from './utf8.ts'
import { unreadableReader, wholeTextReader } from './whole-text.ts'

/** Makes the framer of one response. The content type is a hint; the first characters decide (T26, T112, T113). */
export function framer(contentType: string | undefined): Framer {
  const decoder = startUtf8()
  const declared = declaredKind(contentType)
  let reader: TextReader | undefined
  let head = ''

  function read(text: string, last: boolean): Frame[] {
    const frames: Frame[] = []
    if (reader === undefined) {
      // White space in front means nothing in any framing; some gateways send it to keep the connection open.
      head = (head + text).trimStart()
      reader = choose(head, declared, last)
      reader?.push(head, frames)
    } else if (text !== '') reader.push(text, frames)
    if (last) reader?.end(frames)
    return frames
  }

  return {
    push: (bytes) => read(decoder.push(bytes), false),
    end: () => read(decoder.end(), true),
  }
}

type Declared = 'sse' | 'ndjson' | 'other'

function declaredKind(contentType = ''): Declared {
  if (/event-stream/i.test(contentType)) return 'sse'
  return /ndjson|jsonl|json-?lines|json-seq|stream\+json/i.test(contentType) ? 'ndjson' : 'other'
}

/** Undefined while the text is too short to tell. */
function choose(head: string, declared: Declared, last: boolean): TextReader | undefined {
  const first = head.charAt(0)
  if (first === '') return undefined
  if (first === '{') return declared === 'ndjson' ? ndjsonReader() : jsonValuesReader()
  if (first === '[') return jsonValuesReader()
  if (first === '<') return wholeTextReader()
  if (first === GZIP.charAt(0) && head.length < GZIP.length && !last) return undefined
  if (head.startsWith(GZIP)) return unreadableReader('The body is still compressed (gzip).')
  if (declared === 'sse') return sseReader()
  if (SSE_FIELD.test(head)) return sseReader()
  if (!last && SSE_FIELD_PREFIX.test(head)) return undefined
  return declared === 'ndjson' ? ndjsonReader() : wholeTextReader()
}

/** The bytes 1f 8b as the decoder gives them: the second one is no UTF-8 (T115). */
const GZIP = `\u001F${BROKEN}`
const SSE_FIELD = /^(?:data|event|id|retry)?:/
const SSE_FIELD_PREFIX = /^(?:d(?:a(?:ta?)?)?|e(?:v(?:e(?:nt?)?)?)?|id?|r(?:e(?:t(?:ry?)?)?)?)$/
