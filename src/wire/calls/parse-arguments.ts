import type { Warning } from '../../model/event.ts'
import { toCanonicalJson, isObject, type Json, type JsonObject } from '../../model/json.ts'
import { endsInsideValue } from '../json/json-scanner.ts'
import { losesPrecision, MAX_JSON_DEPTH, createRelaxedJsonParser, type JsonRepair } from '../json/relaxed-json.ts'

type ArgumentsResult =
  | { readonly ok: true; readonly inputs: readonly JsonObject[]; readonly notes: readonly Warning[] }
  | ArgumentsError

interface ArgumentsError {
  readonly ok: false
  readonly code: 'unfinished' | 'not-json' | 'not-object'
  readonly message: string
}

/** Never adds a character that closes something, so truncated text is rejected (T37–T39). Several inputs: T22. */
export function parseCallArguments(raw: string): ArgumentsResult {
  // A tool without parameters is called with nothing, or with null (T17).
  if (raw.trim() === '') return { ok: true, inputs: [{}], notes: [] }
  return parseArgumentText(raw, 0)
}

/** `layers`: in how many JSON strings this text was wrapped. */
function parseArgumentText(text: string, layers: number): ArgumentsResult {
  const notes: Warning[] = []
  let values: readonly Json[] | ArgumentsError
  try {
    const value = JSON.parse(text) as Json
    values = checkNumbers(text, notes) ?? [value]
  } catch {
    values = parseRelaxed(text, notes)
  }
  if ('ok' in values) return values
  if (values.length > 1) return { ok: true, inputs: splitObjects(values as JsonObject[], notes), notes }
  return unwrapObject(values[0] ?? null, layers, text, notes)
}

/** Unwraps an object from strings and a one-element array. */
function unwrapObject(value: Json, layers: number, text: string, notes: Warning[]): ArgumentsResult {
  if (value === null && layers === 0) return { ok: true, inputs: [{}], notes }
  if (typeof value === 'string' && layers < MAX_STRING_LAYERS && value.trim() !== '') {
    const inner = parseArgumentText(value, layers + 1)
    if (inner.ok) return { ...inner, notes: [...notes, REPAIR_WARNINGS['double-encoded'], ...inner.notes] }
    return inner.code === 'unfinished' ? inner : NOT_OBJECT_ERROR
  }
  const only = Array.isArray(value) && value.length === 1 ? value[0] : undefined
  if (only !== undefined && isObject(only)) {
    notes.push(REPAIR_WARNINGS['array-root'])
    return unwrapObject(only, layers, text, notes)
  }
  if (!isObject(value)) return NOT_OBJECT_ERROR
  // Only a long text can nest deeply.
  if (text.length > MAX_JSON_DEPTH && isDeeperThan(value, MAX_JSON_DEPTH))
    return createNotJsonError('it is nested too deeply')
  return { ok: true, inputs: [value], notes }
}

/** Parses one value, or several objects in a row, from text that is not strict JSON. */
function parseRelaxed(text: string, notes: Warning[]): Json[] | ArgumentsError {
  const reader = createRelaxedJsonParser(text)
  const values: Json[] = []
  const fenceLength = CODE_FENCE.exec(text)?.[0].length ?? 0
  let hasTail = false
  for (let at = skipWhitespace(text, fenceLength); at < text.length; at = skipWhitespace(text, at)) {
    if (values.length > 0 && text.charAt(at) !== '{') {
      if (!isIgnorableTail(text, at)) return toArgumentsError(text, 'there is text after the arguments')
      hasTail = true
      break
    }
    const reading = reader.parse(at)
    if (!reading.ok) return reading.unfinished ? UNFINISHED_ERROR : toArgumentsError(text, reading.message)
    values.push(reading.value)
    at = reading.end
  }
  if (values.length === 0) return toArgumentsError(text, 'they are empty')
  if (values.length > 1 && !isObject(values[0])) return toArgumentsError(text, 'there is text before the arguments')
  for (const repair of reader.repairs) notes.push(REPAIR_WARNINGS[repair])
  if (fenceLength > 0 || hasTail) notes.push(REPAIR_WARNINGS['trailing-text'])
  for (const digits of reader.bigNumbers) notes.push(createBigNumberWarning(digits))
  return values
}

/** Of several objects in one call, empty placeholders and repeats are removed; the others are separate calls (T18, T21, T22). */
function splitObjects(objects: readonly JsonObject[], notes: Warning[]): JsonObject[] {
  let first = 0
  while (first < objects.length - 1 && Object.keys(objects[first] ?? {}).length === 0) first++
  if (first > 0) notes.push(REPAIR_WARNINGS['placeholder'])
  const distinct = new Map<string, JsonObject>()
  for (const object of objects.slice(first)) {
    const key = toCanonicalJson(object)
    if (!distinct.has(key)) distinct.set(key, object)
  }
  if (distinct.size < objects.length - first) notes.push(REPAIR_WARNINGS['repeated'])
  if (distinct.size > 1) notes.push(REPAIR_WARNINGS['several-objects'])
  return [...distinct.values()]
}

