import { BAR_PATTERN, createBroken, createPattern, GAP_PATTERN, INCOMPLETE } from './dialect.ts'
import { createTokenPattern, toIncompleteOrProse, matchAt, NAME_PATTERN, PROSE, skipWhitespace } from './dialect.ts'
import type { Pattern, ReadResult, ReadScope } from './dialect.ts'
import { readJsonArguments } from '../json-calls.ts'
import { hasUndeclaredKeys, toArgumentsJson, type TextCallParameter } from '../argument-values.ts'

type TagReader = (text: string, at: number, scope: ReadScope) => ReadResult

/** Qwen3-Coder: `<function=name><parameter=key>value</parameter></function>` (T61); with JSON inside, Llama (T73). */
export const readFunctionTagCall: TagReader = (text, at, scope) => readTags(FUNCTION_GRAMMAR, text, at, scope)

/** MiniCPM: `<function name="x"><param name="k">value</param></function>` (T184). */
export const readNamedFunctionTagCall: TagReader = (text, at, scope) =>
  readTags(NAMED_FUNCTION_GRAMMAR, text, at, scope)

/** `<invoke name="x"><parameter name="k">value</parameter></invoke>` (T64, T68). */
export const readInvokeTagCall: TagReader = (text, at, scope) => readTags(INVOKE_GRAMMAR, text, at, scope)

/** DeepSeek's DSML: the same with `｜DSML｜` before each tag name, and `string="true|false"` on parameters (T63). */
export const readDsmlTagCall: TagReader = (text, at, scope) => readTags(DSML_GRAMMAR, text, at, scope)

/** Kimi K3: `<|open|>call tool="x"<|sep|><|open|>argument key="k" type="string"<|sep|>value<|close|>argument<|sep|>…` (T184). */
export const readKimiTagCall: TagReader = (text, at, scope) => readTags(KIMI_GRAMMAR, text, at, scope)

/** GLM, after `<tool_call>`: `name<arg_key>k</arg_key><arg_value>v</arg_value></tool_call>` (T67). */
export const readGlmTagCall: TagReader = (text, at, scope) => {
  const head = matchAt(GLM_GRAMMAR.head, text, at)
  // A single word in the tags is a call without arguments only if it is the name of a tool.
  if (head && !text.startsWith('<arg_key>', at + head[0].length) && !scope.findSchema(getCallName(head))) return PROSE
  return readTags(GLM_GRAMMAR, text, at, scope)
}

/** The tags of a dialect that writes each parameter as an element. */
interface TagGrammar {
  /** Opens the call; with the group `name`, and `closed` if the tag has no content. */
  readonly head: Pattern
  /** Opens a parameter; with the group `key`. */
  readonly param: Pattern
  /** The start of a parameter: a value that contains it could be two parameters. */
  readonly nested: RegExp
  /** Closes a parameter. */
  readonly close: RegExp
  /** Closes the call. */
  readonly end: Pattern
  /** Closes what contains the call, and so the call. */
  readonly outerEnd?: Pattern
  /** There may be a line break before and after each value. */
  readonly hasLineBreaks?: true
  /** The end of the call, which may close the last value instead of its own tag. */
  readonly lastClose?: RegExp
  /** A value can be in a CDATA section. */
  readonly hasCdata?: true
  /** A parameter that the tool does not have means that the call was not understood. */
  readonly isStrict?: true
}

const NAMESPACE_PREFIX = '(?:[a-z]{1,16}:)?'
const ATTRIBUTES = `(?<attributes>(?:\\s{1,4}[\\w:\\-]{1,32}=["'][^"'<>]{0,48}["']){0,3})\\s{0,4}`
const quotedGroup = (group: string): string => `["']?(?<${group}>[^"'<>=]{1,128}?)["']?`
const nameAttribute = (group: string): string => `name\\s?=\\s?${quotedGroup(group)}${ATTRIBUTES}`
const HEAD_END = '(?<closed>/?)>'
const WRAPPER_NAMES = '(?:tool_calls?|function_calls?|tool_use)'
const DSML_PREFIX = `${BAR_PATTERN}DSML${BAR_PATTERN}`
/** Some servers print the tokenizer's sign for a space, or nothing. */
const TOKENIZER_GAP = '[\\sĠ]{0,4}'

