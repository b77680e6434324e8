import { getErrorMessage } from '../../model/error-message.ts'
import type { AgentContext } from '../agent-context.ts'
import type { RunEvent } from '../loop/run-event.ts'
import type { HookContext, HookOutcome, Hooks } from './hooks.ts'

type OutcomeOf<Name extends keyof Hooks> = Exclude<Awaited<ReturnType<NonNullable<Hooks[Name]>>>, void>
type DetailsOf<Name extends keyof Hooks> = Omit<Parameters<NonNullable<Hooks[Name]>>[0], keyof HookContext>

/**
 * Calls a hook, if there is one. Its messages are shown; a failure is shown, too, and is no answer: a call is never lost for it.
 */
export async function callHook<Name extends keyof Hooks>(
  agent: Pick<AgentContext, 'hooks' | 'session' | 'subagent' | 'stopRequest'>,
  name: Name,
  details: DetailsOf<Name>,
  signal: AbortSignal,
  onEvent: (event: RunEvent) => void,
): Promise<OutcomeOf<Name> | undefined> {
  const hook = agent.hooks?.[name] as ((event: object) => Promise<OutcomeOf<Name>>) | undefined
  if (!hook) return undefined
  const { session, subagent } = agent
  try {
    const outcome = await hook.call(agent.hooks, {
      session: session.id,
      ...(subagent !== undefined && { subagent }),
      signal,
      ...details,
    })
    const { systemMessage, stopReason }: HookOutcome = outcome ?? {}
    if (systemMessage !== undefined) onEvent({ type: 'notice', text: systemMessage })
    if (stopReason !== undefined && agent.stopRequest) agent.stopRequest.reason ??= stopReason
    return outcome
  } catch (error) {
    if (!signal.aborted) onEvent({ type: 'notice', text: `A hook failed (${name}): ${getErrorMessage(error)}` })
    return undefined
  }
}
