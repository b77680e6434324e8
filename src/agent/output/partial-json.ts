import { type Json, type JsonObject, stringOrEmpty } from '../../model/json.ts'
import { setOwn } from '../../schema/own-properties.ts'
import { MAX_JSON_DEPTH } from '../../wire/json/relaxed-json.ts'

/**
 * The value of JSON text that is not complete yet. A string may be cut; a key without a value, and a number or a word that
 * may continue, are left out, so nothing is in the value that is not in the text. Undefined if there is nothing yet, or if
 * the text is not JSON.
 */
export function parsePartialJson(text: string): Json | undefined {
  let at = 0

  function skipSpace(): void {
    while (at < text.length && SPACE.includes(text.charAt(at))) at++
  }

  function readValue(depth: number): Reading {
    skipSpace()
    const first = text.charAt(at)
    if (first === '{' || first === '[') {
      if (depth > MAX_JSON_DEPTH) throw INVALID
      return first === '{' ? readObject(depth) : readArray(depth)
    }
    if (first === '"') return readString()
    return readScalar()
  }

  function readObject(depth: number): Reading {
    const value: JsonObject = {}
    at++
    for (let isFirst = true; ; isFirst = false) {
      skipSpace()
      if (at >= text.length) return { value, isCut: true }
      if (isFirst && text.charAt(at) === '}') break
      if (text.charAt(at) !== '"') throw INVALID
      const key = readString()
      skipSpace()
      if (key.isCut || at >= text.length) return { value, isCut: true }
      if (text.charAt(at++) !== ':') throw INVALID
      const inner = readValue(depth + 1)
      if (inner.value !== undefined) setOwn(value, stringOrEmpty(key.value), inner.value)
      if (inner.isCut || !readSeparator('}')) return { value, isCut: true }
      if (text.charAt(at - 1) === '}') return { value, isCut: false }
    }
    at++
    return { value, isCut: false }
  }

  function readArray(depth: number): Reading {
    const value: Json[] = []
    at++
    skipSpace()
    if (text.charAt(at) === ']') {
      at++
      return { value, isCut: false }
    }
    for (;;) {
      const inner = readValue(depth + 1)
      if (inner.value !== undefined) value.push(inner.value)
      if (inner.isCut || !readSeparator(']')) return { value, isCut: true }
      if (text.charAt(at - 1) === ']') return { value, isCut: false }
    }
  }

  /** Reads a comma or the end of a list. False if the text ends before it. */
  function readSeparator(end: '}' | ']'): boolean {
    skipSpace()
    if (at >= text.length) return false
    const char = text.charAt(at++)
    if (char !== ',' && char !== end) throw INVALID
    return true
  }

  function readString(): Reading {
    const start = at++
    for (; at < text.length; at++) {
      const char = text.charAt(at)
      if (char === '\\') at++
      else if (char === '"') return { value: parseExact(text.slice(start, ++at)), isCut: false }
    }
    return { value: parseExact(`${dropCutEscape(text.slice(start))}"`), isCut: true }
  }

  function readScalar(): Reading {
    const token = SCALAR.exec(text.slice(at, at + MAX_SCALAR_CHARS))?.[0] ?? ''
    at += token.length
    const isAtEnd = at >= text.length
    if (LITERALS.has(token)) return { value: LITERALS.get(token), isCut: false }
    if (isAtEnd && (/^-?[\d.eE+-]*$/.test(token) || [...LITERALS.keys()].some((word) => word.startsWith(token))))
      return { value: undefined, isCut: true }
    return { value: parseExact(token), isCut: false }
  }

  try {
    return readValue(1).value
  } catch (error) {
    if (error === INVALID) return undefined
    throw error
  }
}

interface Reading {
  readonly value: Json | undefined
  /** The text ended before the value did. */
  readonly isCut: boolean
}

const INVALID = new Error('not JSON')
const SPACE = ' \n\r\t'
const SCALAR = /^[-+.\w]*/
/** No number that means something is longer. */
const MAX_SCALAR_CHARS = 400
const LITERALS = new Map<string, Json>([
  ['true', true],
  ['false', false],
  ['null', null],
])

/** Without an escape sequence, or a half of a surrogate pair, whose rest is still to come. */
function dropCutEscape(text: string): string {
  const whole = dropEscape(text, /\\(?:u[0-9a-fA-F]{0,3})?$/)
  const paired = dropEscape(whole, /\\u[dD][89abAB][0-9a-fA-F]{2}$/)
  return /[\uD800-\uDBFF]$/.test(paired.slice(-1)) ? paired.slice(0, -1) : paired
}

/** Only the end is searched. A backslash after another one is no escape. */
function dropEscape(text: string, pattern: RegExp): string {
  const length = pattern.exec(text.slice(-MAX_ESCAPE_CHARS))?.[0].length ?? 0
  const start = text.length - length
  let before = start
  while (text.charAt(before - 1) === '\\') before--
  return length > 0 && (start - before) % 2 === 0 ? text.slice(0, start) : text
}

const MAX_ESCAPE_CHARS = 6

function parseExact(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    throw INVALID
  }
}