const FUNCTION_GRAMMAR: TagGrammar = {
  // Some servers omit the `>` before a JSON body.
  head: createPattern(`<function=["']?(?<name>${NAME_PATTERN})["']?(?:\\s{0,4}>|[\\s,(]{0,4}(?=\\{))`),
  param: createPattern(`<parameter=${quotedGroup('key')}\\s{0,4}>`),
  nested: /<parameter=/,
  close: /<\/parameter>/g,
  end: createPattern('</function>'),
  outerEnd: createPattern(`</${NAMESPACE_PREFIX}${WRAPPER_NAMES}>`),
  hasLineBreaks: true,
}

const NAMED_FUNCTION_GRAMMAR: TagGrammar = {
  head: createPattern(`<function${TOKENIZER_GAP}${nameAttribute('name')}${HEAD_END}`),
  param: createPattern(`<param(?:eter)?${TOKENIZER_GAP}${nameAttribute('key')}>`),
  nested: /<param(?:eter)?[\sĠ]*name\s?=/,
  close: /<\/param(?:eter)?>/g,
  end: createPattern('</function>'),
  hasCdata: true,
  isStrict: true,
}

const INVOKE_GRAMMAR: TagGrammar = {
  head: createPattern(`<${NAMESPACE_PREFIX}invoke\\s{1,4}${nameAttribute('name')}${HEAD_END}`),
  param: createPattern(`<${NAMESPACE_PREFIX}parameter\\s{1,4}${nameAttribute('key')}>`),
  nested: new RegExp(`<${NAMESPACE_PREFIX}parameter\\s{1,4}name\\s?=`),
  close: new RegExp(`</${NAMESPACE_PREFIX}parameter>`, 'g'),
  end: createPattern(`</${NAMESPACE_PREFIX}invoke>`),
  outerEnd: createPattern(`</${NAMESPACE_PREFIX}${WRAPPER_NAMES}>`),
}

const DSML_GRAMMAR: TagGrammar = {
  head: createPattern(
    `(?:<${DSML_PREFIX}${WRAPPER_NAMES}\\s?>${GAP_PATTERN})?<${DSML_PREFIX}invoke\\s{1,4}${nameAttribute('name')}${HEAD_END}`,
  ),
  param: createPattern(`<${DSML_PREFIX}parameter\\s{1,4}${nameAttribute('key')}>`),
  nested: new RegExp(`<${DSML_PREFIX}parameter\\s`),
  close: new RegExp(`<\\s?/${DSML_PREFIX}parameter\\s?>`, 'g'),
  end: createPattern(`<\\s?/${DSML_PREFIX}invoke\\s?>`),
  outerEnd: createPattern(`<\\s?/${DSML_PREFIX}${WRAPPER_NAMES}\\s?>`),
}

const [OPEN, CLOSE, SEP] = ['open', 'close', 'sep'].map(createTokenPattern)

const KIMI_GRAMMAR: TagGrammar = {
  head: createPattern(
    `(?:${OPEN}\\s{0,4}tools\\s{0,4}${SEP}${GAP_PATTERN})?${OPEN}\\s{0,4}call\\s{1,4}tool="(?<name>[^"<>]{1,160})"${ATTRIBUTES}${SEP}`,
  ),
  param: createPattern(`${OPEN}\\s{0,4}argument\\s{1,4}key="(?<key>[^"<>]{1,160})"${ATTRIBUTES}${SEP}`),
  nested: new RegExp(`${OPEN}\\s{0,4}argument\\s`),
  close: new RegExp(`${CLOSE}\\s{0,4}argument\\s{0,4}${SEP}`, 'g'),
  end: createPattern(`${CLOSE}\\s{0,4}call\\s{0,4}${SEP}`),
}

const GLM_GRAMMAR: TagGrammar = {
  head: createPattern(`(?<name>${NAME_PATTERN})\\s{0,8}(?:<tool_sep>\\s{0,8})?(?=<arg_key>|</tool_call>|\\{)`),
  param: createPattern(`<arg_key>\\s{0,4}(?<key>[^\\n]{1,128}?)\\s{0,4}</arg_key>${GAP_PATTERN}<arg_value>`),
  nested: /<arg_key>/,
  close: /<\/arg_value>/g,
  end: createPattern('</(?:tool_call|user)>'),
  lastClose: /<\/(?:tool_call|user)>/g,
}

