import type { Warning } from '../model/event.ts'
import { canonical, isObject, type Json, type JsonObject } from '../model/json.ts'
import { endsOpen } from './json-scan.ts'
import { isBig, MAX_DEPTH, relaxedReader, type Repair } from './relaxed-json.ts'

export { decodeEntities } from './entities.ts'
export { type JsonScan, jsonScan } from './json-scan.ts'

/** The inputs that an argument text holds, and what had to be forgiven; or why it cannot be used. */
export type ArgumentsReading =
  | { readonly ok: true; readonly inputs: readonly JsonObject[]; readonly notes: readonly Warning[] }
  | Refusal

interface Refusal {
  readonly ok: false
  readonly code: 'unfinished' | 'not-json' | 'not-object'
  readonly message: string
}

/**
 * Reads the argument text of a closed call. It may unwrap, re-escape, strip and split; it never invents a character
 * that closes something, so a text that was cut off is refused (T37–T39). More than one input comes only of T22.
 */
export function readArguments(raw: string): ArgumentsReading {
  // A tool without parameters is called with nothing, or with null (T17).
  if (raw.trim() === '') return { ok: true, inputs: [{}], notes: [] }
  return readText(raw, 0)
}

/** `layers` counts the strings that this text was taken out of. */
function readText(text: string, layers: number): ArgumentsReading {
  const notes: Warning[] = []
  let values: readonly Json[] | Refusal
  try {
    const value = JSON.parse(text) as Json
    values = checkNumbers(text, notes) ?? [value]
  } catch {
    values = readLoosely(text, notes)
  }
  if ('ok' in values) return values
  if (values.length > 1) return { ok: true, inputs: separate(values as JsonObject[], notes), notes }
  return settle(values[0] ?? null, layers, text, notes)
}

/** Makes an object of the one value that was read, if it is one in some wrapping. */
function settle(value: Json, layers: number, text: string, notes: Warning[]): ArgumentsReading {
  if (value === null && layers === 0) return { ok: true, inputs: [{}], notes }
  if (typeof value === 'string' && layers < MAX_LAYERS && value.trim() !== '') {
    const inner = readText(value, layers + 1)
    if (inner.ok) return { ...inner, notes: [...notes, NOTES['double-encoded'], ...inner.notes] }
    return inner.code === 'unfinished' ? inner : NOT_OBJECT
  }
  const only = Array.isArray(value) && value.length === 1 ? value[0] : undefined
  if (only !== undefined && isObject(only)) {
    notes.push(NOTES['array-root'])
    return settle(only, layers, text, notes)
  }
  if (!isObject(value)) return NOT_OBJECT
  // Only a long text can be deep.
  if (text.length > MAX_DEPTH && isDeep(value, MAX_DEPTH)) return notJson('it is nested too deeply')
  return { ok: true, inputs: [value], notes }
}

/** Reads one value, or several objects in a row, out of text that strict JSON refuses. */
function readLoosely(text: string, notes: Warning[]): Json[] | Refusal {
  const reader = relaxedReader(text)
  const values: Json[] = []
  const fence = FENCE.exec(text)?.[0].length ?? 0
  let tail = false
  for (let at = skipSpace(text, fence); at < text.length; at = skipSpace(text, at)) {
    if (values.length > 0 && text.charAt(at) !== '{') {
      if (!isTail(text, at)) return refuse(text, 'something follows the end of the arguments')
      tail = true
      break
    }
    const reading = reader.read(at)
    if (!reading.ok) return reading.unfinished ? UNFINISHED : refuse(text, reading.message)
    values.push(reading.value)
    at = reading.end
  }
  if (values.length === 0) return refuse(text, 'there is nothing in it')
  if (values.length > 1 && !isObject(values[0])) return refuse(text, 'something stands before the arguments')
  for (const repair of reader.repairs) notes.push(NOTES[repair])
  if (fence > 0 || tail) notes.push(NOTES['trailing-text'])
  for (const digits of reader.bigNumbers) notes.push(bigNumber(digits))
  return values
}

/** Several objects under one call: placeholders and copies go, what is left are calls of their own (T18, T21, T22). */
function separate(objects: readonly JsonObject[], notes: Warning[]): JsonObject[] {
  let first = 0
  while (first < objects.length - 1 && Object.keys(objects[first] ?? {}).length === 0) first++
  if (first > 0) notes.push(NOTES['placeholder'])
  const distinct = new Map<string, JsonObject>()
  for (const object of objects.slice(first)) {
    const key = canonical(object)
    if (!distinct.has(key)) distinct.set(key, object)
  }
  if (distinct.size < objects.length - first) notes.push(NOTES['repeated'])
  if (distinct.size > 1) notes.push(NOTES['several-objects'])
  return [...distinct.values()]
}

