import type { Fault } from '../model/fault.ts'
import { type Folded, type Rejected, runnable } from '../model/fold.ts'
import { textOf } from '../model/text.ts'
import type { AssistantTurn, CallPart, FinishReason } from '../model/turn.ts'
import type { Agent } from './agent.ts'
import { carryOut } from './carry-out.ts'
import { stoppedBy } from './deadline.ts'
import type { RunEvent } from './run-event.ts'
import { logEntry, type RunEnd, type RunState, shrinkHistory } from './run-state.ts'

type Steps = AsyncGenerator<RunEvent, RunEnd | undefined>

/** Does what a response of the model calls for; gives the end of the run if it is over. `ms` is how long it took. */
export async function* handleResponse(state: RunState, { turn, warnings }: Folded, ms: number): Steps {
  const { prompt, signal } = state
  const { reason, fault } = turn.finish
  const { calls, rejected } = runnable(turn)
  state.text = textOf(turn.parts)
  if (reason === 'aborted' || signal.aborted) return yield* keepAborted(state, turn, ms)
  if (reason === 'fault' && fault) return yield* handleFault(state, turn, fault)
  const isEmpty = calls.length + rejected.length === 0 && state.text.trim() === '' && reason !== 'filter'
  const isMalformed = reason === 'malformed-call' && calls.length === 0
  if (isEmpty || isMalformed) return yield* askAgain(state, turn, isMalformed ? MALFORMED : EMPTY)
  state.unusable = 0
  state.hasShrunk = false
  yield logEntry(state, { kind: 'turn', turn, prompt, ms, ...(warnings.length > 0 && { warnings }) })
  const ordered = turn.parts.filter((part) => part.kind === 'call')
  return yield* ordered.length > 0 ? executeCalls(state, ordered, rejected) : finishTurn(state, reason)
}

/** What was said stays; calls of a response that did not end never ran, and leave no trace. */
function* keepAborted(state: RunState, turn: AssistantTurn, ms: number): Generator<RunEvent, RunEnd> {
  const parts = turn.parts.filter((part) => part.kind === 'text' && part.text !== '')
  const kept: AssistantTurn = { ...turn, parts, finish: { reason: 'aborted' } }
  if (parts.length > 0) yield logEntry(state, { kind: 'turn', turn: kept, prompt: state.prompt, ms })
  return { reason: stoppedBy(state.signal) }
}

/** A history that does not fit is summarized, once; to send it again would not help (T159). */
async function* handleFault(state: RunState, turn: AssistantTurn, fault: Fault): Steps {
  yield logFault(state, turn, fault)
  if (fault.kind === 'overflow' && !state.hasShrunk) {
    state.hasShrunk = yield* shrinkHistory(state)
    if (state.hasShrunk) return undefined
  }
  return { reason: fault.code === 'budget' ? 'cost-limit' : 'fault', fault }
}

/** Such a response is never kept: a history with it in it would be refused, or copied (T08, T57, T124). */
function* askAgain(state: RunState, turn: AssistantTurn, problem: Unusable): Generator<RunEvent, RunEnd | undefined> {
  const { reason } = turn.finish
  yield logFault(state, turn, { kind: 'decode', message: problem.once })
  state.unusable++
  if (state.unusable > MAX_UNUSABLE)
    return isCut(reason) ? { reason } : { reason: 'fault', fault: { kind: 'decode', message: problem.often } }
  yield logEntry(state, { kind: 'note', text: problem.note })
  return undefined
}

/** A response without calls ends the run, unless the person has said something meanwhile. */
function* finishTurn(state: RunState, reason: FinishReason): Generator<RunEvent, RunEnd | undefined> {
  if (yield* takeInbox(state)) return undefined
  return { reason: isCut(reason) ? reason : 'done' }
}

async function* executeCalls(state: RunState, calls: readonly CallPart[], rejected: readonly Rejected[]): Steps {
  const { agent, signal, loops } = state
  const results = yield* carryOut(agent, calls, rejected, signal)
  // Where nobody is there to approve a plan, the plan is what came of the run.
  const plan = agent.ask ? undefined : planIn(agent, calls)
  if (plan !== undefined) return { reason: 'done', plan }
  if (signal.aborted) return { reason: stoppedBy(signal) }
  const repetition = loops.seen(calls, results)
  if (repetition === 'stop') return { reason: 'loop' }
  if (repetition === 'tell') yield logEntry(state, { kind: 'note', text: REPEATED })
  yield* takeInbox(state)
  return undefined
}

/** What the person said while the model worked goes into the history; tells whether there was anything. */
function* takeInbox(state: RunState): Generator<RunEvent, boolean> {
  const messages = state.agent.inbox?.() ?? []
  for (const parts of messages) yield logEntry(state, { kind: 'user', parts, prompt: state.prompt })
  return messages.length > 0
}

function logFault(state: RunState, { usage }: AssistantTurn, fault: Fault): RunEvent {
  const paid = usage && { usage: { ...usage } }
  return logEntry(state, { kind: 'fault', fault: { ...fault }, prompt: state.prompt, ...paid })
}

/** Was a response cut off or withheld by the vendor, so that it is not whole? */
function isCut(reason: FinishReason): reason is 'length' | 'filter' {
  return reason === 'length' || reason === 'filter'
}

/** The plan that was made by these calls, in plan mode. */
function planIn({ mode, toolbox, folders }: Agent, calls: readonly CallPart[]): string | undefined {
  if (mode?.get() !== 'plan') return undefined
  const call = calls.find(({ name, input = {} }) => {
    const found = toolbox.find(name)
    return 'tool' in found && found.tool.effects(input, folders).some(({ kind }) => kind === 'plan')
  })
  const plan = call?.input?.['plan']
  return typeof plan === 'string' && plan.trim() !== '' ? plan : undefined
}

/** A response that cannot be used: what the log says of it, what the person is told if it goes on, and the model. */
interface Unusable {
  readonly once: string
  readonly often: string
  readonly note: string
}

const MALFORMED: Unusable = {
  once: 'The model made a malformed call.',
  often: 'The model keeps making malformed calls.',
  note: 'Your last answer held a call that could not be read. Make the call again, natively, with arguments that are one JSON object. Write no code around it.',
}

const EMPTY: Unusable = {
  once: 'The model gave an empty answer.',
  often: 'The model keeps giving empty answers.',
  note: 'Your last answer was empty. Go on with the task; if it is done, say so in a sentence.',
}

/** How many responses in a row may be unusable before the run ends. */
const MAX_UNUSABLE = 2

const REPEATED =
  'You have made the same calls with the same arguments several times. Do something else; if you wait for something, wait longer at a time; or say what keeps you from it.'
