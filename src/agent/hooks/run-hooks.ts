import { joinTextParts } from '../../model/text.ts'
import type { UserTurn } from '../../model/turn.ts'
import type { Session } from '../../session/session.ts'
import type { RunEvent } from '../loop/run-event.ts'
import { appendRunLogEntry, type RunEnd, type RunState } from '../loop/run-state.ts'
import { callRunHook } from './call-run-hook.ts'

/** Once for each session that a process opens. What the hook says is for the model. */
export async function* startSession(state: RunState): AsyncGenerator<RunEvent> {
  const { session, hooks, subagent } = state.agent
  if (!hooks?.sessionStart || subagent !== undefined || startedSessions.has(session)) return
  startedSessions.add(session)
  const source = session.entries.some(({ kind }) => kind === 'user') ? 'resume' : 'startup'
  const outcome = yield* callRunHook(state, 'sessionStart', { source })
  if (outcome?.additionalContext !== undefined) state.promptContext.push(outcome.additionalContext)
}

const startedSessions = new WeakSet<Session>()

/** A hook may refuse a prompt: it is not in the log then, and the model never sees it. */
export async function* submitPrompt(
  state: RunState,
  { parts }: { readonly parts: UserTurn['parts'] },
): AsyncGenerator<RunEvent, RunEnd | undefined> {
  const { hooks, subagent } = state.agent
  if (!hooks?.userPromptSubmit || subagent !== undefined) return undefined
  const outcome = yield* callRunHook(state, 'userPromptSubmit', { prompt: joinTextParts(parts) })
  if (outcome?.additionalContext !== undefined) state.promptContext.push(outcome.additionalContext)
  const stopped = takeStopRequest(state)
  if (stopped || !outcome?.block) return stopped
  return endByHook(`A hook refused the prompt: ${outcome.block.reason}`)
}

/** Has a hook asked for the end of the run? */
export function takeStopRequest({ agent: { stopRequest } }: RunState): RunEnd | undefined {
  const reason = stopRequest?.reason
  if (stopRequest) delete stopRequest.reason
  return reason === undefined ? undefined : endByHook(`A hook stopped the run: ${reason}`)
}

function endByHook(message: string): RunEnd {
  return { reason: 'fault', fault: { kind: 'policy', code: 'hook', message } }
}

/** A hook may let the model go on at its end, with a task. Does it? */
export async function* continueAfterStop(state: RunState): AsyncGenerator<RunEvent, boolean> {
  if (!state.agent.hooks?.stop) return false
  const details = { text: state.lastText, isActive: state.continuations > 0 }
  const outcome = yield* callRunHook(state, 'stop', details)
  if (!outcome?.block) return false
  if (state.continuations >= MAX_CONTINUATIONS) {
    yield { type: 'notice', text: `A hook has let the model go on ${MAX_CONTINUATIONS} times; the run ends now.` }
    return false
  }
  state.continuations++
  yield appendRunLogEntry(state, { kind: 'note', text: `A hook of the user: ${outcome.block.reason}` })
  return true
}

/** No hook may keep a run alive for ever. */
const MAX_CONTINUATIONS = 20