/** Notes whole numbers that lost digits, and refuses numbers that became infinite (T49). */
function checkNumbers(text: string, notes: Warning[]): Refusal | undefined {
  if (!ODD_NUMBER.test(text)) return undefined
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      for (at++; text.charCodeAt(at) !== QUOTE; at++) if (text.charCodeAt(at) === BACKSLASH) at++
    } else if (code >= ZERO && code <= NINE) {
      NUMBER_REST.lastIndex = at
      const digits = (text.charAt(at - 1) === '-' ? '-' : '') + (NUMBER_REST.exec(text)?.[0] ?? '')
      if (!Number.isFinite(Number(digits))) return notJson('a number is too large')
      if (isBig(digits)) notes.push(bigNumber(digits))
      at = NUMBER_REST.lastIndex - 1
    }
  }
  return undefined
}

/** Is the rest of the text only closers, known markers and white space (T33)? */
function isTail(text: string, start: number): boolean {
  for (let at = start; at < text.length; at = TAIL.lastIndex) {
    TAIL.lastIndex = at
    if (!TAIL.test(text)) return false
  }
  return true
}

function isDeep(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((item) => isDeep(item, levels - 1))
}

function skipSpace(text: string, start: number): number {
  let at = start
  while (at < text.length && ' \n\r\t'.includes(text.charAt(at))) at++
  return at
}

/** Whatever else is wrong with it: if the text ends inside something, it was cut off. */
function refuse(text: string, why: string): Refusal {
  return endsOpen(text) ? UNFINISHED : notJson(why)
}

function notJson(why: string): Refusal {
  return { ok: false, code: 'not-json', message: `The arguments are not valid JSON: ${why}.` }
}

function bigNumber(digits: string): Warning {
  const shown = digits.length > 60 ? `${digits.slice(0, 60)}…` : digits
  return { code: 'big-number', message: `The number ${shown} is too long to be exact; it was rounded.` }
}

const UNFINISHED: Refusal = {
  ok: false,
  code: 'unfinished',
  message: 'The arguments break off before they are complete.',
}
const NOT_OBJECT: Refusal = { ok: false, code: 'not-object', message: 'The arguments must be one JSON object.' }

const MESSAGES: Record<
  Repair | 'double-encoded' | 'array-root' | 'placeholder' | 'repeated' | 'several-objects' | 'trailing-text',
  string
> = {
  'control-characters': 'Raw control characters in strings were taken as they are.',
  'illegal-escapes': 'Backslashes that escape nothing were taken as they are.',
  'single-quotes': 'Strings in single quotes were accepted.',
  'bare-keys': 'Keys without quotes were accepted.',
  'python-literals': 'True, False and None were accepted.',
  'trailing-comma': 'A comma before a closing bracket was ignored.',
  'double-encoded': 'The arguments came as JSON inside a JSON string.',
  'array-root': 'The arguments came inside an array.',
  placeholder: 'An empty object before the arguments was ignored.',
  repeated: 'Copies of the same arguments were ignored.',
  'several-objects': 'The call holds several argument objects, which are calls of their own.',
  'trailing-text': 'Brackets or markers around the arguments were ignored.',
}

const NOTES = Object.fromEntries(
  Object.entries(MESSAGES).map(([code, message]) => [code, { code, message }]),
) as Record<keyof typeof MESSAGES, Warning>

const MAX_LAYERS = 2
const QUOTE = 34
const BACKSLASH = 92
const ZERO = 48
const NINE = 57
/** Ordinary text has neither sixteen digits in a row nor an exponent of three; only then are its numbers looked at. */
const ODD_NUMBER = /\d{16}|\d[eE]\+?\d{3}/
const NUMBER_REST = /[\d.eE+-]+/y
const FENCE = /^\s*```\w*\s*(?=[{["])/
/** A closer, a fence, a closing tag, or a special token of some chat template. */
const TAIL =
  /[\s\]})]+|```|<\/[A-Za-z][\w:.-]{0,60}>|<[|｜][^\s<>|｜]{1,60}[|｜]>|\[\/[A-Z_]{1,40}\]|<(?:end_of_turn|eos)>/y
