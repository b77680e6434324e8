import { getErrorMessage } from '../../model/error-message.ts'
import type { JsonObject } from '../../model/json.ts'
import { sanitizeForModel } from '../../policy/text/sanitize-for-model.ts'
import { validate } from '../../schema/validate/validate.ts'
import { runWithTimeout, TIMED_OUT } from '../../tool/run-with-timeout.ts'
import { parseCallArguments } from '../../wire/calls/parse-arguments.ts'
import { errorResult, jsonResult, textResult, type ToolCall, type ToolDefinition, type ToolResult } from './types.ts'

/** Runs a tool with valid arguments. The signal is aborted at the time limit. */
export type ToolExecutor = (call: ToolCall, signal: AbortSignal) => ToolResult | string | Promise<ToolResult | string>

/** What a handler is doing, for a log. */
export interface ToolHandlerEvent {
  readonly level: 'debug' | 'info' | 'warn'
  readonly message: 'Executing function' | 'Function completed' | 'Function timed out' | 'Function not found'
  readonly function: string
  readonly callId: string
  /** Of a function that completed: whether it returned no error. */
  readonly success?: boolean
}

interface RegisteredTool {
  readonly definition: ToolDefinition
  readonly executor: ToolExecutor
}

/** Runs calls of registered tools within a time limit; every call gets exactly one result. */
export class GeminiToolHandler {
  readonly #tools = new Map<string, RegisteredTool>()
  #timeout = 30_000
  #log: ((event: ToolHandlerEvent) => void) | undefined

  /** Sets the time limit in milliseconds; `Infinity` means no limit. */
  withTimeout(milliseconds: number): this {
    this.#timeout = milliseconds
    return this
  }

  /** Tells what happens to each call, such as to a logger. */
  withDebug(log: (event: ToolHandlerEvent) => void): this {
    this.#log = log
    return this
  }

  /** Adds a tool, or replaces the one with the same name in its place. */
  register(definition: ToolDefinition, executor: ToolExecutor): this {
    this.#tools.set(definition.name, { definition, executor })
    return this
  }

  /** In the order in which they were registered. */
  getDefinitions(): ToolDefinition[] {
    return [...this.#tools.values()].map(({ definition }) => definition)
  }

  hasFunction(name: string): boolean {
    return this.#tools.has(name)
  }

  /** Never throws: an error is a result, too. */
  async execute(call: ToolCall): Promise<ToolResult> {
    const tool = this.#tools.get(call.name)
    if (!tool) {
      this.#tell('warn', 'Function not found', call)
      return errorResult(call, `Function not found: ${call.name}. Functions: ${[...this.#tools.keys()].join(', ')}`)
    }
    this.#tell('debug', 'Executing function', call)
    const result = await this.#run(call, tool)
    if (result === TIMED_OUT) {
      this.#tell('warn', 'Function timed out', call)
      return errorResult(call, `Timed out after ${formatDuration(this.#timeout)}`)
    }
    this.#tell('info', 'Function completed', call, { success: result.success })
    return result
  }

  async #run(call: ToolCall, tool: RegisteredTool): Promise<ToolResult | typeof TIMED_OUT> {
    const input = parseValidArguments(call, tool.definition)
    if (typeof input === 'string') return errorResult(call, input)
    try {
      const strict = { ...call, arguments: JSON.stringify(input) }
      const output = await runWithTimeout((signal) => tool.executor(strict, signal), { ms: this.#timeout })
      return output === TIMED_OUT ? TIMED_OUT : toCallResult(call, output)
    } catch (error) {
      return errorResult(call, sanitizeForModel(getErrorMessage(error)))
    }
  }

  /** Runs calls in parallel; the results are in the order of the calls. */
  async executeAll(calls: readonly ToolCall[]): Promise<ToolResult[]> {
    return await Promise.all(calls.map((call) => this.execute(call)))
  }

  /** The names of the functions and the time limit, for `JSON.stringify`. */
  toJSON(): { readonly functions: readonly string[]; readonly timeout: number } {
    return { functions: [...this.#tools.keys()], timeout: this.#timeout }
  }

  toString(): string {
    return `GeminiToolHandler ${JSON.stringify(this)}`
  }

  /** For `console.log` in Node. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString()
  }

  #tell(
    level: ToolHandlerEvent['level'],
    message: ToolHandlerEvent['message'],
    { name, id }: ToolCall,
    outcome: Pick<ToolHandlerEvent, 'success'> = {},
  ): void {
    this.#log?.({ level, message, function: name, callId: id, ...outcome })
  }
}

/** The arguments of a call, if they are one object that fits the schema; otherwise an error message. */
function parseValidArguments(call: ToolCall, definition: ToolDefinition): JsonObject | string {
  const parsedArguments = parseCallArguments(call.arguments)
  if (!parsedArguments.ok) return parsedArguments.message
  const [input, ...more] = parsedArguments.inputs
  if (!input || more.length > 0) return 'The call holds several argument objects; make one call for each.'
  const problems = validate(definition.parameters as JsonObject, input)
  return problems.length === 0 ? input : `The arguments do not fit: ${problems.map(({ message }) => message).join(' ')}`
}

/** The result always has the id of this call, and its text is sanitized for the model. */
function toCallResult(call: ToolCall, result: ToolResult | string): ToolResult {
  if (typeof result === 'string') return textResult(call, sanitizeForModel(result))
  // An executor without types may return nothing.
  const content = (result as ToolResult | undefined)?.content
  if (!content) return errorResult(call, 'The function returned no result.')
  switch (content.type) {
    case 'text':
      return textResult(call, sanitizeForModel(content.text))
    case 'json':
      return jsonResult(call, content.value)
    case 'error':
      return errorResult(call, sanitizeForModel(content.message))
    default:
      return content satisfies never
  }
}

function formatDuration(milliseconds: number): string {
  return milliseconds >= 1000 ? `${milliseconds / 1000}s` : `${milliseconds}ms`
}
