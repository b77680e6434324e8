import { createParser } from 'eventsource-parser'
import type { Frame } from '../frame.ts'
import { addFrames, badFrame, type TextReader } from './frames.ts'
import { BROKEN } from './utf8.ts'

/** Reads server-sent events by the WHATWG standard, and flushes a last event that has no blank line after it (T106). */
export function sseReader(): TextReader {
  let frames: Frame[] = []
  let heard = false
  let stray = ''

  const parser = createParser({
    onEvent({ event, data }) {
      heard = true
      addFrames(frames, data, event)
    },
    onComment(text) {
      frames.push({ kind: 'comment', text })
    },
    onError({ line }) {
      // The standard ignores such a line; but servers that fail in the middle of a stream write bare JSON into it.
      if (line === undefined || line.startsWith('retry:')) return
      if (line.startsWith('{')) {
        heard = true
        addFrames(frames, line)
      } else if (line.includes(BROKEN)) {
        // It may have been a line of data: what it held is missing.
        frames.push(badFrame(line))
      } else {
        frames.push({ kind: 'comment', text: line })
        if (stray.length < STRAY_LIMIT) stray += stray === '' ? line : `\n${line}`
      }
    },
  })

  return {
    push(text, into) {
      frames = into
      if (text.length <= SLICE) parser.feed(text)
      else for (let at = 0; at < text.length; at += SLICE) parser.feed(text.slice(at, at + SLICE))
    },
    end(into) {
      frames = into
      parser.feed('\n\n')
      // Not one event: the stray lines were the answer, for example a proxy's error message (T112).
      if (!heard && stray !== '') frames.push(badFrame(stray))
    },
  }
}

/** From every line on, the parser looks for both kinds of line end; small slices keep that from growing quadratic. */
const SLICE = 32_768

const STRAY_LIMIT = 4000
