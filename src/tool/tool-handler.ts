import type { CallPart, ResultPart } from '../model/turn.ts'
import type { Tool, ToolContext } from './tool.ts'
import { createToolbox } from './toolbox.ts'
import { defined } from '../model/defined.ts'
import { getErrorMessage } from '../model/error-message.ts'

/** Runs calls without an agent, for hosts that keep their own loop: checks the arguments, keeps to the time, never throws. */
export interface ToolHandler {
  register(tool: Tool): void
  has(name: string): boolean
  readonly definitions: readonly Tool['spec'][]
  execute(call: CallPart): Promise<ResultPart>
  /** All at once; the results are in the order of the calls. */
  executeAll(calls: readonly CallPart[]): Promise<ResultPart[]>
}

/** Makes a handler. `timeout` holds for all its tools, unless one has a shorter one; 30 seconds without it. */
export function toolHandler(context: Omit<ToolContext, 'signal' | 'progress'>, timeout = 30_000): ToolHandler {
  const tools: Tool[] = []

  async function execute(call: CallPart): Promise<ResultPart> {
    const resultBase = { kind: 'result', id: call.id, name: call.name } as const
    const createErrorResult = (message: string, type: string): ResultPart => ({
      ...resultBase,
      status: 'error',
      content: [{ kind: 'text', text: message }],
      error: { message, type },
    })
    const registeredTools = createToolbox(tools)
    const found = registeredTools.find(call.name)
    if ('problem' in found) return createErrorResult(found.problem, 'unknown-tool')
    if (call.input === undefined)
      return createErrorResult(call.flaw?.message ?? 'The arguments could not be read.', 'not-run')
    const accepted = registeredTools.validateInput(found.tool, call.input, call.name)
    if ('problem' in accepted) return createErrorResult(accepted.problem, 'invalid-arguments')
    const stop = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const limit = Math.min(timeout, found.tool.timeout ?? timeout)
    const timedOut = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), limit)
    })
    try {
      const work = found.tool.run(accepted.input, { ...context, signal: stop.signal, progress: () => undefined })
      const output = await Promise.race([work, timedOut])
      if (output === 'late') return createErrorResult(`${call.name} timed out after ${limit / 1000} s.`, 'timeout')
      const content =
        typeof output.content === 'string' ? [{ kind: 'text', text: output.content } as const] : output.content
      return {
        ...resultBase,
        status: output.error ? 'error' : 'ok',
        content,
        ...defined({ error: output.error }),
      }
    } catch (error) {
      const message = getErrorMessage(error)
      return createErrorResult(`${call.name} failed: ${message}`, 'exception')
    } finally {
      clearTimeout(timer)
      stop.abort()
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
