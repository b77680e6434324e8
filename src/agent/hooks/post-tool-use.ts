import type { ResultPart } from '../../model/turn.ts'
import type { AgentContext } from '../agent-context.ts'
import type { ExecutingCall } from '../calls/call-state.ts'
import type { RunEvent } from '../loop/run-event.ts'
import { callHook } from './call-hook.ts'

/** Adds to a result what hooks said before and after the call. */
export async function addHookNotes(
  agent: AgentContext,
  { call, tool, input, notes = [] }: ExecutingCall,
  result: ResultPart,
  signal: AbortSignal,
  onEvent: (event: RunEvent) => void,
): Promise<ResultPart> {
  const details = { tool, call: call.id, input, result }
  const outcome = agent.hooks?.postToolUse && (await callHook(agent, 'postToolUse', details, signal, onEvent))
  const said = [...notes, outcome?.block?.reason, outcome?.additionalContext].filter((note) => note !== undefined)
  if (said.length === 0) return result
  const text = said.map((note) => `\n[Hook: ${note}]`).join('')
  return { ...result, content: [...result.content, { kind: 'text', text }] }
}
