import { addFrames, type TextReader } from './frames.ts'

/** Reads one JSON value per line; a corrupt line costs only itself. */
export function ndjsonReader(): TextReader {
  // Only new text is searched for line ends, so that long lines in small chunks stay linear.
  let held = ''
  return {
    push(text, frames) {
      let from = 0
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
        const line = (held + text.slice(from, end)).trim()
        held = ''
        from = end + 1
        if (line !== '') addFrames(frames, line)
      }
      held += text.slice(from)
    },
    end(frames) {
      if (held.trim() !== '') addFrames(frames, held.trim())
      held = ''
    },
  }
}
