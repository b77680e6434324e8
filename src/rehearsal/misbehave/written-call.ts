import { isObject, type Json } from '../../model/json.ts'
import type { WrittenDialect } from '../misbehaviour.ts'
import { parsed } from '../write-answer.ts'

/** A call as models write it that fall out of their format. */
export function writeCall(dialect: WrittenDialect, name: string, raw: string): string {
  return DIALECTS[dialect](name, raw)
}

type Writer = (name: string, raw: string) => string

const DIALECTS: Readonly<Record<WrittenDialect, Writer>> = {
  hermes: (name, raw) => `<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": ${raw}}\n</tool_call>`,
  coder: (name, raw) => `<tool_call>\n<function=${name}>\n${each(raw, coderParameter)}</function>\n</tool_call>`,
  kimi: (name, raw) =>
    `<|tool_calls_section_begin|><|tool_call_begin|>functions.${name}:0<|tool_call_argument_begin|>${raw}<|tool_call_end|><|tool_calls_section_end|>`,
  deepseek: (name, raw) =>
    `<｜DSML｜function_calls>\n<｜DSML｜invoke name="${name}">\n${each(raw, deepseekParameter)}</｜DSML｜invoke>\n</｜DSML｜function_calls>`,
  minimax: (name, raw) => `<minimax:tool_call>\n${invoke(name, raw)}\n</minimax:tool_call>`,
  mistral: (name, raw) => `[TOOL_CALLS]${name}${raw}`,
  glm: (name, raw) => `<tool_call>${name}\n${each(raw, glmParameter)}</tool_call>`,
  invoke: (name, raw) => `<function_calls>\n${invoke(name, raw)}\n</function_calls>`,
}

function invoke(name: string, raw: string): string {
  return `<invoke name="${name}">\n${each(raw, (key, value) => `<parameter name="${key}">${plain(value)}</parameter>\n`)}</invoke>`
}

function coderParameter(key: string, value: Json): string {
  return `<parameter=${key}>\n${plain(value)}\n</parameter>\n`
}

function deepseekParameter(key: string, value: Json): string {
  const string = typeof value === 'string' ? 'true' : 'false'
  return `<｜DSML｜parameter name="${key}" string="${string}">${plain(value)}</｜DSML｜parameter>\n`
}

function glmParameter(key: string, value: Json): string {
  return `<arg_key>${key}</arg_key>\n<arg_value>${plain(value)}</arg_value>\n`
}

function each(raw: string, write: (key: string, value: Json) => string): string {
  const args = parsed(raw)
  if (!isObject(args)) return ''
  return Object.entries(args)
    .map(([key, value]) => write(key, value))
    .join('')
}

function plain(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
