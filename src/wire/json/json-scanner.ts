/**
 * Tells incrementally whether the first top-level value is complete. It only tracks nesting and strings, so it also works
 * for text that is almost JSON.
 */
export interface JsonScanner {
  push(text: string): void
  /** The first top-level value is complete. */
  readonly isComplete: boolean
  /** The text so far ends inside a string, an array or an object, of the first value or of a later one. */
  readonly isOpen: boolean
  /** The text so far ends inside a string. */
  readonly isInString: boolean
}

export function createJsonScanner(): JsonScanner {
  let complete = false
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
          else if (code === BACKSLASH_CODE) escaped = true
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
        // JSON has no single quotes outside strings, so they can only belong to a Python or JavaScript string.
        if (code === QUOTE_CODE || (code === APOSTROPHE && depth > 0)) quote = code
        else if (code === OPEN_BRACE_CODE || code === OPEN_BRACKET_CODE) depth++
        else if (code === CLOSE_BRACE_CODE || code === CLOSE_BRACKET_CODE) {
          if (depth > 0) depth--
          if (depth === 0) complete = true
        } else if (depth === 0) inLiteral = true
      }
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
  }
}

/** Does this text end inside a string, an array or an object? */
export function endsInsideValue(text: string): boolean {
  const scan = createJsonScanner()
  scan.push(text)
  return scan.isOpen
}

export function isWhitespace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9
}

const APOSTROPHE = 39
export const QUOTE_CODE = 34
export const OPEN_BRACKET_CODE = 91
export const BACKSLASH_CODE = 92
export const CLOSE_BRACKET_CODE = 93
export const OPEN_BRACE_CODE = 123
export const CLOSE_BRACE_CODE = 125
