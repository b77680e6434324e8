import {
  createBrokenResult,
  matchAt,
  INCOMPLETE,
  type DialectResult,
  type DialectContext,
  skipWhitespace,
  type RawTextCall,
} from './dialects/dialect.ts'

/** The text ends before the value does. */
export const TRUNCATED = -1

/** A bracket was closed by another kind of bracket. */
export const MISMATCHED = -2

/** Where the object or array that begins here ends; brackets inside strings do not count. */
export function findJsonEnd(text: string, at: number): number {
  const closers: string[] = []
  BRACKET.lastIndex = at
  for (let hit = BRACKET.exec(text); hit; hit = BRACKET.exec(text)) {
    const char = hit[0]
    if (char === '"') {
      const end = findStringEnd(text, hit.index)
      if (end === TRUNCATED) return TRUNCATED
      BRACKET.lastIndex = end
    } else if (char === '{') closers.push('}')
    else if (char === '[') closers.push(']')
    else if (closers.pop() !== char) return MISMATCHED
    else if (closers.length === 0) return BRACKET.lastIndex
  }
  return TRUNCATED
}

/** Reads one or more objects, or an array of objects, that each name a call. */
export function readJsonCalls(text: string, from: number, scope: DialectContext): DialectResult {
  const calls: RawTextCall[] = []
  for (let at = from; ;) {
    const end = findJsonEnd(text, at)
    if (end === TRUNCATED) return INCOMPLETE
    const found = end === MISMATCHED ? undefined : extractCalls(text, at, end)
    if (!found) return createBrokenResult('it is not a call in JSON')
    calls.push(...found)
    at = end + (matchAt(SEPARATOR, text, end)?.[0].length ?? 0)
    if (at === text.length && !scope.isFinal) return INCOMPLETE
    if (text[at] !== '{') return { kind: 'calls', end, calls }
  }
}

/**
 * The calls of one JSON value: an object, an array of objects, or an object that holds `tool_calls`. Where no marker
 * says that it is a call, `bare`, it must have arguments: many objects have a name.
 */
export function extractCalls(text: string, from: number, to: number, bare = false): readonly RawTextCall[] | undefined {
  if (text[from] === '[') return extractCallsFromArray(text, from, to, bare)
  const memberSpans = findMembers(text, from, to)
  if (!memberSpans) return undefined
  const list = memberSpans.get('tool_calls')
  if (list && text[list.from] === '[') return extractCallsFromArray(text, list.from, list.to, bare)
  const call = toRawCall(text, memberSpans, bare)
  return call && [call]
}

/** Parses strictly; nothing if it is not JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A piece of the text. Arguments are cut out as they stand, so that no digit of a long number is lost. */
interface TextSpan {
  readonly from: number
  readonly to: number
}

function extractCallsFromArray(
  text: string,
  from: number,
  to: number,
  bare: boolean,
): readonly RawTextCall[] | undefined {
  const calls: RawTextCall[] = []
  let at = skipWhitespace(text, from + 1)
  while (text[at] === '{') {
    const end = findJsonEnd(text, at)
    const memberSpans = end < 0 ? undefined : findMembers(text, at, end)
    const call = memberSpans && toRawCall(text, memberSpans, bare)
    if (!call) return undefined
    calls.push(call)
    at = skipWhitespace(text, end)
    if (text[at] === ',') at = skipWhitespace(text, at + 1)
  }
  return at === to - 1 && calls.length > 0 ? calls : undefined
}

/** Reads `{"name", "arguments"}` and its relatives; two candidates for the same thing are no call. */
function toRawCall(text: string, memberSpans: ReadonlyMap<string, TextSpan>, bare: boolean): RawTextCall | undefined {
  const inner = memberSpans.get('function')
  if (inner && text[inner.from] === '{') {
    const inside = findMembers(text, inner.from, inner.to)
    return inside && toRawCall(text, inside, bare)
  }
  const names = NAME_KEYS.flatMap((key) => memberSpans.get(key) ?? [])
  const argumentSpans = ARGUMENT_KEYS.flatMap((key) => memberSpans.get(key) ?? [])
  const [name] = names.map(({ from, to }) => tryParseJson(text.slice(from, to)))
  if (names.length !== 1 || typeof name !== 'string' || argumentSpans.length > 1) return undefined
  const [span] = argumentSpans
  if (span) return { name, raw: text.slice(span.from, span.to) }
  // Without arguments only if nothing else is there that may have been meant as one.
  const others = [...memberSpans.keys()].filter((key) => !NAME_KEYS.includes(key) && !LABEL_KEYS.includes(key))
  return others.length === 0 && !bare ? { name, raw: '{}' } : undefined
}

const NAME_KEYS = ['name', 'tool', 'function']
const ARGUMENT_KEYS = ['arguments', 'parameters', 'args', 'input']
const LABEL_KEYS = ['id', 'type', 'index']

/** Where the members of an object stand; nothing if it is no object, or names a key twice. */
function findMembers(text: string, from: number, to: number): ReadonlyMap<string, TextSpan> | undefined {
  const found = new Map<string, TextSpan>()
  let at = skipWhitespace(text, from + 1)
  if (text[at] === '}') return found
  for (;;) {
    const keyEnd = text[at] === '"' ? findStringEnd(text, at) : TRUNCATED
    const key = keyEnd === TRUNCATED ? undefined : tryParseJson(text.slice(at, keyEnd))
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
  return word ? at + word[0].length : TRUNCATED
}

function findStringEnd(text: string, at: number): number {
  QUOTE.lastIndex = at + 1
  for (let hit = QUOTE.exec(text); hit; hit = QUOTE.exec(text)) {
    if (hit[0] === '"') return QUOTE.lastIndex
    QUOTE.lastIndex++
  }
  return TRUNCATED
}

const BRACKET = /["{}[\]]/g
const QUOTE = /["\\]/g
const BARE_WORD = /[^\s,{}[\]":]+/y
const SEPARATOR = /[\s,;]{0,32}/y
