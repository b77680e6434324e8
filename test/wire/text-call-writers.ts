import { isObject, type Json } from '../../src/model/json.ts'
import type { WrittenCall } from './random-calls.ts'

/** How a dialect writes calls. */
export interface CallWriter {
  readonly id: string
  write(calls: readonly WrittenCall[]): string
  /** A value that contains this may be read as something else, so that the call may be left as text. */
  readonly ambiguous?: RegExp
  /** It has no marker: it must be the whole answer. */
  readonly isBare?: true
}

const json = ({ name, args }: WrittenCall, key = 'arguments'): string => JSON.stringify({ name, [key]: args })
const pretty = ({ name, args }: WrittenCall): string => JSON.stringify({ name, arguments: args }, null, 2)
const list = (calls: readonly WrittenCall[], key?: string): string =>
  `[${calls.map((one) => json(one, key)).join(', ')}]`
const each = (calls: readonly WrittenCall[], write: (call: WrittenCall, index: number) => string, between = '\n') =>
  calls.map(write).join(between)
const params = (call: WrittenCall, write: (key: string, value: Json) => string, between = ''): string =>
  Object.entries(call.args)
    .map(([key, value]) => write(key, value))
    .join(between)
/** In a tag, text stands for itself, and everything else is JSON. */
const plain = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))

