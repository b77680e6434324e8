import { addFrames, BAD_TEXT_LIMIT, badFrame, type TextReader } from './frames.ts'

/** Reads a body that has no framing: a JSON string or number at best, else a web page or an error message (T112). */
export function wholeTextReader(): TextReader {
  let held = ''
  let said = false
  return {
    push(text, frames) {
      if (said) return
      held += text
      if (held.length <= BAD_TEXT_LIMIT) return
      said = true
      frames.push(badFrame(held))
    },
    end(frames) {
      if (!said) addFrames(frames, held)
    },
  }
}

/** Says one thing about a body whose bytes are not text, and ignores them. */
export function unreadableReader(message: string): TextReader {
  let said = false
  return {
    push(_text, frames) {
      if (!said) frames.push(badFrame(message))
      said = true
    },
    end() {
      // All was said at the first byte.
    },
  }
}
