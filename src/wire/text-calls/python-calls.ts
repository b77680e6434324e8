import { createBroken, createPattern, INCOMPLETE, matchAt, NAME_PATTERN, skipWhitespace } from './dialects/dialect.ts'
import type { RawTextCall, ReadResult, ReadScope } from './dialects/dialect.ts'
import { TRUNCATED_JSON } from './json-calls.ts'
import { PYTHON_SYNTAX, readLiteral } from './literals.ts'
import { toObjectJson } from './argument-values.ts'

/** Could calls in Python notation start here? Undefined if more text is needed. */
export function startsPythonCall(text: string, at: number): boolean | undefined {
  const head = matchAt(CALL_START, text, at)?.[0] ?? ''
  return head.endsWith('(') || (at + head.length === text.length ? undefined : false)
}

/** `[name(key="text", n=1), other()]`, or calls in a row without the brackets. Arguments have names. */
export function readPythonCalls(text: string, from: number, scope: ReadScope): ReadResult {
  const isList = text[from] === '['
  const calls: RawTextCall[] = []
  for (let at = skipWhitespace(text, from + (isList ? 1 : 0)); ;) {
    const call = readPythonCall(text, at)
    if ('kind' in call) return call
    calls.push({ name: call.name, raw: call.raw })
    at = skipWhitespace(text, call.end)
    if (text[at] === ',' || (!isList && text[at] === ';')) at = skipWhitespace(text, at + 1)
    if (isList && text[at] === ']') return { kind: 'calls', end: at + 1, calls }
    if (at === text.length && (isList || !scope.isFinal)) return INCOMPLETE
    if (isList) continue
    const isNext = startsPythonCall(text, at)
    if (isNext === undefined && !scope.isFinal) return INCOMPLETE
    if (!isNext) return { kind: 'calls', end: call.end, calls }
  }
}

function readPythonCall(text: string, from: number): (RawTextCall & { readonly end: number }) | ReadResult {
  const head = matchAt(CALL_HEAD, text, from)
  if (!head) return text.length - from < MAX_HEAD_CHARS ? INCOMPLETE : NOT_A_CALL
  const members = new Map<string, string>()
  for (let at = skipWhitespace(text, from + head[0].length); ;) {
    if (at === text.length) return INCOMPLETE
    if (text[at] === ')') return { name: head.groups?.['name'] ?? '', raw: toObjectJson([...members]), end: at + 1 }
    const key = matchAt(ARGUMENT_NAME, text, at)
    if (!key) return text.length - at < MAX_HEAD_CHARS ? INCOMPLETE : NOT_A_CALL
    const value = readLiteral(text, at + key[0].length, PYTHON_SYNTAX)
    if (value === TRUNCATED_JSON) return INCOMPLETE
    const name = key.groups?.['key'] ?? ''
    if (typeof value !== 'object' || members.has(name)) return NOT_A_CALL
    members.set(name, value.json)
    at = skipWhitespace(text, value.end)
    if (text[at] === ',') at = skipWhitespace(text, at + 1)
    else if (at < text.length && text[at] !== ')') return NOT_A_CALL
  }
}

const NOT_A_CALL = createBroken('it is not a call in Python notation')
const CALL_START = createPattern(`(?:\\[\\s{0,32})?(?:${NAME_PATTERN}\\s{0,8}\\(?)?`)
const CALL_HEAD = createPattern(`(?<name>${NAME_PATTERN})\\s{0,8}\\(`)
const ARGUMENT_NAME = createPattern('(?<key>[\\p{L}_][\\p{L}\\p{N}_]{0,127})\\s{0,8}=\\s{0,8}(?!=)')
const MAX_HEAD_CHARS = 160
