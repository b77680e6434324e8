import { createParser } from 'eventsource-parser'
import type { Frame } from './frame.ts'
import { appendFrames, createBadFrame, type FrameReader } from './frame-reader.ts'
import { INVALID_BYTES_MARKER } from './utf8-decoder.ts'

/** Server-sent events by the WHATWG standard; a last event without a blank line after it is accepted (T106). */
export function createSseReader(): FrameReader {
  let frames: Frame[] = []
  let hasEvents = false
  let strayText = ''

  const parser = createParser({
    onEvent({ event, data }) {
      hasEvents = true
      appendFrames(frames, data, event)
    },
    onComment(text) {
      frames.push({ kind: 'comment', text })
    },
    onError({ line }) {
      // The standard ignores such a line, but servers that fail during a stream write bare JSON into it.
      if (line === undefined || line.startsWith('retry:')) return
      if (line.startsWith('{')) {
        hasEvents = true
        appendFrames(frames, line)
      } else if (line.includes(INVALID_BYTES_MARKER)) {
        // It may have been a line of data, whose content is missing now.
        frames.push(createBadFrame(line))
      } else {
        frames.push({ kind: 'comment', text: line })
        if (strayText.length < MAX_STRAY_CHARS) strayText += strayText === '' ? line : `\n${line}`
      }
    },
  })

  return {
    push(text, output) {
      frames = output
      if (text.length <= MAX_SLICE_CHARS) parser.feed(text)
      else for (let at = 0; at < text.length; at += MAX_SLICE_CHARS) parser.feed(text.slice(at, at + MAX_SLICE_CHARS))
    },
    end(output) {
      frames = output
      parser.feed('\n\n')
      // There was no event at all: the stray lines are the response, for example a proxy's error message (T112).
      if (!hasEvents && strayText !== '') frames.push(createBadFrame(strayText))
    },
  }
}

/** The parser searches for both kinds of line end from every line on; small slices avoid quadratic time. */
const MAX_SLICE_CHARS = 32_768

const MAX_STRAY_CHARS = 4000
