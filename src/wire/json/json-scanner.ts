/** An incremental scanner that tells, in time linear in the text, whether the first top-level value is complete. */
export interface JsonScanner {
  push(text: string): void
  /** Something other than white space came. */
  readonly hasStarted: boolean
  /** The first top-level value is whole. */
  readonly isComplete: boolean
  /** The text so far ends inside a string, an array or an object, of the first value or of a later one. */
  readonly isOpen: boolean
  /** The text so far ends inside a string. */
  readonly isInString: boolean
  /** Something other than white space follows the first value. */
  readonly hasTrailingText: boolean
}

/** Starts a scan. It counts depth and strings and judges nothing else, so it also follows text that is almost JSON. */
export function createJsonScanner(): JsonScanner {
  let started = false
  let complete = false
  let trailing = false
  let inLiteral = false
  let depth = 0
  let quote = 0
  let escaped = false

  return {
    push(text) {
      for (let at = 0; at < text.length; at++) {
        const code = text.charCodeAt(at)
        if (quote !== 0) {
          if (escaped) escaped = false
          else if (code === BACKSLASH) escaped = true
          else if (code === quote) {
            quote = 0
            if (depth === 0) complete = true
          }
          continue
        }
        if (isWhitespace(code)) {
          if (inLiteral) complete = true
          continue
        }
        if (complete) trailing = true
        started = true
        // JSON has no single quotes outside of strings, so they can only be a Python or JavaScript string.
        if (code === QUOTE || (code === APOSTROPHE && depth > 0)) quote = code
        else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++
        else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
          if (depth > 0) depth--
          if (depth === 0) complete = true
        } else if (depth === 0) inLiteral = true
      }
    },
    get hasStarted() {
      return started
    },
    get isComplete() {
      return complete
    },
    get isOpen() {
      return depth > 0 || quote !== 0
    },
    get isInString() {
      return quote !== 0
    },
    get hasTrailingText() {
      return trailing
    },
  }
}

/** Does this text end inside a string, an array or an object? */
export function endsInsideValue(text: string): boolean {
  const scan = createJsonScanner()
  scan.push(text)
  return scan.isOpen
}

function isWhitespace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9
}

const QUOTE = 34
const APOSTROPHE = 39
const OPEN_BRACKET = 91
const BACKSLASH = 92
const CLOSE_BRACKET = 93
const OPEN_BRACE = 123
const CLOSE_BRACE = 125
