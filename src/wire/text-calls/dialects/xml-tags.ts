import { BAR_PATTERN, createBroken, createPattern, GAP_PATTERN, INCOMPLETE } from './dialect.ts'
import { toIncompleteOrProse, matchAt, NAME_PATTERN, PROSE, skipWhitespace } from './dialect.ts'
import type { ReadResult, DialectReader, DialectContext } from './dialect.ts'
import { readJsonArguments } from '../json-calls.ts'
import { toArgumentsJson, type TextCallParameter } from '../argument-values.ts'

/** Qwen3-Coder: `<function=name><parameter=key>value</parameter></function>` (T61); with JSON inside, Llama (T73). */
export const readFunctionTagCall: DialectReader = (text, at, scope) => readTags(FUNCTION_GRAMMAR, text, at, scope)

/** `<invoke name="x"><parameter name="k">value</parameter></invoke>` (T64, T68). */
export const readInvokeTagCall: DialectReader = (text, at, scope) => readTags(INVOKE_GRAMMAR, text, at, scope)

/** DeepSeek's DSML: the same with `｜DSML｜` before each tag name, and `string="true|false"` on parameters (T63). */
export const readDsmlTagCall: DialectReader = (text, at, scope) => readTags(DSML_GRAMMAR, text, at, scope)

/** GLM, after `<tool_call>`: `name<arg_key>k</arg_key><arg_value>v</arg_value></tool_call>` (T67). */
export const readGlmTagCall: DialectReader = (text, at, scope) => {
  const word = matchAt(BARE_WORD, text, at)
  const next = text[at + (word?.[0].length ?? 0)]
  if (next !== undefined && next !== '<' && next !== '{') return PROSE
  const head = matchAt(GLM_GRAMMAR.head, text, at)
  // A single word in the tags is a call without arguments only if it is the name of a tool.
  if (head && !text.startsWith('<arg_key>', at + head[0].length) && !scope.findSchema(getCallName(head))) return PROSE
  return readTags(GLM_GRAMMAR, text, at, scope)
}

/** The tags of a dialect that writes each parameter as an element. */
interface TagGrammar {
  /** Opens the call; with the group `name`. */
  readonly head: RegExp
  /** Opens a parameter; with the group `key`. */
  readonly param: RegExp
  /** The start of a parameter: a value that contains it could be two parameters. */
  readonly nested: RegExp
  /** Closes a parameter. */
  readonly close: RegExp
  /** Closes the call. */
  readonly end: RegExp
  /** There is a line break before and after each value. */
  readonly hasLineBreaks?: true
  /** The end of the call, which may close the last value instead of its own tag. */
  readonly lastClose?: string
}

const NAMESPACE_PREFIX = '(?:[a-z]{1,16}:)?'
const ATTRIBUTES = `(?<attributes>(?:\\s{1,4}[\\w:-]{1,32}=["'][^"'<>]{0,48}["']){0,3})\\s{0,4}>`
const quotedGroup = (group: string): string => `["']?(?<${group}>[^"'<>=]{1,128}?)["']?`
const nameAttribute = (group: string): string => `name\\s?=\\s?${quotedGroup(group)}${ATTRIBUTES}`
const DSML_PREFIX = `${BAR_PATTERN}DSML${BAR_PATTERN}`

const FUNCTION_GRAMMAR: TagGrammar = {
  // Some servers omit the `>` before a JSON body.
  head: createPattern(`<function=["']?(?<name>${NAME_PATTERN})["']?(?:\\s{0,4}>|[\\s,(]{0,4}(?=\\{))`),
  param: createPattern(`<parameter=${quotedGroup('key')}\\s{0,4}>`),
  nested: /<parameter=/,
  close: /<\/parameter>/g,
  end: createPattern('</function>'),
  hasLineBreaks: true,
}

const INVOKE_GRAMMAR: TagGrammar = {
  head: createPattern(`<${NAMESPACE_PREFIX}invoke\\s{1,4}${nameAttribute('name')}`),
  param: createPattern(`<${NAMESPACE_PREFIX}parameter\\s{1,4}${nameAttribute('key')}`),
  nested: new RegExp(`<${NAMESPACE_PREFIX}parameter\\s{1,4}name\\s?=`),
  close: new RegExp(`</${NAMESPACE_PREFIX}parameter>`, 'g'),
  end: createPattern(`</${NAMESPACE_PREFIX}invoke>`),
}

