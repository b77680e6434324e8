import type { Host } from '../../host/host.ts'
import type { Json } from '../../model/json.ts'
import type { SandboxAccess } from '../../model/security/sandbox-access.ts'
import { clipText } from '../../model/text.ts'
import type { ResultPart } from '../../model/turn.ts'
import type { FileAccess } from '../../policy/policy.ts'
import { sanitizeForModel } from '../../policy/text/sanitize.ts'
import { sleep } from '../../provider/index.ts'
import type { ToolContext, ToolOutput } from '../../tool/tool.ts'
import type { Agent } from '../agent.ts'
import type { ExecutingCall } from './call-state.ts'
import { defined } from '../../model/defined.ts'
import { getErrorMessage } from '../../model/error-message.ts'

/** What came of a call. */
export interface ToolExecution extends Pick<ToolOutput, 'stable' | 'facts' | 'blocked' | 'notices'> {
  readonly result: ResultPart
}

/** Runs a tool to its end, within its time; whatever happens becomes a result. */
export async function executeTool(
  agent: Agent,
  call: ExecutingCall,
  signal: AbortSignal,
  onProgress: (text: string) => void,
  sandboxAccess?: SandboxAccess,
): Promise<ToolExecution> {
  const { tool, input } = call
  const name = tool.spec.name
  const resultBase = { kind: 'result', id: call.call.id, name } as const
  const timeoutController = new AbortController()
  const combinedSignal = AbortSignal.any([signal, timeoutController.signal])
  const context = createToolContext(
    agent,
    combinedSignal,
    throttleProgress(onProgress, () => agent.clock.now()),
    { ...call, ...(sandboxAccess && { sandboxAccess }) },
  )
  try {
    const output = await withTimeout(tool.run(input, context), tool.timeout, timeoutController, signal, agent)
    if (output === TIMED_OUT) {
      const message = `${name} timed out after ${(tool.timeout ?? 0) / 1000} s.`
      return {
        result: {
          ...resultBase,
          status: 'error',
          content: [{ kind: 'text', text: message }],
          error: { message, type: 'timeout' },
        },
      }
    }
    return {
      result: toResultPart(call.call.id, name, output),
      ...defined({ stable: output.stable, facts: output.facts }),
      ...(output.blocked && { blocked: output.blocked }),
      ...defined({ notices: output.notices }),
    }
  } catch (error) {
    const message = clipText(getErrorMessage(error), MAX_MESSAGE_CHARS)
    const text = `${name} failed: ${message}`
    return {
      result: {
        ...resultBase,
        status: 'error',
        content: [{ kind: 'text', text }],
        error: { message, type: 'exception' },
      },
    }
  }
}

/** What a tool is given. Where the person changed the call, it hears of both versions. */
export function createToolContext(
  agent: Agent,
  signal: AbortSignal,
  progress: (text: string) => void,
  call?: Pick<ExecutingCall, 'modified' | 'proposed' | 'access' | 'gitHelpers'> & Pick<ToolContext, 'sandboxAccess'>,
): ToolContext {
  const modification = call?.modified && { modified: true, ...defined({ proposed: call.proposed }) }
  const git = call?.gitHelpers && { gitHelpers: call.gitHelpers }
  const sandbox = call?.sandboxAccess && { sandboxAccess: call.sandboxAccess }
  const host = grantHostAccess(agent.host, call?.access ?? [])
  return {
    host,
    folders: agent.folders,
    seenFiles: agent.seenFiles,
    signal,
    progress,
    ...modification,
    ...git,
    ...sandbox,
  }
}

/** The host, which for this call opens what was judged, also outside the workspace, and nothing else in its place. */
function grantHostAccess(host: Host, access: readonly FileAccess[]): Host {
  if (access.length === 0 || !('withAccess' in host)) return host
  return { ...host, ...host.withAccess?.(access) }
}

function toResultPart(id: string, name: string, output: ToolOutput): ResultPart {
  const rawContent =
    typeof output.content === 'string' ? [{ kind: 'text', text: output.content } as const] : output.content
  // What no person can see in a page or a file, no model shall read as words either.
  const content = rawContent.map((resultBase) =>
    resultBase.kind === 'text' ? { ...resultBase, text: sanitizeForModel(resultBase.text) } : resultBase,
  )
  return {
    kind: 'result',
    id,
    name,
    status: output.error ? 'error' : 'ok',
    content,
    ...defined({ data: output.data }),
    ...(output.display !== undefined && { display: output.display as Json }),
    ...defined({ error: output.error }),
  }
}

/** An exception may quote arguments of any length. */
const MAX_MESSAGE_CHARS = 4000

const TIMED_OUT = Symbol('timed out')

async function withTimeout<T>(
  work: Promise<T>,
  ms: number | undefined,
  timeoutController: AbortController,
  signal: AbortSignal,
  agent: Agent,
): Promise<T | typeof TIMED_OUT> {
  if (ms === undefined) return work
  const stop = new AbortController()
  const stopTimer = (): void => stop.abort()
  signal.addEventListener('abort', stopTimer, { once: true })
  const timeout = sleep(agent.clock, ms, stop.signal).then((): typeof TIMED_OUT => TIMED_OUT)
  // A tool that throws, or that nobody waits for any more, must leave no clock behind, or the process waits for it.
  const first = await Promise.race([work, timeout]).finally(() => {
    stopTimer()
    signal.removeEventListener('abort', stopTimer)
  })
  if (first === TIMED_OUT) timeoutController.abort()
  return first
}

/** Progress reaches the person at most once a second. */
function throttleProgress(show: (text: string) => void, now: () => number): (text: string) => void {
  let last = Number.NEGATIVE_INFINITY
  return (text) => {
    if (now() - last < 1000) return
    last = now()
    show(text)
  }
}
