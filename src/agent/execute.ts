import type { Host } from '../host/host.ts'
import type { Json } from '../model/json.ts'
import type { SandboxAccess } from '../model/sandbox-access.ts'
import { clipped } from '../model/text.ts'
import type { ResultPart } from '../model/turn.ts'
import type { Access } from '../policy/policy.ts'
import { forModel } from '../policy/terminal.ts'
import { wait } from '../provider/clock.ts'
import type { ToolContext, ToolOutput } from '../tool/define.ts'
import type { Agent } from './agent.ts'
import type { Executing } from './call-state.ts'

/** What came of a call. */
export interface Executed extends Pick<ToolOutput, 'stable' | 'facts' | 'blocked' | 'notices'> {
  readonly result: ResultPart
}

/** Runs a tool to its end, within its time; whatever happens becomes a result. */
export async function execute(
  agent: Agent,
  call: Executing,
  signal: AbortSignal,
  onProgress: (text: string) => void,
  sandboxAccess?: SandboxAccess,
): Promise<Executed> {
  const { tool, input } = call
  const name = tool.spec.name
  const part = { kind: 'result', id: call.call.id, name } as const
  const limit = new AbortController()
  const both = AbortSignal.any([signal, limit.signal])
  const context = contextOf(
    agent,
    both,
    throttled(onProgress, () => agent.clock.now()),
    { ...call, ...(sandboxAccess && { sandboxAccess }) },
  )
  try {
    const output = await withTimeout(tool.run(input, context), tool.timeout, limit, signal, agent)
    if (output === TIMED_OUT) {
      const message = `${name} timed out after ${(tool.timeout ?? 0) / 1000} s.`
      return {
        result: {
          ...part,
          status: 'error',
          content: [{ kind: 'text', text: message }],
          error: { message, type: 'timeout' },
        },
      }
    }
    return {
      result: resultOf(call.call.id, name, output),
      ...(output.stable !== undefined && { stable: output.stable }),
      ...(output.facts && { facts: output.facts }),
      ...(output.blocked && { blocked: output.blocked }),
      ...(output.notices && { notices: output.notices }),
    }
  } catch (error) {
    const message = clipped(error instanceof Error ? error.message : String(error), LONGEST_MESSAGE)
    const text = `${name} failed: ${message}`
    return {
      result: { ...part, status: 'error', content: [{ kind: 'text', text }], error: { message, type: 'exception' } },
    }
  }
}

/** What a tool is given. Where the person changed the call, it hears of both versions. */
export function contextOf(
  agent: Agent,
  signal: AbortSignal,
  progress: (text: string) => void,
  call?: Pick<Executing, 'modified' | 'proposed' | 'access' | 'gitHelpers'> & Pick<ToolContext, 'sandboxAccess'>,
): ToolContext {
  const changed = call?.modified && { modified: true, ...(call.proposed && { proposed: call.proposed }) }
  const git = call?.gitHelpers && { gitHelpers: call.gitHelpers }
  const sandbox = call?.sandboxAccess && { sandboxAccess: call.sandboxAccess }
  const host = hostWith(agent.host, call?.access ?? [])
  return { host, folders: agent.folders, seen: agent.seen, signal, progress, ...changed, ...git, ...sandbox }
}

/** The host, which for this call opens what was judged, also outside the workspace, and nothing else in its place. */
function hostWith(host: Host, access: readonly Access[]): Host {
  if (access.length === 0 || !('granting' in host)) return host
  return { ...host, ...host.granting?.(access) }
}

function resultOf(id: string, name: string, output: ToolOutput): ResultPart {
  const given = typeof output.content === 'string' ? [{ kind: 'text', text: output.content } as const] : output.content
  // What no person can see in a page or a file, no model shall read as words either.
  const content = given.map((part) => (part.kind === 'text' ? { ...part, text: forModel(part.text) } : part))
  return {
    kind: 'result',
    id,
    name,
    status: output.error ? 'error' : 'ok',
    content,
    ...(output.data !== undefined && { data: output.data }),
    ...(output.display !== undefined && { display: output.display as Json }),
    ...(output.error && { error: output.error }),
  }
}

/** An exception may quote arguments of any length. */
const LONGEST_MESSAGE = 4000

const TIMED_OUT = Symbol('timed out')

async function withTimeout<T>(
  work: Promise<T>,
  ms: number | undefined,
  limit: AbortController,
  signal: AbortSignal,
  agent: Agent,
): Promise<T | typeof TIMED_OUT> {
  if (ms === undefined) return work
  const stop = new AbortController()
  const callOff = (): void => stop.abort()
  signal.addEventListener('abort', callOff, { once: true })
  const late = wait(agent.clock, ms, stop.signal).then((): typeof TIMED_OUT => TIMED_OUT)
  // A tool that throws, or that nobody waits for any more, must leave no clock behind, or the process waits for it.
  const first = await Promise.race([work, late]).finally(() => {
    callOff()
    signal.removeEventListener('abort', callOff)
  })
  if (first === TIMED_OUT) limit.abort()
  return first
}

/** Progress reaches the person at most once a second. */
function throttled(show: (text: string) => void, now: () => number): (text: string) => void {
  let last = Number.NEGATIVE_INFINITY
  return (text) => {
    if (now() - last < 1000) return
    last = now()
    show(text)
  }
}
