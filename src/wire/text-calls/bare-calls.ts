import { parseCallArguments } from '../calls/parse-arguments.ts'
import { declaresKeys } from './argument-values.ts'
import { createPattern, INCOMPLETE, matchAt, NAME_PATTERN, PROSE } from './dialects/dialect.ts'
import type { RawTextCall, ReadResult, ReadScope } from './dialects/dialect.ts'
import { CALL_KEYS, NAME_KEYS, readJsonArguments, readJsonCalls } from './json-calls.ts'
import { readPythonCalls, startsPythonCall } from './python-calls.ts'

/**
 * Calls without a marker: JSON objects, an array of them, a list in Python notation, or `name`, a line break and JSON. Every
 * name and every argument must be declared, so that other JSON stays text; the caller makes sure that nothing surrounds the
 * calls.
 */
export function readBareCalls(text: string, at: number, scope: ReadScope): ReadResult {
  const result = /[{[]/.test(text[at] ?? '') ? readListOrObject(text, at, scope) : readNameAndJson(text, at, scope)
  if (result.kind === 'broken') return result.end === undefined ? result : { kind: 'prose', end: result.end }
  if (result.kind !== 'calls' || result.calls.every((call) => isDeclared(call, scope))) return result
  return { kind: 'prose', end: result.end }
}

function isDeclared({ name, raw }: RawTextCall, scope: ReadScope): boolean {
  const schema = scope.findSchema(name)
  const read = parseCallArguments(raw)
  return schema !== undefined && read.ok && read.inputs.every((input) => declaresKeys(schema, Object.keys(input)))
}

function readListOrObject(text: string, at: number, scope: ReadScope): ReadResult {
  const isPython = text[at] === '[' && startsPythonCall(text, at)
  const head = matchAt(isPython ? PYTHON_HEAD : JSON_HEAD, text, at)
  if (!head) return !scope.isFinal && mayBecomeHead(text, at) ? INCOMPLETE : PROSE
  const { key = '', name = '' } = head.groups ?? {}
  if (isPython) return scope.findSchema(name) ? readPythonCalls(text, at, scope) : PROSE
  if (!CALL_KEYS.has(key) && key !== 'tool_calls') return PROSE
  const quoted = NAME_KEYS.includes(key) ? matchAt(QUOTED_NAME, text, at + head[0].length) : null
  return quoted && !scope.findSchema(quoted[1] ?? '') ? PROSE : readJsonCalls(text, at, scope, true)
}

/** The name of a tool, a line break, and its arguments. */
function readNameAndJson(text: string, at: number, scope: ReadScope): ReadResult {
  if (at === text.length) return scope.isFinal ? PROSE : INCOMPLETE
  const head = matchAt(NAME_LINE, text, at)
  if (!head) return PROSE
  const { name = '', gap = '' } = head.groups ?? {}
  const end = at + head[0].length
  if (end === text.length) return !scope.isFinal && scope.hasToolWithPrefix(name) ? INCOMPLETE : PROSE
  if (!gap.includes('\n') || text[end] !== '{' || !scope.findSchema(name)) return PROSE
  return readJsonArguments(name, text, end)
}

/** Is the text too short to tell? */
function mayBecomeHead(text: string, at: number): boolean {
  return text.length - at < MAX_HEAD_CHARS && HEAD_PREFIX.test(text.slice(at))
}

const MAX_HEAD_CHARS = 200
const JSON_HEAD = createPattern('(?:\\[\\s{0,32})?\\{\\s{0,32}"(?<key>\\w{1,32})"\\s{0,8}:\\s{0,8}')
const QUOTED_NAME = createPattern('"([^"]{1,128})"')
// A list of numbers is shown as it comes.
const PYTHON_HEAD = createPattern(`\\[\\s{0,32}(?!\\p{N})(?<name>${NAME_PATTERN})\\s{0,8}\\(`)
const HEAD_PREFIX = /^(?:\[\s*)?(?:\{\s*(?:"\w*(?:"\s*)?)?|[\p{L}_][\p{L}\p{N}_.:/-]*\s*)?$/u
const NAME_LINE = createPattern(`(?<name>${NAME_PATTERN})(?<gap>\\s{0,32})`)
