import { appendFrames, type FrameReader } from './frame-reader.ts'

/** One JSON value per line; an invalid line does not affect the others. */
export function createNdjsonReader(): FrameReader {
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
