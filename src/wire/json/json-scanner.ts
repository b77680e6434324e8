export type JsonScanner = ReturnType<typeof createJsonScanner>

/** Finds the end of the first value by its nesting and strings, so it also works for text that is almost JSON. */
export function createJsonScanner() {
  let inLiteral = false
  let depth = 0
  let quote = 0
  let escaped = false

  const scanner = {
    isComplete: false,
    push(text: string): void {
      for (let at = 0; at < text.length; at++) {
        const code = text.charCodeAt(at)
        if (quote !== 0) {
          if (escaped) escaped = false
          else if (code === BACKSLASH_CODE) escaped = true
          else if (code === quote) {
            quote = 0
            if (depth === 0) scanner.isComplete = true
          }
          continue
        }
        if (isWhitespace(code)) {
          if (inLiteral) scanner.isComplete = true
          continue
        }
        // JSON has no single quotes outside strings, so they can only belong to a Python or JavaScript string.
        if (code === QUOTE_CODE || (code === APOSTROPHE && depth > 0)) quote = code
        else if (isOpeningBracket(code)) depth++
        else if (isClosingBracket(code)) {
          if (depth > 0) depth--
          if (depth === 0) scanner.isComplete = true
        } else if (depth === 0) inLiteral = true
      }
    },
    /** The text so far ends inside a string, an array or an object, of the first value or of a later one. */
    isOpen: () => depth > 0 || quote !== 0,
    isInString: () => quote !== 0,
  }
  return scanner
}

export function endsInsideValue(text: string): boolean {
  const scan = createJsonScanner()
  scan.push(text)
  return scan.isOpen()
}

export function isWhitespace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9
}

export function isOpeningBracket(code: number): boolean {
  return code === 91 || code === 123
}

export function isClosingBracket(code: number): boolean {
  return code === CLOSE_BRACKET_CODE || code === 125
}

const APOSTROPHE = 39
export const QUOTE_CODE = 34
export const BACKSLASH_CODE = 92
export const CLOSE_BRACKET_CODE = 93
