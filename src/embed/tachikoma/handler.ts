import type { JsonObject } from '../../model/json.ts'
import { validate } from '../../schema/validate/validate.ts'
import { parseArguments } from '../../wire/calls/parse-arguments.ts'
import { errorResult, textResult, type ToolCall, type ToolDefinition, type ToolResult } from './types.ts'
import { getErrorMessage } from '../../model/error-message.ts'

/** Runs a tool, with arguments that fit its schema; the signal tells that nobody waits any more. */
export type ToolExecutor = (call: ToolCall, signal: AbortSignal) => ToolResult | string | Promise<ToolResult | string>

interface RegisteredTool {
  readonly definition: ToolDefinition
  readonly executor: ToolExecutor
}

/** Holds tools and runs calls of them, each within a time limit; whatever happens, a call gets exactly one result. */
export class GeminiToolHandler {
  readonly #tools = new Map<string, RegisteredTool>()
  #timeout = 30_000

  /** Sets the time limit in milliseconds; `Infinity` is none. */
  withTimeout(milliseconds: number): this {
    this.#timeout = milliseconds
    return this
  }

  /** Adds a tool; one of the same name is replaced, in its place. */
  register(definition: ToolDefinition, executor: ToolExecutor): this {
    this.#tools.set(definition.name, { definition, executor })
    return this
  }

  /** The tools, in the order in which they were registered. */
  getDefinitions(): ToolDefinition[] {
    return [...this.#tools.values()].map(({ definition }) => definition)
  }

  /** Is there a tool of this name? */
  hasFunction(name: string): boolean {
    return this.#tools.has(name)
  }

  /** Runs a call. Never throws: what goes wrong is the result. */
  async execute(call: ToolCall): Promise<ToolResult> {
    const tool = this.#tools.get(call.name)
    if (!tool)
      return errorResult(call, `Function not found: ${call.name}. There are: ${[...this.#tools.keys()].join(', ')}`)
    const input = parseValidArguments(call, tool.definition)
    if (typeof input === 'string') return errorResult(call, input)
    try {
      const strict = { ...call, arguments: JSON.stringify(input) }
      return toCallResult(call, await runWithTimeout((signal) => tool.executor(strict, signal), this.#timeout))
    } catch (error) {
      return errorResult(call, getErrorMessage(error))
    }
  }

  /** Runs calls side by side; the results come in the order of the calls. */
  async executeAll(calls: readonly ToolCall[]): Promise<ToolResult[]> {
    return await Promise.all(calls.map((call) => this.execute(call)))
  }
}

/** The arguments of a call, if they are one object that fits the schema; else a sentence. */
function parseValidArguments(call: ToolCall, definition: ToolDefinition): JsonObject | string {
  const parsedArguments = parseArguments(call.arguments)
  if (!parsedArguments.ok) return parsedArguments.message
  const [input, ...more] = parsedArguments.inputs
  if (!input || more.length > 0) return 'The call holds several argument objects; make one call for each.'
  const problems = validate(definition.parameters as JsonObject, input)
  return problems.length === 0 ? input : `The arguments do not fit: ${problems.map(({ message }) => message).join(' ')}`
}

/** Waits for the work, but no longer than the limit; then the work is told, and what becomes of it does not matter. */
async function runWithTimeout<T>(work: (signal: AbortSignal) => T | Promise<T>, timeout: number): Promise<T> {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const timedOut = new Promise<never>((_resolve, reject) => {
    if (!Number.isFinite(timeout)) return
    timer = setTimeout(
      () => {
        const error = new Error(`Timed out after ${formatDuration(timeout)}`)
        reject(error)
        controller.abort(error)
      },
      Math.min(timeout, MAX_TIMER_MS),
    )
  })
  try {
    return await Promise.race([work(controller.signal), timedOut])
  } finally {
    clearTimeout(timer)
  }
}

/** Whatever the executor wrote on its result: it answers this call. */
function toCallResult(call: ToolCall, result: ToolResult | string): ToolResult {
  if (typeof result === 'string') return textResult(call, result)
  // An executor without types may return nothing at all.
  const content = (result as ToolResult | undefined)?.content
  return content
    ? { ...textResult(call, ''), content, success: content.type !== 'error' }
    : errorResult(call, 'The function returned no result.')
}

function formatDuration(milliseconds: number): string {
  return milliseconds >= 1000 ? `${milliseconds / 1000}s` : `${milliseconds}ms`
}

/** A timer set for longer would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1