function readTags(grammar: TagGrammar, text: string, from: number, scope: ReadScope): ReadResult {
  const head = matchAt(grammar.head, text, from)
  if (!head) return toIncompleteOrProse(text, from, scope)
  const name = getCallName(head)
  const schema = scope.findSchema(name)
  const pairs: TextCallParameter[] = []
  const keys = new Set<string>()
  const toCall = (end: number): ReadResult =>
    grammar.isStrict && hasUndeclaredKeys(pairs, schema)
      ? createBroken('a parameter is not declared')
      : { kind: 'calls', end, calls: [{ name, raw: toArgumentsJson(pairs, schema) }] }
  const bodyStart = from + head[0].length
  if (head.groups?.['closed'] === '/') return toCall(bodyStart)
  for (let at = bodyStart; ;) {
    at = skipWhitespace(text, at)
    if (at === text.length) return INCOMPLETE
    const end = matchAt(grammar.end, text, at)
    if (end) return toCall(at + end[0].length)
    if (grammar.outerEnd && matchAt(grammar.outerEnd, text, at)) return toCall(at)
    if (pairs.length === 0 && text[at] === '{') return readJsonArguments(name, text, at)
    const param = matchAt(grammar.param, text, at)
    if (!param)
      return toIncompleteOrProse(text, at, scope) === INCOMPLETE
        ? INCOMPLETE
        : createBroken('there is text between the parameters')
    const key = unescapeEntities(param.groups?.['key'] ?? '')
    if (keys.has(key)) return createBroken(`the parameter ${key} is repeated`)
    keys.add(key)
    const value = readValue(grammar, text, at + param[0].length, scope)
    if ('kind' in value) return value
    pairs.push({ key, value: value.text, ...readForm(param.groups?.['attributes'] ?? '') })
    at = value.end
  }
}

/** A closing tag ends the value only before the next parameter or the end of the call: values may contain it (T50). */
function readValue(
  grammar: TagGrammar,
  text: string,
  from: number,
  scope: ReadScope,
): ReadResult | { text: string; end: number } {
  const { close, nested, lastClose } = grammar
  close.lastIndex = from
  for (let hit = close.exec(text); hit; hit = close.exec(text)) {
    const end = close.lastIndex
    const next = skipWhitespace(text, end)
    if (next === text.length) return INCOMPLETE
    const isEnd = [grammar.end, grammar.outerEnd, grammar.param].some((after) => after && matchAt(after, text, next))
    if (isEnd) {
      const value = text.slice(from, hit.index)
      const isCdata = grammar.hasCdata && CDATA_START.test(value)
      const content = isCdata ? CDATA.exec(value)?.[1] : grammar.hasLineBreaks ? stripLineBreaks(value) : value
      if (content === undefined || (!isCdata && nested.test(value))) return createBroken('a value could be two')
      return { text: content, end }
    }
    if (toIncompleteOrProse(text, next, scope) === INCOMPLETE) return INCOMPLETE
  }
  if (!scope.isFinal || !lastClose) return INCOMPLETE
  lastClose.lastIndex = from
  const last = lastClose.exec(text)
  if (!last) return INCOMPLETE
  const value = text.slice(from, last.index)
  return nested.test(value) ? createBroken('a value is not closed') : { text: value, end: last.index }
}

/** One line break after the opening tag and one before the closing tag, if there are both, belong to the markup. */
function stripLineBreaks(value: string): string {
  const lineBreak = /^\r?\n/.exec(value)?.[0]
  if (lineBreak === undefined) return value
  const content = value.slice(lineBreak.length)
  return content.endsWith(lineBreak) ? content.slice(0, -lineBreak.length) : content
}

/** DSML's `string="true|false"` or Kimi's `type="string|…"`. */
function readForm(attributes: string): Pick<TextCallParameter, 'form'> {
  const [, kind, value] = /\b(string|type)=["']([^"']*)["']/.exec(attributes) ?? []
  if (value === undefined) return {}
  return { form: value === (kind === 'string' ? 'true' : 'string') ? 'text' : 'json' }
}

function getCallName(head: RegExpExecArray): string {
  return unescapeEntities((head.groups?.['name'] ?? '').trim())
}

/** Attributes are escaped like those of XML. */
function unescapeEntities(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|apos);/g, (entity) => ENTITIES[entity] ?? entity)
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
}
const CDATA_START = /^\s*<!\[CDATA\[/
/** A section ends at the first `]]>`. */
const CDATA = /^\s*<!\[CDATA\[((?:(?!\]\]>)[^])*)\]\]>\s*$/