const DSML_GRAMMAR: TagGrammar = {
  head: createPattern(
    `(?:<${DSML_PREFIX}(?:tool_calls?|function_calls?|tool_use)\\s?>${GAP_PATTERN})?<${DSML_PREFIX}invoke\\s{1,4}${nameAttribute('name')}`,
  ),
  param: createPattern(`<${DSML_PREFIX}parameter\\s{1,4}${nameAttribute('key')}`),
  nested: new RegExp(`<${DSML_PREFIX}parameter\\s`),
  close: new RegExp(`<\\s?/${DSML_PREFIX}parameter\\s?>`, 'g'),
  end: createPattern(`<\\s?/${DSML_PREFIX}invoke\\s?>`),
}

const GLM_GRAMMAR: TagGrammar = {
  head: createPattern(`(?<name>${NAME_PATTERN})\\s{0,8}(?=<arg_key>|</tool_call>|\\{)`),
  param: createPattern(`<arg_key>\\s{0,4}(?<key>[^<>]{1,128}?)\\s{0,4}</arg_key>${GAP_PATTERN}<arg_value>`),
  nested: /<arg_key>/,
  close: /<\/arg_value>/g,
  end: createPattern('</tool_call>'),
  lastClose: '</tool_call>',
}

const BARE_WORD = /[A-Za-z_][\w.:/-]*\s*/y

function readTags(grammar: TagGrammar, text: string, from: number, scope: DialectContext): ReadResult {
  const head = matchAt(grammar.head, text, from)
  if (!head) return toIncompleteOrProse(text, from, scope)
  const name = getCallName(head)
  const pairs: TextCallParameter[] = []
  for (let at = from + head[0].length; ;) {
    at = skipWhitespace(text, at)
    if (at === text.length) return INCOMPLETE
    const end = matchAt(grammar.end, text, at)
    if (end) {
      const raw = toArgumentsJson(pairs, scope.findSchema(name))
      return { kind: 'calls', end: at + end[0].length, calls: [{ name, raw }] }
    }
    if (pairs.length === 0 && text[at] === '{') return readJsonArguments(name, text, at)
    const param = matchAt(grammar.param, text, at)
    if (!param)
      return toIncompleteOrProse(text, at, scope) === INCOMPLETE
        ? INCOMPLETE
        : createBroken('there is text between the parameters')
    const key = param.groups?.['key'] ?? ''
    if (pairs.some((pair) => pair.key === key)) return createBroken(`the parameter ${key} is repeated`)
    const value = readValue(grammar, text, at + param[0].length, scope)
    if ('kind' in value) return value
    const string = /\bstring=["'](true|false)["']/.exec(param.groups?.['attributes'] ?? '')?.[1]
    pairs.push({ key, value: value.text, ...(string && { form: string === 'true' ? 'text' : 'json' }) })
    at = value.end
  }
}

/** A closing tag ends the value only before the next parameter or the end of the call: values may contain it (T50). */
function readValue(
  grammar: TagGrammar,
  text: string,
  from: number,
  scope: DialectContext,
): ReadResult | { text: string; end: number } {
  const { close, hasLineBreaks } = grammar
  close.lastIndex = from
  for (let hit = close.exec(text); hit; hit = close.exec(text)) {
    const end = close.lastIndex
    const next = skipWhitespace(text, end)
    if (next === text.length) return INCOMPLETE
    if (matchAt(grammar.end, text, next) || matchAt(grammar.param, text, next)) {
      const value = text.slice(from, hit.index)
      if (grammar.nested.test(value)) return createBroken('a value could be two')
      return { text: hasLineBreaks ? value.replace(/^\n/, '').replace(/\n$/, '') : value, end }
    }
    if (toIncompleteOrProse(text, next, scope) === INCOMPLETE) return INCOMPLETE
  }
  const last = scope.isFinal && grammar.lastClose ? text.indexOf(grammar.lastClose, from) : -1
  if (last < 0) return INCOMPLETE
  const value = text.slice(from, last)
  return grammar.nested.test(value) ? createBroken('a value is not closed') : { text: value, end: last }
}

function getCallName(head: RegExpExecArray): string {
  return (head.groups?.['name'] ?? '').trim()
}
