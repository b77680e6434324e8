import { appendFrames, type FrameReader } from './frame-reader.ts'

/** Reads one JSON value per line; a corrupt line costs only itself. */
export function createNdjsonReader(): FrameReader {
  // Only new text is searched for line ends, so that long lines in small chunks stay linear.
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
