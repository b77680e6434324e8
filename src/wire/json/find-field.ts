import { tryParseJson } from '../../model/json.ts'

/** A field of the outermost object of a JSON text: where its value stands. */
export interface FieldPosition {
  readonly start: number
  /** Exclusive. */
  readonly end: number
}

/** Finds a field without parsing the text; of repeated fields the last one, which is what parsers take. */
export function findField(text: string, name: string): FieldPosition | undefined {
  let depth = 0
  let isName = true
  let isFound = false
  let start = -1
  let found: FieldPosition | undefined
  const close = (end: number): void => {
    if (isFound && start >= 0) found = { start, end: trimEnd(text, start, end) }
    isFound = false
    start = -1
  }
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const end = findStringEnd(text, at)
      if (depth === 1 && isName) isFound = tryParseJson(text.slice(at, end)) === name
      else if (depth === 1 && start < 0) start = at
      at = end - 1
      continue
    }
    if (code === COLON && depth === 1) isName = false
    else if (code === COMMA && depth === 1) {
      close(at)
      isName = true
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (depth === 1 && !isName && start < 0) start = at
      depth++
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      if (--depth === 0) {
        close(at)
        return found
      }
    } else if (depth === 1 && !isName && start < 0 && code > SPACE) start = at
  }
  return undefined
}

/** The text with another string as the value of a field; all other characters stay. */
export function replaceStringField(text: string, name: string, value: string): string {
  const position = findField(text, name)
  if (!position || text.charCodeAt(position.start) !== QUOTE) return text
  return text.slice(0, position.start) + JSON.stringify(value) + text.slice(position.end)
}

const QUOTE = 34
const COMMA = 44
const COLON = 58
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
const OPEN_BRACE = 123
const CLOSE_BRACE = 125
const BACKSLASH = 92
const SPACE = 32

/** The position after the closing quote. */
function findStringEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++
    if (slashes % 2 === 0) return at + 1
  }
  return text.length
}

function trimEnd(text: string, start: number, end: number): number {
  let at = end
  while (at > start && text.charCodeAt(at - 1) <= SPACE) at--
  return at
}
