import { isObject, type JsonObject, objectOrEmpty, tryParseJson } from '../../model/json.ts'
import { parseCallArguments } from '../calls/parse-arguments.ts'
import { createBroken, matchAt, INCOMPLETE, skipWhitespace } from './dialects/dialect.ts'
import type { ReadResult, ReadScope, RawTextCall } from './dialects/dialect.ts'

/** The text ends before the value does. */
export const TRUNCATED_JSON = -1

/** A bracket is closed by a bracket of another kind. */
export const MISMATCHED_BRACKETS = -2

/** The end of the object or array at an offset, or TRUNCATED or MISMATCHED. */
export function findJsonEnd(text: string, at: number): number {
  const closers: string[] = []
  BRACKET.lastIndex = at
  for (let hit = BRACKET.exec(text); hit; hit = BRACKET.exec(text)) {
    const char = hit[0]
    if (char === '"') {
      const end = findStringEnd(text, hit.index)
      if (end === TRUNCATED_JSON) return TRUNCATED_JSON
      BRACKET.lastIndex = end
    } else if (char === '{') closers.push('}')
    else if (char === '[') closers.push(']')
    else if (closers.pop() !== char) return MISMATCHED_BRACKETS
    else if (closers.length === 0) return BRACKET.lastIndex
  }
  return TRUNCATED_JSON
}

/** A call whose arguments are one JSON object at an offset. The caller checks what closes the call. */
export function readJsonArguments(name: string, text: string, at: number): ReadResult {
  const end = findJsonEnd(text, at)
  if (end === TRUNCATED_JSON) return INCOMPLETE
  if (end === MISMATCHED_BRACKETS) return createBroken('the arguments are not JSON')
  const raw = text.slice(at, end)
  return isReadable(raw) ? { kind: 'calls', end, calls: [{ name, raw }] } : createBroken('the arguments are not JSON')
}

/** Reads one or more objects, or an array of objects, each of which is a call. */
export function readJsonCalls(text: string, from: number, scope: ReadScope, isBare = false): ReadResult {
  const calls: RawTextCall[] = []
  for (let at = from; ;) {
    const end = findJsonEnd(text, at)
    if (end === TRUNCATED_JSON) return INCOMPLETE
    if (end === MISMATCHED_BRACKETS) return createBroken(NOT_A_CALL)
    const found = extractCalls(text, at, end, scope, isBare)
    if (!found) return createBroken(NOT_A_CALL, end)
    calls.push(...found)
    at = end + (matchAt(SEPARATOR, text, end)?.[0].length ?? 0)
    if (at === text.length && !scope.isFinal) return INCOMPLETE
    if (text[at] !== '{') return { kind: 'calls', end, calls }
  }
}

/** Arguments are taken from the text as they are, so that long numbers keep all digits. */
interface TextSpan {
  readonly from: number
  readonly to: number
}

/** An object, an array of objects, or `tool_calls`. */
function extractCalls(text: string, from: number, to: number, scope: ReadScope, isBare: boolean) {
  if (text[from] === '[') return extractCallsFromArray(text, from, to, scope, isBare)
  const memberSpans = findMembers(text, from, to)
  if (!memberSpans) return undefined
  const list = memberSpans.get('tool_calls')
  const isMessage = !isBare || [...memberSpans].every(([key, span]) => key === 'tool_calls' || isBlank(text, key, span))
  if (list && text[list.from] === '[' && isMessage)
    return extractCallsFromArray(text, list.from, list.to, scope, isBare)
  const call = readCallObject(text, memberSpans, scope, isBare)
  return call && [call]
}

/** Granite writes a whole message, with a text that is empty. */
function isBlank(text: string, key: string, { from, to }: TextSpan): boolean {
  return key === 'content' && ['""', 'null'].includes(text.slice(from, to))
}

function extractCallsFromArray(text: string, from: number, to: number, scope: ReadScope, isBare: boolean) {
  const calls: RawTextCall[] = []
  let at = skipWhitespace(text, from + 1)
  while (text[at] === '{') {
    const end = findJsonEnd(text, at)
    const memberSpans = end < 0 ? undefined : findMembers(text, at, end)
    const call = memberSpans && readCallObject(text, memberSpans, scope, isBare)
    if (!call) return undefined
    calls.push(call)
    at = skipWhitespace(text, end)
    if (text[at] === ',') at = skipWhitespace(text, at + 1)
  }
  return at === to - 1 && calls.length > 0 ? calls : undefined
}

/** A call, or `{"type": "function", "function": {…}}` around it. */
function readCallObject(
  text: string,
  memberSpans: ReadonlyMap<string, TextSpan>,
  scope: ReadScope,
  isBare: boolean,
): RawTextCall | undefined {
  const inner = memberSpans.get('function')
  if (!inner || text[inner.from] !== '{') return toRawCall(text, memberSpans, scope, isBare)
  if (isBare && [...memberSpans.keys()].some((key) => key !== 'function' && !LABEL_KEYS.includes(key))) return undefined
  const inside = findMembers(text, inner.from, inner.to)
  return inside && toRawCall(text, inside, scope, isBare)
}

