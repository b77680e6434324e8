import { appendFrames, MAX_BAD_TEXT_CHARS, createBadFrame, type FrameReader } from './frame-reader.ts'

/** A body without framing: a JSON string or number, a web page, or an error message (T112). */
export function createWholeTextReader(): FrameReader {
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
export function createUnreadableReader(message: string): FrameReader {
  let isReported = false
  return {
    push(_text, frames) {
      if (!isReported) frames.push(createBadFrame(message))
      isReported = true
    },
    end: () => {},
  }
}