/** Warns of integers that lost digits, and rejects numbers that became infinite (T49). */
function checkNumbers(text: string, notes: Warning[]): ArgumentsError | undefined {
  if (!RISKY_NUMBER.test(text)) return undefined
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      for (at++; text.charCodeAt(at) !== QUOTE; at++) if (text.charCodeAt(at) === BACKSLASH) at++
    } else if (code >= ZERO && code <= NINE) {
      NUMBER_CHARS.lastIndex = at
      const digits = (text.charAt(at - 1) === '-' ? '-' : '') + (NUMBER_CHARS.exec(text)?.[0] ?? '')
      if (!Number.isFinite(Number(digits))) return createNotJsonError('a number is too large')
      if (losesPrecision(digits)) notes.push(createBigNumberWarning(digits))
      at = NUMBER_CHARS.lastIndex - 1
    }
  }
  return undefined
}

/** Is the rest of the text only closing brackets, known markers and white space (T33)? */
function isIgnorableTail(text: string, start: number): boolean {
  for (let at = start; at < text.length; at = IGNORABLE_TAIL.lastIndex) {
    IGNORABLE_TAIL.lastIndex = at
    if (!IGNORABLE_TAIL.test(text)) return false
  }
  return true
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((item) => isDeeperThan(item, levels - 1))
}

function skipWhitespace(text: string, start: number): number {
  let at = start
  while (at < text.length && ' \n\r\t'.includes(text.charAt(at))) at++
  return at
}

/** If the text ends inside a value, it is truncated, whatever else is wrong with it. */
function toArgumentsError(text: string, problem: string): ArgumentsError {
  return endsInsideValue(text) ? UNFINISHED_ERROR : createNotJsonError(problem)
}

function createNotJsonError(problem: string): ArgumentsError {
  return { ok: false, code: 'not-json', message: `The arguments are not valid JSON: ${problem}.` }
}

function createBigNumberWarning(digits: string): Warning {
  const excerpt = digits.length > 60 ? `${digits.slice(0, 60)}…` : digits
  return { code: 'big-number', message: `The number ${excerpt} has too many digits; it was rounded.` }
}

const UNFINISHED_ERROR: ArgumentsError = { ok: false, code: 'unfinished', message: 'The arguments are incomplete.' }
const NOT_OBJECT_MESSAGE = 'The arguments must be one JSON object.'
const NOT_OBJECT_ERROR: ArgumentsError = { ok: false, code: 'not-object', message: NOT_OBJECT_MESSAGE }

const REPAIR_MESSAGES: Record<
  JsonRepair | 'double-encoded' | 'array-root' | 'placeholder' | 'repeated' | 'several-objects' | 'trailing-text',
  string
> = {
  'control-characters': 'Raw control characters in strings were accepted.',
  'illegal-escapes': 'Invalid escape sequences were taken literally.',
  'single-quotes': 'Strings in single quotes were accepted.',
  'bare-keys': 'Keys without quotes were accepted.',
  'python-literals': 'True, False and None were accepted.',
  'trailing-comma': 'A comma before a closing bracket was ignored.',
  'double-encoded': 'The arguments were JSON inside a JSON string.',
  'array-root': 'The arguments were inside an array.',
  placeholder: 'An empty object before the arguments was ignored.',
  repeated: 'Repeats of the same arguments were ignored.',
  'several-objects': 'The call has several argument objects, which are separate calls.',
  'trailing-text': 'Brackets or markers around the arguments were ignored.',
}

const REPAIR_WARNINGS = Object.fromEntries(
  Object.entries(REPAIR_MESSAGES).map(([code, message]) => [code, { code, message }]),
) as Record<keyof typeof REPAIR_MESSAGES, Warning>

const MAX_STRING_LAYERS = 2
const QUOTE = 34
const BACKSLASH = 92
const ZERO = 48
const NINE = 57
/** Numbers are checked only if there are sixteen digits in a row or a three-digit exponent, which is rare. */
const RISKY_NUMBER = /\d{16}|\d[eE]\+?\d{3}/
const NUMBER_CHARS = /[\d.eE+-]+/y
const CODE_FENCE = /^\s*```\w*\s*(?=[{["])/
/** A closing bracket, a fence, a closing tag, or a special token of a chat template. */
const IGNORABLE_TAIL =
  /[\s\]})]+|```|<\/[A-Za-z][\w:.-]{0,60}>|<[|｜][^\s<>|｜]{1,60}[|｜]>|\[\/[A-Z_]{1,40}\]|<(?:end_of_turn|eos)>/y
