import { type JsonObject, tryParseJson } from '../../model/json.ts'
import { formatResultText } from '../../model/text.ts'
import type { CallPart, ResultStatus } from '../../model/turn.ts'
import type { ToolDeclarations } from '../../schema/dialect/declare-tools.ts'
import { type CallResultPair, toWireArgumentText } from '../history/transcript.ts'

/** Describes the tools to a model without native calls, as a section of its system prompt. */
export function describeToolsAsText(
  tools: readonly { readonly name: string; readonly description: string; readonly schema: JsonObject }[],
): string {
  if (tools.length === 0) return ''
  const lines = tools.map(({ name, description, schema }) => formatToolLine({ name, description, parameters: schema }))
  return [
    '# Tools',
    '',
    'You can call tools. Each line below describes one: its name, what it does, and the JSON Schema of its arguments.',
    '',
    '<tools>',
    ...lines,
    '</tools>',
    '',
    'To call a tool, end your message with a block of exactly this form:',
    '',
    '<tool_call>',
    '{"name": "the name of the tool", "arguments": {"the name of an argument": "its value"}}',
    '</tool_call>',
    '',
    'Rules:',
    '- The block holds one JSON object. Inside strings, write line breaks as \\n and quotes as \\".',
    '- To call several tools at once, write one block after the other.',
    '- Never put a block in a code fence or in quotes, and write nothing after the last block.',
    '- Then stop. The results come in the next message, in <tool_response> blocks, in the order of the calls.',
    '- Never write a <tool_response> block yourself.',
  ].join('\n')
}

/** A past call, in the format in which the model is asked to write calls. */
export function formatCallPart(call: CallPart, projection: ToolDeclarations): string {
  return formatCallAsText(projection.toWireName(call.name), toWireArgumentText(call, projection))
}

export function formatCallAsText(name: string, raw: string): string {
  const args = tryParseJson(raw) === undefined ? JSON.stringify(raw) : raw
  return `<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": ${args}}\n</tool_call>`
}

export function formatResultPart({ call, result }: CallResultPair, projection: ToolDeclarations): string {
  return formatResultAsText(projection.toWireName(call.name), formatResultText(result), result.status)
}

/** The text of the result is escaped, so that it cannot close its block. */
export function formatResultAsText(name: string, text: string, status: ResultStatus): string {
  const state = status === 'ok' ? '' : ` status="${status}"`
  return `<tool_response name=${quoteAttribute(name)}${state}>\n${escapeResponseTag(text)}\n</tool_response>`
}

/** One line of JSON, escaped so that it cannot close the list of tools. */
function formatToolLine(tool: { name: string; description: string; parameters: JsonObject }): string {
  return JSON.stringify(tool).replaceAll('</tools', '\\u003c/tools')
}

function escapeResponseTag(text: string): string {
  return text.replace(/<(?=\s*\/?\s*tool_response)/gi, '<\\')
}

function quoteAttribute(text: string): string {
  return JSON.stringify(text).replaceAll('<', '\\u003c').replaceAll('>', '\\u003e')
}
