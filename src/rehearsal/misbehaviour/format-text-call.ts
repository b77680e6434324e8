import { isObject, type Json } from '../../model/json.ts'
import type { TextCallDialectName } from './misbehaviour.ts'
import { parseJsonOrText } from '../response/encode-frames.ts'

export function formatTextCall(dialect: TextCallDialectName, name: string, raw: string): string {
  return CALL_FORMATTERS[dialect](name, raw)
}

type CallFormatter = (name: string, raw: string) => string

const CALL_FORMATTERS: Readonly<Record<TextCallDialectName, CallFormatter>> = {
  hermes: (name, raw) => `<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": ${raw}}\n</tool_call>`,
  coder: (name, raw) =>
    `<tool_call>\n<function=${name}>\n${formatParameters(raw, formatCoderParameter)}</function>\n</tool_call>`,
  kimi: (name, raw) =>
    `<|tool_calls_section_begin|><|tool_call_begin|>functions.${name}:0<|tool_call_argument_begin|>${raw}<|tool_call_end|><|tool_calls_section_end|>`,
  deepseek: (name, raw) =>
    `<｜DSML｜function_calls>\n<｜DSML｜invoke name="${name}">\n${formatParameters(raw, formatDeepseekParameter)}</｜DSML｜invoke>\n</｜DSML｜function_calls>`,
  minimax: (name, raw) => `<minimax:tool_call>\n${formatInvoke(name, raw)}\n</minimax:tool_call>`,
  mistral: (name, raw) => `[TOOL_CALLS]${name}${raw}`,
  glm: (name, raw) => `<tool_call>${name}\n${formatParameters(raw, formatGlmParameter)}</tool_call>`,
  invoke: (name, raw) => `<function_calls>\n${formatInvoke(name, raw)}\n</function_calls>`,
}

function formatInvoke(name: string, raw: string): string {
  return `<invoke name="${name}">\n${formatParameters(raw, (key, value) => `<parameter name="${key}">${toPlainText(value)}</parameter>\n`)}</invoke>`
}

function formatCoderParameter(key: string, value: Json): string {
  return `<parameter=${key}>\n${toPlainText(value)}\n</parameter>\n`
}

function formatDeepseekParameter(key: string, value: Json): string {
  const string = typeof value === 'string' ? 'true' : 'false'
  return `<｜DSML｜parameter name="${key}" string="${string}">${toPlainText(value)}</｜DSML｜parameter>\n`
}

function formatGlmParameter(key: string, value: Json): string {
  return `<arg_key>${key}</arg_key>\n<arg_value>${toPlainText(value)}</arg_value>\n`
}

function formatParameters(raw: string, write: (key: string, value: Json) => string): string {
  const args = parseJsonOrText(raw)
  if (!isObject(args)) return ''
  return Object.entries(args)
    .map(([key, value]) => write(key, value))
    .join('')
}

function toPlainText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
