import type { Warning } from '../model/event.ts'
import type { ModelRequest } from '../model/request.ts'
import { formatResultText, toWellFormed } from '../model/text.ts'
import type { ResultPart } from '../model/turn.ts'
import type { ToolDeclarations } from '../schema/dialect/declare-tools.ts'
import type { EncodeContext } from './history/transcript.ts'
import { describeToolsAsText } from './text-calls/format-text-calls.ts'

/** The system prompt; for models without native calls, with a description of the tools. */
export function joinSystemPrompt({ system = '' }: ModelRequest, { profile, projection }: EncodeContext): string {
  const tools = profile.tools === 'text' ? describeToolsAsText(projection.tools) : ''
  return toWellFormed([system, tools].filter((text) => text.trim() !== '').join('\n\n'))
}

export function findChosenTool(name: string, projection: ToolDeclarations, warnings: Warning[]) {
  const tool = projection.tools.find(({ originalName }) => originalName === name)
  if (!tool) warnings.push({ code: 'tool-choice', message: `${name} cannot be chosen: it is not declared.` })
  return tool
}

/** Endpoints reject empty stop sequences, and too many of them (T155). */
export function limitStopSequences(stop: readonly string[] = [], max: number, warnings: Warning[]): string[] {
  const sequences = stop.filter((sequence) => sequence !== '')
  if (sequences.length > max)
    warnings.push({ code: 'stop', message: `Only the first ${max} stop sequences were sent.` })
  return sequences.slice(0, max)
}

/** The text of a result, on wires that have no field for the status. */
export function formatResultWithStatus(result: ResultPart): string {
  const text = formatResultText(result)
  return result.status === 'error' && !/^error/i.test(text) ? `Error: ${text}` : text
}

/** With any other image type, OpenAI's endpoints reject this request and all that follow (T100). */
export const OPENAI_IMAGE_MIME_PATTERN = /^image\/(?:png|jpe?g|gif|webp|\*)$/
