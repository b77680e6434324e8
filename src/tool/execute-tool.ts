import { defined } from '../model/defined.ts'
import { getErrorMessage } from '../model/error-message.ts'
import type { Json, JsonObject } from '../model/json.ts'
import { createErrorResult } from '../model/result.ts'
import { clipText } from '../model/text.ts'
import type { ResultPart } from '../model/turn.ts'
import { sanitizeForModel } from '../policy/text/sanitize-for-model.ts'
import { runWithTimeout, TIMED_OUT, type TimeoutOptions } from './run-with-timeout.ts'
import type { Tool, ToolContext, ToolOutput } from './tool.ts'

export interface ToolExecution extends Pick<ToolOutput, 'stable' | 'facts' | 'blocked' | 'notices'> {
  readonly result: ResultPart
}

/** Runs a tool within a time limit. A timeout and an exception become a result, too; text is sanitized for the model. */
export async function executeTool(
  call: Pick<ResultPart, 'id' | 'name'>,
  tool: Tool,
  input: JsonObject,
  createContext: (signal: AbortSignal) => ToolContext,
  options: TimeoutOptions,
): Promise<ToolExecution> {
  const { name } = call
  try {
    const output = await runWithTimeout((signal) => tool.run(input, createContext(signal)), options)
    if (output === TIMED_OUT)
      return { result: createErrorResult(call, 'timeout', `${name} timed out after ${(options.ms ?? 0) / 1000} s.`) }
    const { stable, facts, blocked, notices } = output
    return { result: toResultPart(call, output), ...defined({ stable, facts, blocked, notices }) }
  } catch (error) {
    const message = sanitizeForModel(clipText(getErrorMessage(error), MAX_MESSAGE_CHARS))
    return { result: createErrorResult(call, 'exception', message, `${name} failed: ${message}`) }
  }
}

function toResultPart({ id, name }: Pick<ResultPart, 'id' | 'name'>, output: ToolOutput): ResultPart {
  const { data, display, error } = output
  const content =
    typeof output.content === 'string' ? [{ kind: 'text', text: output.content } as const] : output.content
  return {
    kind: 'result',
    id,
    name,
    status: error ? 'error' : 'ok',
    // A model must not read instructions in characters that no person can see.
    content: content.map((part) => (part.kind === 'text' ? { ...part, text: sanitizeForModel(part.text) } : part)),
    ...defined({ data, display: display as Json | undefined, error }),
  }
}

/** An exception may quote arguments of any length. */
const MAX_MESSAGE_CHARS = 4000
