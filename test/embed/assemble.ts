import type OpenAI from 'openai'
import { nativeToolCallAssembler, type AssemblerOptions, type Warning } from '../../src/embed/index.ts'

/** What the ids of calls without one begin with. */
export const KEY = 'AAAAAAAAAAAAAAAAAAAA'

function tool(name: string): OpenAI.Chat.ChatCompletionTool {
  const parameters = { type: 'object', properties: { a: {}, b: {} } }
  return { type: 'function', function: { name, description: `Does ${name}.`, parameters } }
}

/** The tools that were sent. */
export const TOOLS = ['read_file', 'write_file', 'edit_existing_file', 'now'].map(tool)

/** Feeds deltas as servers really send them; `finish` is what the last chunk says, if anything. */
export function assemble(
  deltas: readonly unknown[],
  finish: string | null = 'tool_calls',
  options: AssemblerOptions = {},
) {
  const warnings: string[] = []
  const onWarning = ({ code }: Warning) => void warnings.push(code)
  const assembler = nativeToolCallAssembler({ tools: TOOLS, key: KEY, onWarning, ...options })
  for (const delta of deltas) assembler.push(delta as OpenAI.Chat.ChatCompletionChunk.Choice.Delta)
  return { ...assembler.end(finish), warnings }
}

/** One delta with pieces of calls. */
export function calls(...pieces: unknown[]) {
  return { tool_calls: pieces }
}

/** One piece of a call. */
export function piece(index: unknown, id: unknown, name: unknown, args: unknown) {
  return { index, id, type: 'function', function: { name, arguments: args } }
}

/** The calls that may run, as name and arguments. */
export function ran(deltas: readonly unknown[], finish?: string | null, options?: AssemblerOptions) {
  return assemble(deltas, finish, options).calls.map(({ function: called, input }) => [called.name, input])
}
