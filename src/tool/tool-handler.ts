import { getAbortReason } from '../model/abort-reason.ts'
import { createErrorResult } from '../model/result.ts'
import type { CallPart, ResultPart } from '../model/turn.ts'
import { executeTool } from './execute-tool.ts'
import type { Tool, ToolContext } from './tool.ts'
import { createToolbox } from './toolbox.ts'

/** Runs calls without an agent, for programs with a loop of their own. Checks the arguments and the time; never throws. */
export interface ToolHandler {
  register(tool: Tool): void
  has(name: string): boolean
  readonly definitions: readonly Tool['spec'][]
  execute(call: CallPart): Promise<ResultPart>
  /** Runs the calls in parallel; the results are in the order of the calls. */
  executeAll(calls: readonly CallPart[]): Promise<ResultPart[]>
}

/** Creates a handler. `timeout` in milliseconds applies to all its tools, unless a tool has a shorter one. */
export function toolHandler(context: Omit<ToolContext, 'signal' | 'progress'>, timeout = 30_000): ToolHandler {
  const tools: Tool[] = []

  async function execute(call: CallPart): Promise<ResultPart> {
    const toolbox = createToolbox(tools)
    const found = toolbox.find(call.name)
    if ('problem' in found) return createErrorResult(call, 'unknown-tool', found.problem)
    if (call.input === undefined)
      return createErrorResult(call, 'not-run', call.flaw?.message ?? 'The arguments could not be read.')
    const accepted = toolbox.validateInput(found.tool, call.input, call.name)
    if ('problem' in accepted) return createErrorResult(call, 'invalid-arguments', accepted.problem)
    const ms = Math.min(timeout, found.tool.timeout ?? timeout)
    const createContext = (signal: AbortSignal): ToolContext => ({ ...context, signal, progress: () => undefined })
    const stop = new AbortController()
    try {
      const options = { ms, signal: stop.signal }
      return (await executeTool(call, found.tool, accepted.input, createContext, options)).result
    } finally {
      stop.abort(getAbortReason())
    }
  }

  return {
    register: (tool) => void tools.push(tool),
    has: (name) => tools.some((tool) => tool.spec.name === name),
    get definitions() {
      return tools.map((tool) => tool.spec)
    },
    execute,
    executeAll: (calls) => Promise.all(calls.map(execute)),
  }
}
