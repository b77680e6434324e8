import type { Json, JsonObject } from '../../model/json.ts'

/** A deviation from JSON that was accepted. */
export type JsonRepair =
  | 'control-characters'
  | 'illegal-escapes'
  | 'single-quotes'
  | 'bare-keys'
  | 'python-literals'
  | 'trailing-comma'

/** Deeper values are rejected, so that no recursion over them exhausts the stack. */
export const MAX_JSON_DEPTH = 500

/**
 * Parses JSON as models write it: with raw control characters and illegal escapes in strings, single quotes, bare keys,
 * Python literals, trailing commas (T34–T36). It never adds a character that closes a string, an array or an object, so
 * truncated text is never accepted.
 */
export function createRelaxedJsonParser(text: string) {
  const repairs = new Set<JsonRepair>()
  /** The integers that a double cannot represent exactly. */
  const bigNumbers: string[] = []
  let at = 0
  let unfinished = false
  let message = ''

  function fail(why?: string): typeof FAILED {
    unfinished = at >= text.length
    const char = String.fromCodePoint(text.codePointAt(at) ?? 0)
    message = why ?? (unfinished ? 'it is truncated' : `unexpected ${JSON.stringify(char)} at character ${at}`)
    return FAILED
  }

  /** The next character that is not white space. */
  function peek(): string {
    while (WHITESPACE.has(text.charAt(at))) at++
    return text.charAt(at)
  }

  function readValue(depth: number): Json | typeof FAILED {
    const first = peek()
    if (first === '{' || first === '[') {
      if (depth > MAX_JSON_DEPTH) return fail('it is nested too deeply')
      return first === '{' ? readObject(depth) : readArray(depth)
    }
    if (first === '"' || first === "'") return readString(first)
    return first === '-' || (first >= '0' && first <= '9') ? readNumber() : readWord()
  }

  function readObject(depth: number): JsonObject | typeof FAILED {
    const object: JsonObject = {}
    at++
    for (let count = 0; ; count++) {
      if (peek() === '}') {
        if (count > 0) repairs.add('trailing-comma')
        at++
        return object
      }
      const key = readKey()
      if (key === FAILED) return FAILED
      if (peek() !== ':') return fail()
      at++
      const value = readValue(depth + 1)
      if (value === FAILED) return FAILED
      // Assigning to this key would change the prototype instead of adding a property (T48).
      if (key === '__proto__')
        Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
      else object[key] = value
      const next = peek()
      if (next !== ',' && next !== '}') return fail()
      at++
      if (next === '}') return object
    }
  }

  function readArray(depth: number): Json[] | typeof FAILED {
    const array: Json[] = []
    at++
    for (;;) {
      if (peek() === ']') {
        if (array.length > 0) repairs.add('trailing-comma')
        at++
        return array
      }
      const value = readValue(depth + 1)
      if (value === FAILED) return FAILED
      array.push(value)
      const next = peek()
      if (next !== ',' && next !== ']') return fail()
      at++
      if (next === ']') return array
    }
  }

  function readKey(): string | typeof FAILED {
    const first = text.charAt(at)
    if (first === '"' || first === "'") return readString(first)
    const word = match(IDENTIFIER)
    if (word === undefined) return fail()
    repairs.add('bare-keys')
    return word
  }

  function readString(quote: '"' | "'"): string | typeof FAILED {
    if (quote === "'") repairs.add('single-quotes')
    let value = ''
    let from = ++at
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === BACKSLASH) {
        const escape = readEscape(quote)
        if (escape === undefined) {
          // Not an escape: the backslash is literal.
          repairs.add('illegal-escapes')
          continue
        }
        value += text.slice(from, at) + escape.value
        from = at + escape.length
        at = from - 1
      } else if (text.charAt(at) === quote) {
        value += text.slice(from, at)
        at++
        return value
      } else if (code < 32) repairs.add('control-characters')
    }
    return fail()
  }

  function readEscape(quote: '"' | "'"): { value: string; length: number } | undefined {
    const escapeChar = text.charAt(at + 1)
    const simple = escapeChar === "'" && quote === "'" ? "'" : ESCAPES.get(escapeChar)
    if (simple !== undefined) return { value: simple, length: 2 }
    const hex = text.slice(at + 2, at + 6)
    if (escapeChar !== 'u' || !FOUR_HEX_DIGITS.test(hex)) return undefined
    return { value: String.fromCharCode(Number.parseInt(hex, 16)), length: 6 }
  }

  function readNumber(): number | typeof FAILED {
    const digits = match(NUMBER)
    if (digits === undefined) return fail()
    const value = Number(digits)
    if (!Number.isFinite(value)) return fail('a number is too large')
    if (losesPrecision(digits)) bigNumbers.push(digits)
    return value
  }

  function readWord(): Json | typeof FAILED {
    const start = at
    const word = match(IDENTIFIER)
    const value = word === undefined ? undefined : LITERALS.get(word)
    if (word === undefined || value === undefined) {
      at = start
      return fail(word === undefined ? undefined : `${JSON.stringify(word.slice(0, 40))} is not a JSON value`)
    }
    if (word.charAt(0) < 'a') repairs.add('python-literals')
    return value
  }

  function match(pattern: RegExp): string | undefined {
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0]
    if (found !== undefined) at += found.length
    return found
  }

  return {
    /** Returns one value and where it ends, or an error. `unfinished`: the text ends inside the value. */
    parse(start: number) {
      at = start
      const value = readValue(1)
      return value === FAILED ? ({ ok: false, unfinished, message } as const) : ({ ok: true, value, end: at } as const)
    },
    repairs,
    bigNumbers,
  }
}

/** Is this an integer that a double cannot represent exactly (T49)? */
export function losesPrecision(digits: string): boolean {
  if (!/^-?\d+$/.test(digits)) return false
  const value = Number(digits)
  return !Number.isSafeInteger(value) && String(value) !== digits
}

const FAILED: unique symbol = Symbol('failed')
const BACKSLASH = 92
const WHITESPACE = new Set([' ', '\n', '\r', '\t'])
const FOUR_HEX_DIGITS = /^[0-9a-fA-F]{4}$/
const IDENTIFIER = /[A-Za-z_$][\w$-]*/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])/y
const ESCAPES = new Map(Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }))
const LITERALS = new Map<string, Json>(
  Object.entries({ true: true, false: false, null: null, True: true, False: false, None: null }),
)
