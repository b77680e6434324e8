import { broken, match, OPEN, type Read, type Scope, skipSpace, type Written } from './dialect.ts'

/** The text ends before the value does. */
export const CUT = -1

/** A bracket was closed by another kind of bracket. */
export const CROSSED = -2

/** Where the object or array that begins here ends; brackets inside strings do not count. */
export function jsonEnd(text: string, at: number): number {
  const closers: string[] = []
  BRACKET.lastIndex = at
  for (let hit = BRACKET.exec(text); hit; hit = BRACKET.exec(text)) {
    const char = hit[0]
    if (char === '"') {
      const end = stringEnd(text, hit.index)
      if (end === CUT) return CUT
      BRACKET.lastIndex = end
    } else if (char === '{') closers.push('}')
    else if (char === '[') closers.push(']')
    else if (closers.pop() !== char) return CROSSED
    else if (closers.length === 0) return BRACKET.lastIndex
  }
  return CUT
}

/** Reads one or more objects, or an array of objects, that each name a call. */
export function readObjects(text: string, from: number, scope: Scope): Read {
  const calls: Written[] = []
  for (let at = from; ;) {
    const end = jsonEnd(text, at)
    if (end === CUT) return OPEN
    const found = end === CROSSED ? undefined : callsIn(text, at, end)
    if (!found) return broken('it is not a call in JSON')
    calls.push(...found)
    at = end + (match(BETWEEN, text, end)?.[0].length ?? 0)
    if (at === text.length && !scope.final) return OPEN
    if (text[at] !== '{') return { kind: 'calls', end, calls }
  }
}

/**
 * The calls of one JSON value: an object, an array of objects, or an object that holds `tool_calls`. Where no marker
 * says that it is a call, `bare`, it must have arguments: many objects have a name.
 */
export function callsIn(text: string, from: number, to: number, bare = false): readonly Written[] | undefined {
  if (text[from] === '[') return callsInArray(text, from, to, bare)
  const parts = members(text, from, to)
  if (!parts) return undefined
  const list = parts.get('tool_calls')
  if (list && text[list.from] === '[') return callsInArray(text, list.from, list.to, bare)
  const call = callFrom(text, parts, bare)
  return call && [call]
}

/** Parses strictly; nothing if it is not JSON. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A piece of the text. Arguments are cut out as they stand, so that no digit of a long number is lost. */
interface Span {
  readonly from: number
  readonly to: number
}

function callsInArray(text: string, from: number, to: number, bare: boolean): readonly Written[] | undefined {
  const calls: Written[] = []
  let at = skipSpace(text, from + 1)
  while (text[at] === '{') {
    const end = jsonEnd(text, at)
    const parts = end < 0 ? undefined : members(text, at, end)
    const call = parts && callFrom(text, parts, bare)
    if (!call) return undefined
    calls.push(call)
    at = skipSpace(text, end)
    if (text[at] === ',') at = skipSpace(text, at + 1)
  }
  return at === to - 1 && calls.length > 0 ? calls : undefined
}

/** Reads `{"name", "arguments"}` and its relatives; two candidates for the same thing are no call. */
function callFrom(text: string, parts: ReadonlyMap<string, Span>, bare: boolean): Written | undefined {
  const inner = parts.get('function')
  if (inner && text[inner.from] === '{') {
    const inside = members(text, inner.from, inner.to)
    return inside && callFrom(text, inside, bare)
  }
  const names = NAME_KEYS.flatMap((key) => parts.get(key) ?? [])
  const given = ARGUMENT_KEYS.flatMap((key) => parts.get(key) ?? [])
  const [name] = names.map(({ from, to }) => parse(text.slice(from, to)))
  if (names.length !== 1 || typeof name !== 'string' || given.length > 1) return undefined
  const [span] = given
  if (span) return { name, raw: text.slice(span.from, span.to) }
  // Without arguments only if nothing else is there that may have been meant as one.
  const others = [...parts.keys()].filter((key) => !NAME_KEYS.includes(key) && !LABEL_KEYS.includes(key))
  return others.length === 0 && !bare ? { name, raw: '{}' } : undefined
}

const NAME_KEYS = ['name', 'tool', 'function']
const ARGUMENT_KEYS = ['arguments', 'parameters', 'args', 'input']
const LABEL_KEYS = ['id', 'type', 'index']

/** Where the members of an object stand; nothing if it is no object, or names a key twice. */
function members(text: string, from: number, to: number): ReadonlyMap<string, Span> | undefined {
  const found = new Map<string, Span>()
  let at = skipSpace(text, from + 1)
  if (text[at] === '}') return found
  for (;;) {
    const keyEnd = text[at] === '"' ? stringEnd(text, at) : CUT
    const key = keyEnd === CUT ? undefined : parse(text.slice(at, keyEnd))
    if (typeof key !== 'string' || found.has(key)) return undefined
    at = skipSpace(text, keyEnd)
    if (text[at] !== ':') return undefined
    at = skipSpace(text, at + 1)
    const end = valueEnd(text, at)
    if (end < 0) return undefined
    found.set(key, { from: at, to: end })
    at = skipSpace(text, end)
    if (text[at] === '}') return at + 1 === to ? found : undefined
    if (text[at] !== ',') return undefined
    at = skipSpace(text, at + 1)
  }
}

function valueEnd(text: string, at: number): number {
  const char = text[at]
  if (char === '{' || char === '[') return jsonEnd(text, at)
  if (char === '"') return stringEnd(text, at)
  const word = match(WORD, text, at)
  return word ? at + word[0].length : CUT
}

function stringEnd(text: string, at: number): number {
  QUOTE.lastIndex = at + 1
  for (let hit = QUOTE.exec(text); hit; hit = QUOTE.exec(text)) {
    if (hit[0] === '"') return QUOTE.lastIndex
    QUOTE.lastIndex++
  }
  return CUT
}

const BRACKET = /["{}[\]]/g
const QUOTE = /["\\]/g
const WORD = /[^\s,{}[\]":]+/y
const BETWEEN = /[\s,;]{0,32}/y