/**
 * `{"name", "arguments"}` and variants, or `{"the name": {arguments}}`; not a call if there are two names or two arguments.
 * Without a marker (`isBare`) the object must have a name and arguments, and nothing else.
 */
function toRawCall(
  text: string,
  memberSpans: ReadonlyMap<string, TextSpan>,
  scope: ReadScope,
  isBare: boolean,
): RawTextCall | undefined {
  const names = NAME_KEYS.flatMap((key) => memberSpans.get(key) ?? [])
  const argumentSpans = ARGUMENT_KEYS.flatMap((key) => memberSpans.get(key) ?? [])
  const others = [...memberSpans.keys()].filter((key) => !CALL_KEYS.has(key))
  const [key = ''] = others
  const keyed = memberSpans.size === 1 && !isBare && scope.findSchema(key) ? memberSpans.get(key) : undefined
  if (keyed && text[keyed.from] === '{') return toReadableCall(key, text.slice(keyed.from, keyed.to), scope)
  const [name] = names.map(({ from, to }) => tryParseJson(text.slice(from, to)))
  if (names.length !== 1 || typeof name !== 'string' || argumentSpans.length > 1) return undefined
  if (isBare && (others.length > 0 || argumentSpans.length === 0)) return undefined
  const [span] = argumentSpans
  if (span) return toReadableCall(name, text.slice(span.from, span.to), scope)
  // Without arguments only if there is no other key that may be an argument.
  return others.length === 0 ? { name, raw: '{}' } : undefined
}

function toReadableCall(name: string, raw: string, scope: ReadScope): RawTextCall | undefined {
  return isReadable(raw) && !isDeclaration(raw, scope.findSchema(name)) ? { name, raw } : undefined
}

/** Are the “arguments” the schema of the tool's arguments? Models list their tools like that. */
function isDeclaration(raw: string, schema: JsonObject | undefined): boolean {
  const { type, properties } = objectOrEmpty(tryParseJson(raw))
  return type === 'object' && isObject(properties) && !isObject(objectOrEmpty(schema?.['properties'])['properties'])
}

/** Are the arguments JSON, if need be with repairs? That JSON is no object is the model's mistake. */
function isReadable(raw: string): boolean {
  return tryParseJson(raw) !== undefined || parseCallArguments(raw).ok
}

export const NAME_KEYS = ['name', 'tool', 'function', 'tool_name']
export const ARGUMENT_KEYS = ['arguments', 'parameters', 'args', 'input']
const LABEL_KEYS = ['id', 'type', 'index', 'tool_call_id']
/** The keys that an object with a call may have. */
export const CALL_KEYS: ReadonlySet<string> = new Set([...NAME_KEYS, ...ARGUMENT_KEYS, ...LABEL_KEYS])

/** The positions of an object's members; undefined if it is not an object, or if a key is repeated. */
function findMembers(text: string, from: number, to: number): ReadonlyMap<string, TextSpan> | undefined {
  const found = new Map<string, TextSpan>()
  let at = skipWhitespace(text, from + 1)
  if (text[at] === '}') return found
  for (;;) {
    const keyEnd = text[at] === '"' ? findStringEnd(text, at) : TRUNCATED_JSON
    const key = keyEnd === TRUNCATED_JSON ? undefined : tryParseJson(text.slice(at, keyEnd))
    if (typeof key !== 'string' || found.has(key)) return undefined
    at = skipWhitespace(text, keyEnd)
    if (text[at] !== ':') return undefined
    at = skipWhitespace(text, at + 1)
    const end = findValueEnd(text, at)
    if (end < 0) return undefined
    found.set(key, { from: at, to: end })
    at = skipWhitespace(text, end)
    if (text[at] === '}') return at + 1 === to ? found : undefined
    if (text[at] !== ',') return undefined
    at = skipWhitespace(text, at + 1)
  }
}

function findValueEnd(text: string, at: number): number {
  const char = text[at]
  if (char === '{' || char === '[') return findJsonEnd(text, at)
  if (char === '"') return findStringEnd(text, at)
  const word = matchAt(BARE_WORD, text, at)
  return word ? at + word[0].length : TRUNCATED_JSON
}

function findStringEnd(text: string, at: number): number {
  QUOTE.lastIndex = at + 1
  for (let hit = QUOTE.exec(text); hit; hit = QUOTE.exec(text)) {
    if (hit[0] === '"') return QUOTE.lastIndex
    QUOTE.lastIndex++
  }
  return TRUNCATED_JSON
}

const NOT_A_CALL = 'it is not a call in JSON'
const BRACKET = /["{}[\]]/g
const QUOTE = /["\\]/g
const BARE_WORD = /[^\s,{}[\]":]+/y
const SEPARATOR = /[\s,;]{0,32}/y
