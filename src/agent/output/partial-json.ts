import { type Json, type JsonObject, stringOrEmpty } from '../../model/json.ts'
import { setOwn } from '../../schema/own-properties.ts'
import { isWhitespace } from '../../wire/json/json-scanner.ts'
import { MAX_JSON_DEPTH } from '../../wire/json/relaxed-json.ts'

/**
 * The value of JSON text that is not complete yet. A string may be cut; a key without a value, and a number or a word that
 * may continue, are left out, so nothing is in the value that is not in the text. Undefined if there is nothing yet, or if
 * the text is not JSON.
 */
export function parsePartialJson(text: string): Json | undefined {
  let at = 0

  function skipSpace(): void {
    while (isWhitespace(text.charCodeAt(at))) at++
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
    const start = at
    let end = text.indexOf('"', start + 1)
    while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
    at = end < 0 ? text.length : end + 1
    const string = text.slice(start, at)
    return { value: parseExact(end < 0 ? `${dropCutEscape(string)}"` : string), isCut: end < 0 }
  }

  function readScalar(): Reading {
    SCALAR.lastIndex = at
    const token = SCALAR.exec(text)?.[0] ?? ''
    at += token.length
    const value = LITERALS.get(token)
    if (value !== undefined) return { value, isCut: false }
    const isCut = at >= text.length && mayContinue(token)
    return isCut ? { value, isCut } : { value: parseExact(token), isCut }
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
const SCALAR = /[-+.\w]*/y
const NUMBER_START = /^-?[\d.eE+-]*$/
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

/** Only the end is searched. */
function dropEscape(text: string, pattern: RegExp): string {
  const length = pattern.exec(text.slice(-MAX_ESCAPE_CHARS))?.[0].length ?? 0
  const start = text.length - length
  return length > 0 && !isEscaped(text, start) ? text.slice(0, start) : text
}

/** Is there an odd number of backslashes before it? */
function isEscaped(text: string, at: number): boolean {
  let before = at
  while (text.charAt(before - 1) === '\\') before--
  return (at - before) % 2 === 1
}

const MAX_ESCAPE_CHARS = 6

function mayContinue(token: string): boolean {
  return NUMBER_START.test(token) || [...LITERALS.keys()].some((word) => word.startsWith(token))
}

function parseExact(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    throw INVALID
  }
}
