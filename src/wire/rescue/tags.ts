import { BAR, broken, GAP, match, NAME, OPEN, pattern, PROSE, skipSpace, undecided } from './dialect.ts'
import type { Read, Reader, Scope } from './dialect.ts'
import { CROSSED, CUT, jsonEnd } from './json.ts'
import { argumentsText, type Pair } from './values.ts'

/** Qwen3-Coder: `<function=name><parameter=key>value</parameter></function>` (T61); JSON inside is Llama's form (T73). */
export const readFunction: Reader = (text, at, scope) => readTags(FUNCTION, text, at, scope)

/** `<invoke name="x"><parameter name="k">value</parameter></invoke>` (T64, T68). */
export const readInvoke: Reader = (text, at, scope) => readTags(INVOKE, text, at, scope)

/** DeepSeek's DSML: the same with `｜DSML｜` before each tag's name, and `string="true|false"` on parameters (T63). */
export const readDsml: Reader = (text, at, scope) => readTags(DSML, text, at, scope)

/** GLM, after `<tool_call>`: `name<arg_key>k</arg_key><arg_value>v</arg_value></tool_call>` (T67). */
export const readNamed: Reader = (text, at, scope) => {
  const word = match(WORD, text, at)
  const next = text[at + (word?.[0].length ?? 0)]
  if (next !== undefined && next !== '<' && next !== '{') return PROSE
  const head = match(NAMED.head, text, at)
  // A word between the tags is a call without arguments only if it is the name of a tool.
  if (head && !text.startsWith('<arg_key>', at + head[0].length) && !scope.schema(nameIn(head))) return PROSE
  return readTags(NAMED, text, at, scope)
}

/** The tags of a dialect that writes each parameter as an element. */
interface Grammar {
  /** Opens the call, and holds the group `name`. */
  readonly head: RegExp
  /** Opens a parameter, and holds the group `key`. */
  readonly param: RegExp
  /** What opens a parameter, anywhere: a value that holds it could be two parameters. */
  readonly nested: RegExp
  /** Closes a parameter. */
  readonly close: RegExp
  /** Closes the call. */
  readonly end: RegExp
  /** The dialect puts a line break before and after each value. */
  readonly lines?: true
  /** The last value may be closed by this, the end of the call, instead of its own tag. */
  readonly lastClose?: string
}

const SPACED = '(?:[a-z]{1,16}:)?'
const ATTRIBUTES = `(?<attributes>(?:\\s{1,4}[\\w:-]{1,32}=["'][^"'<>]{0,48}["']){0,3})\\s{0,4}>`
const quoted = (group: string): string => `["']?(?<${group}>[^"'<>=]{1,128}?)["']?`
const named = (group: string): string => `name\\s?=\\s?${quoted(group)}${ATTRIBUTES}`
const D = `${BAR}DSML${BAR}`

const FUNCTION: Grammar = {
  // Some servers lose the `>` before a JSON body.
  head: pattern(`<function=["']?(?<name>${NAME})["']?(?:\\s{0,4}>|[\\s,(]{0,4}(?=\\{))`),
  param: pattern(`<parameter=${quoted('key')}\\s{0,4}>`),
  nested: /<parameter=/,
  close: /<\/parameter>/g,
  end: pattern('</function>'),
  lines: true,
}

const INVOKE: Grammar = {
  head: pattern(`<${SPACED}invoke\\s{1,4}${named('name')}`),
  param: pattern(`<${SPACED}parameter\\s{1,4}${named('key')}`),
  nested: new RegExp(`<${SPACED}parameter\\s{1,4}name\\s?=`),
  close: new RegExp(`</${SPACED}parameter>`, 'g'),
  end: pattern(`</${SPACED}invoke>`),
}

