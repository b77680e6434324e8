import { BACKSLASH_CODE, CLOSE_BRACKET_CODE, QUOTE_CODE } from '../json/json-scanner.ts'
import { isClosingBracket, isOpeningBracket, isWhitespace } from '../json/json-scanner.ts'
import type { Frame } from './frame.ts'
import { appendFrames, createBadFrame, type FrameReader } from './frame-reader.ts'

/** Reads one body, several in a row, or the elements of an array (T113). It tracks nesting; JSON.parse checks the rest. */
export function createJsonValuesReader(): FrameReader {
  let state: 'between' | 'value' | 'word' = 'between'
  let inArray = false
  let isList = false
  let valueCount = 0
  let inString = false
  let escaped = false
  let depth = 0
  // The part of the current value in earlier chunks.
  let buffer = ''

  function close(frames: Frame[], text: string): void {
    // The word in `[DONE]` looks like an element here.
    if (state === 'word' && inArray && text.trim() === 'DONE') frames.push({ kind: 'done' })
    else appendFrames(frames, text)
    valueCount++
    state = 'between'
    buffer = ''
  }

  return {
    push(text, frames) {
      let start = 0
      for (let at = 0; at < text.length; at++) {
        const code = text.charCodeAt(at)
        if (state === 'value') {
          if (inString) {
            if (escaped) escaped = false
            else if (code === BACKSLASH_CODE) escaped = true
            else if (code === QUOTE_CODE) {
              inString = false
              if (depth === 0) close(frames, buffer + text.slice(start, at + 1))
            }
          } else if (code === QUOTE_CODE) inString = true
          else if (isOpeningBracket(code)) depth++
          else if (isClosingBracket(code)) {
            depth--
            if (depth === 0) close(frames, buffer + text.slice(start, at + 1))
          }
          continue
        }
        if (state === 'word') {
          // Text that is not a value is skipped up to the end of its line; the next line may be valid again.
          if (code !== NEWLINE && !(inArray && (code === COMMA || code === CLOSE_BRACKET_CODE))) continue
          close(frames, buffer + text.slice(start, at))
        }
        if (isWhitespace(code) || (inArray && code === COMMA)) continue
        if (inArray && code === CLOSE_BRACKET_CODE) inArray = false
        else if (!inArray && code === OPEN_BRACKET) inArray = isList = true
        else {
          start = at
          inString = code === QUOTE_CODE
          depth = isOpeningBracket(code) ? 1 : 0
          state = inString || depth > 0 ? 'value' : 'word'
        }
      }
      if (state !== 'between') buffer += text.slice(start)
    },
    end(frames) {
      // A missing end of the array is no loss: its elements were all emitted, and the last one says whether it is the last.
      if (state === 'value') frames.push(createBadFrame(buffer.trimEnd()))
      else if (state === 'word') close(frames, buffer)
      else if (valueCount === 1 && !isList) frames.push({ kind: 'complete' })
      buffer = ''
      state = 'between'
    },
  }
}

const OPEN_BRACKET = 91
const NEWLINE = 10
const COMMA = 44