function python(value: Json): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'string') return pythonString(value)
  if (Array.isArray(value)) return `[${value.map((one) => python(one)).join(', ')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const pairs = Object.entries(value).map(([key, one]) => `${pythonString(key)}: ${python(one)}`)
  return `{${pairs.join(', ')}}`
}

/** As Python's repr() would. */
function pythonString(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'"
  const escaped = text.replace(/[\\\n\r\t'"]/g, (char) =>
    (char === "'" || char === '"') && char !== quote ? char : (ESCAPES[char] ?? char),
  )
  return quote + escaped + quote
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  "'": "\\'",
  '"': '\\"',
}

const pythonCall = (call: WrittenCall): string =>
  `${call.name}(${params(call, (key, value) => `${key}=${python(value)}`, ', ')})`

function gemma(value: Json, mark: string): string {
  if (typeof value === 'string') return mark + value + mark
  if (Array.isArray(value)) return `[${value.map((one) => gemma(one, mark)).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([key, one]) => `${key}:${gemma(one, mark)}`)
    .join(',')}}`
}

const M3 = ']<]minimax[>['

function minimax(key: string, value: Json): string {
  const inner = Array.isArray(value)
    ? value.map((one) => minimax('item', one)).join('')
    : isObject(value)
      ? Object.entries(value)
          .map(([name, one]) => minimax(name, one))
          .join('')
      : plain(value)
  return `${M3}<${key}>${inner}${M3}</${key}>`
}

const dsmlParam =
  (bar: string) =>
  (key: string, value: Json): string =>
    `<${bar}DSML${bar}parameter name="${key}" string="${typeof value === 'string'}">${plain(value)}</${bar}DSML${bar}parameter>`

const invoke = (call: WrittenCall, space = ''): string =>
  `<${space}invoke name="${call.name}">\n${params(call, (key, value) => `<${space}parameter name="${key}">${plain(value)}</${space}parameter>\n`)}</${space}invoke>`

const glm = (call: WrittenCall): string =>
  `${call.name}\n${params(call, (key, value) => `<arg_key>${key}</arg_key>\n<arg_value>${plain(value)}</arg_value>\n`)}`

const wrapped = (open: string, close: string): Pick<CallWriter, 'write'> => ({
  write: (calls) => each(calls, (call) => `${open}${json(call)}${close}`),
})

const INNER_TAGS = /<\/?(?:\w+:)?param|<\/?(?:\w+:)?(?:invoke|function|tool_call|user)|CDATA/
const BARS = /[|｜]/

export const CALL_WRITERS: readonly CallWriter[] = [
  { id: 'tool_call', ...wrapped('<tool_call>\n', '\n</tool_call>') },
  { id: 'tool_call, pretty', write: (calls) => each(calls, (call) => `<tool_call>\n${pretty(call)}\n</tool_call>`) },
  {
    id: 'tool_call, in one block',
    write: (calls) => `<tool_call>\n${each(calls, (call) => json(call))}\n</tool_call>`,
  },
  { id: 'tool_calls, list', write: (calls) => `<tool_calls>${list(calls)}</tool_calls>` },
  { id: 'tool_call, token', write: (calls) => `<|tool_call|>${list(calls)}<|/tool_call|>` },
  { id: 'longcat', ...wrapped('<longcat_tool_call>', '</longcat_tool_call>') },
  { id: 'dots', ...wrapped('<dots_function_call>', '</dots_function_call>') },
  { id: 'nemotron', write: (calls) => `<TOOLCALL>${list(calls)}</TOOLCALL>` },
  { id: 'lfm2', write: (calls) => `<|tool_call_start|>[${each(calls, pythonCall, ', ')}]<|tool_call_end|>` },
  { id: 'lfm2, JSON', write: (calls) => `<|tool_call_start|>${list(calls)}<|tool_call_end|>` },
  {
    id: 'apertus',
    write: (calls) =>
      `<|tools_prefix|>[${each(calls, ({ name, args }) => JSON.stringify({ [name]: args }), ', ')}]<|tools_suffix|>`,
  },
  {
    id: 'cohere',
    write: (calls) =>
      `<|START_ACTION|>\n[${each(calls, ({ name, args }, at) => JSON.stringify({ tool_call_id: String(at), tool_name: name, parameters: args }), ',\n')}]<|END_ACTION|>`,
  },
  { id: 'gigachat', ...wrapped('<|function_call|>', '') },
  { id: 'internlm', ...wrapped('<|action_start|><|plugin|>', '<|action_end|>') },
  { id: 'llama4', write: (calls) => `<|python_start|>[${each(calls, pythonCall, ', ')}]<|python_end|>` },
  { id: 'phi4', write: (calls) => `functools${list(calls)}` },
  {
    id: 'inkling',
    write: (calls) =>
      each(calls, (call) => `<|message_model|>x<|content_invoke_tool_json|>${json(call, 'args')}<|end_message|>`, ''),
  },
  { id: 'json, plain tag', write: (calls) => `<tools>\n${each(calls, (call) => json(call))}\n</tools>` },
  {
    id: 'function',
    write: (calls) =>
      each(
        calls,
        (call) =>
          `<tool_call>\n<function=${call.name}>\n${params(call, (key, value) => `<parameter=${key}>\n${plain(value)}\n</parameter>\n`)}</function>\n</tool_call>`,
      ),
    ambiguous: INNER_TAGS,
  },
  {
    id: 'minicpm',
    write: (calls) =>
      each(
        calls,
        (call) =>
          `<function name="${call.name}">${params(call, (key, value) => `<param name="${key}">${plain(value)}</param>`)}</function>`,
      ),
    ambiguous: INNER_TAGS,
  },
  {
    id: 'minicpm, CDATA',
    write: (calls) =>
      each(
        calls,
        (call) =>
          `<function name="${call.name}">${params(call, (key, value) => `<param name="${key}"><![CDATA[${plain(value)}]]></param>`)}</function>`,
      ),
    ambiguous: new RegExp(`${INNER_TAGS.source}|\\]\\]>`),
  },
  {
    id: 'invoke',
    write: (calls) => `<function_calls>\n${each(calls, (call) => invoke(call))}\n</function_calls>`,
    ambiguous: INNER_TAGS,
  },
  {
    id: 'invoke, MiniMax M2',
    write: (calls) => `<minimax:tool_call>\n${each(calls, (call) => invoke(call))}\n</minimax:tool_call>`,
    ambiguous: INNER_TAGS,
  },
  {
    id: 'invoke, Step',
    write: (calls) =>
      `<｜tool_calls_begin｜>${each(calls, (call) => `<｜tool_call_begin｜>function<｜tool_sep｜>${invoke(call, 'steptml:')}<｜tool_call_end｜>`, '')}<｜tool_calls_end｜>`,
    ambiguous: INNER_TAGS,
  },
  ...['｜', '|'].map((bar): CallWriter => ({
    id: `dsml, ${bar}`,
    write: (calls) =>
      `<${bar}DSML${bar}tool_calls>\n${each(calls, (call) => `<${bar}DSML${bar}invoke name="${call.name}">\n${params(call, dsmlParam(bar), '\n')}\n</${bar}DSML${bar}invoke>`)}\n</${bar}DSML${bar}tool_calls>`,
    ambiguous: /DSML/,
  })),
  {
    id: 'kimi-k3',
    write: (calls) =>
      `<|open|>tools<|sep|>${each(
        calls,
        (call, at) =>
          `<|open|>call tool="${call.name}" index="${at + 1}"<|sep|>${params(call, (key, value) => `<|open|>argument key="${key}" type="${typeof value === 'string' ? 'string' : 'object'}"<|sep|>${plain(value)}<|close|>argument<|sep|>`)}<|close|>call<|sep|>`,
        '',
      )}<|close|>tools<|sep|>`,
    ambiguous: /open|close|sep/,
  },
  {
    id: 'minimax',
    write: (calls) =>
      `${M3}<tool_call>\n${each(calls, (call) => `${M3}<invoke name="${call.name}">${params(call, minimax)}${M3}</invoke>`)}\n${M3}</tool_call>`,
    ambiguous: /[[\]]|minimax/,
  },
  {
    id: 'tokens, Kimi K2',
    write: (calls) =>
      `<|tool_calls_section_begin|>${each(calls, ({ name, args }, at) => `<|tool_call_begin|>functions.${name}:${at}<|tool_call_argument_begin|>${JSON.stringify(args)}<|tool_call_end|>`, '')}<|tool_calls_section_end|>`,
  },
  {
    id: 'tokens, DeepSeek R1',
    write: (calls) =>
      `<｜tool▁calls▁begin｜>${each(calls, ({ name, args }) => `<｜tool▁call▁begin｜>function<｜tool▁sep｜>${name}\n\`\`\`json\n${JSON.stringify(args)}\n\`\`\`<｜tool▁call▁end｜>`)}<｜tool▁calls▁end｜><｜end▁of▁sentence｜>`,
  },
  {
    id: 'tokens, DeepSeek V3.1',
    write: (calls) =>
      `<｜tool▁calls▁begin｜>${each(calls, ({ name, args }) => `<｜tool▁call▁begin｜>${name}<｜tool▁sep｜>${JSON.stringify(args)}<｜tool▁call▁end｜>`, '')}<｜tool▁calls▁end｜>`,
  },
  {
    id: 'harmony',
    write: (calls) =>
      each(
        calls,
        ({ name, args }) =>
          `<|start|>assistant<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>${JSON.stringify(args)}<|call|>`,
        '',
      ),
  },
  {
    id: 'mistral',
    write: (calls) => each(calls, ({ name, args }) => `[TOOL_CALLS]${name}[ARGS]${JSON.stringify(args)}`, ''),
  },
  { id: 'mistral, list', write: (calls) => `[TOOL_CALLS]${list(calls)}` },
  { id: 'python_tag', write: (calls) => `<|python_tag|>${each(calls, (call) => json(call, 'parameters'), '; ')}` },
  {
    id: 'gemma',
    write: (calls) =>
      each(calls, ({ name, args }) => `<|tool_call>call:${name}${gemma(args, '<|"|>')}<tool_call|>`, ''),
    ambiguous: BARS,
  },
  {
    id: 'gemma, small',
    write: (calls) =>
      each(
        calls,
        ({ name, args }) => `<start_function_call>call:${name}${gemma(args, '<escape>')}<end_function_call>`,
        '',
      ),
    ambiguous: /escape/,
  },
  {
    id: 'glm',
    write: (calls) => each(calls, (call) => `<tool_call>${glm(call)}</tool_call>`),
    ambiguous: /<\/?arg_|<\/(?:tool_call|user)/,
  },
  {
    id: 'function_calls, pythonic',
    write: (calls) => `<function_calls>${each(calls, pythonCall)}</function_calls>`,
  },
  {
    id: 'bare JSON',
    write: ([first, ...more]) => (first ? each([first, ...more], (call) => json(call)) : ''),
    isBare: true,
  },
  { id: 'bare list', write: (calls) => list(calls, 'parameters'), isBare: true },
  {
    id: 'bare tool_calls',
    write: (calls) =>
      JSON.stringify({
        tool_calls: calls.map(({ name, args }, at) => ({
          id: `c${at}`,
          type: 'function',
          function: { name, arguments: args },
        })),
      }),
    isBare: true,
  },
  { id: 'bare pythonic', write: (calls) => `[${each(calls, pythonCall, ', ')}]`, isBare: true },
]