const DSML: Grammar = {
  head: pattern(`(?:<${D}(?:tool_calls?|function_calls?|tool_use)\\s?>${GAP})?<${D}invoke\\s{1,4}${named('name')}`),
  param: pattern(`<${D}parameter\\s{1,4}${named('key')}`),
  nested: new RegExp(`<${D}parameter\\s`),
  close: new RegExp(`<\\s?/${D}parameter\\s?>`, 'g'),
  end: pattern(`<\\s?/${D}invoke\\s?>`),
}

const NAMED: Grammar = {
  head: pattern(`(?<name>${NAME})\\s{0,8}(?=<arg_key>|</tool_call>|\\{)`),
  param: pattern(`<arg_key>\\s{0,4}(?<key>[^<>]{1,128}?)\\s{0,4}</arg_key>${GAP}<arg_value>`),
  nested: /<arg_key>/,
  close: /<\/arg_value>/g,
  end: pattern('</tool_call>'),
  lastClose: '</tool_call>',
}

const WORD = /[A-Za-z_][\w.:/-]*\s*/y

function readTags(grammar: Grammar, text: string, from: number, scope: Scope): Read {
  const head = match(grammar.head, text, from)
  if (!head) return undecided(text, from, scope)
  const name = nameIn(head)
  const pairs: Pair[] = []
  for (let at = from + head[0].length; ;) {
    at = skipSpace(text, at)
    if (at === text.length) return OPEN
    const end = match(grammar.end, text, at)
    if (end) {
      const raw = argumentsText(pairs, scope.schema(name))
      return { kind: 'calls', end: at + end[0].length, calls: [{ name, raw }] }
    }
    if (pairs.length === 0 && text[at] === '{') return readBody(name, text, at)
    const param = match(grammar.param, text, at)
    if (!param) return undecided(text, at, scope) === OPEN ? OPEN : broken('it has something between its parameters')
    const key = param.groups?.['key'] ?? ''
    if (pairs.some((pair) => pair.key === key)) return broken(`it has the parameter ${key} twice`)
    const value = readValue(grammar, text, at + param[0].length, scope)
    if ('kind' in value) return value
    const string = /\bstring=["'](true|false)["']/.exec(param.groups?.['attributes'] ?? '')?.[1]
    pairs.push({ key, value: value.text, ...(string && { form: string === 'true' ? 'text' : 'json' }) })
    at = value.end
  }
}

/**
 * Reads a value up to its closing tag. Values may hold that tag as text, so it closes only where the next parameter or
 * the end of the call follows (T50).
 */
function readValue(grammar: Grammar, text: string, from: number, scope: Scope): Read | { text: string; end: number } {
  const { close, lines } = grammar
  close.lastIndex = from
  for (let hit = close.exec(text); hit; hit = close.exec(text)) {
    const end = close.lastIndex
    const next = skipSpace(text, end)
    if (next === text.length) return OPEN
    if (match(grammar.end, text, next) || match(grammar.param, text, next)) {
      const value = text.slice(from, hit.index)
      if (grammar.nested.test(value)) return broken('one of its values could be two')
      return { text: lines ? value.replace(/^\n/, '').replace(/\n$/, '') : value, end }
    }
    if (undecided(text, next, scope) === OPEN) return OPEN
  }
  const last = scope.final && grammar.lastClose ? text.indexOf(grammar.lastClose, from) : -1
  if (last < 0) return OPEN
  const value = text.slice(from, last)
  return grammar.nested.test(value) ? broken('one of its values is not closed') : { text: value, end: last }
}

/** Reads arguments that stand as one JSON object where parameters could. What closes the call is judged by the caller. */
function readBody(name: string, text: string, at: number): Read {
  const end = jsonEnd(text, at)
  if (end === CUT) return OPEN
  if (end === CROSSED) return broken('its arguments are not JSON')
  return { kind: 'calls', end, calls: [{ name, raw: text.slice(at, end) }] }
}

function nameIn(head: RegExpExecArray): string {
  return (head.groups?.['name'] ?? '').trim()
}
