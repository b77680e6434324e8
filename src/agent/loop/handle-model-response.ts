import { defined } from '../../model/defined.ts'
import type { Fault } from '../../model/fault.ts'
import { type FoldedTurn, type RejectedCall, splitRunnableCalls } from '../../model/fold.ts'
import { joinTextParts } from '../../model/text.ts'
import type { AssistantTurn, CallPart, FinishReason } from '../../model/turn.ts'
import type { AgentContext } from '../agent-context.ts'
import { checkOutput } from '../output/check-output.ts'
import { continueAfterStop } from '../hooks/run-hooks.ts'
import { getStopReason } from './run-deadline.ts'
import type { RunEvent } from './run-event.ts'
import {
  appendRunLogEntry,
  compactAndMeter,
  executeAndMeter,
  takeBackgroundEvents,
  type RunEnd,
  type RunState,
} from './run-state.ts'

type RunSteps = AsyncGenerator<RunEvent, RunEnd | undefined>

/** Handles a response of the model, which took `ms`. Returns how the run ends, if it does. */
export async function* handleModelResponse(state: RunState, response: FoldedTurn, ms: number): RunSteps {
  const { turn, warnings, cacheDiagnosis } = response
  const { prompt, signal } = state
  const { reason, fault } = turn.finish
  const { calls, rejected } = splitRunnableCalls(turn)
  state.lastText = joinTextParts(turn.parts)
  if (reason === 'aborted' || signal.aborted) return yield* logAbortedTurn(state, turn, ms)
  if (reason === 'fault' && fault) return yield* handleFault(state, turn, fault)
  const unusable = findProblem(state, reason, warnings, { runnable: calls.length, rejected: rejected.length })
  if (unusable) return yield* retryUnusableResponse(state, turn, unusable)
  state.unusableCount = 0
  state.hasCompactedForOverflow = false
  const diagnosis = defined({ response: state.agent.diagnoseCache ? response.id : undefined, cacheDiagnosis })
  yield appendRunLogEntry(state, {
    kind: 'turn',
    turn,
    prompt,
    ms,
    ...(warnings.length > 0 && { warnings }),
    ...diagnosis,
  })
  const ordered = turn.parts.filter((part) => part.kind === 'call')
  return yield* ordered.length > 0 ? handleCalls(state, ordered, rejected) : finishTurn(state, turn)
}

/** Keeps the text. Calls of an aborted response never ran, and are dropped. */
function* logAbortedTurn(state: RunState, turn: AssistantTurn, ms: number): Generator<RunEvent, RunEnd> {
  const parts = turn.parts.filter((part) => part.kind === 'text' && part.text !== '')
  const abortedTurn: AssistantTurn = { ...turn, parts, finish: { reason: 'aborted' } }
  if (parts.length > 0) yield appendRunLogEntry(state, { kind: 'turn', turn: abortedTurn, prompt: state.prompt, ms })
  return { reason: getStopReason(state.signal) }
}

/** A history that exceeds the context window is compacted once; sending it again would not help (T159). */
async function* handleFault(state: RunState, turn: AssistantTurn, fault: Fault): RunSteps {
  yield logFault(state, turn, fault)
  if (fault.kind === 'overflow' && !state.hasCompactedForOverflow) {
    state.hasCompactedForOverflow = yield* compactAndMeter(state)
    if (state.hasCompactedForOverflow) return undefined
  }
  return { reason: fault.code === 'budget' ? 'cost-limit' : 'fault', fault }
}

/** The response is not kept: vendors refuse a history with it, or the model copies it (T08, T57, T124). */
function* retryUnusableResponse(
  state: RunState,
  turn: AssistantTurn,
  problem: UnusableResponse,
): Generator<RunEvent, RunEnd | undefined> {
  const { reason } = turn.finish
  yield logFault(state, turn, { kind: 'decode', message: problem.logMessage })
  state.unusableCount++
  if (state.unusableCount > MAX_UNUSABLE_RESPONSES)
    return isTruncated(reason)
      ? { reason }
      : { reason: 'fault', fault: { kind: 'decode', message: problem.finalMessage } }
  yield appendRunLogEntry(state, { kind: 'note', text: problem.modelNote })
  return undefined
}

/** Why a response that ended without a fault cannot be used. */
function findProblem(
  { agent, lastText, unusableCount }: RunState,
  reason: FinishReason,
  warnings: FoldedTurn['warnings'],
  counts: { runnable: number; rejected: number },
): UnusableResponse | undefined {
  if (reason === 'malformed-call' && counts.runnable === 0) return MALFORMED_RESPONSE
  if (counts.runnable + counts.rejected > 0) return undefined
  if (agent.toolbox.specs.length > 0 && warnings.some(({ code }) => code === 'missing-call')) return MISSING_CALL
  // Once only: the text may be meant as it is.
  const isUnreadCall = CALL_MARKUP.test(lastText) && warnings.some(({ code }) => code === 'unread-call')
  if (isUnreadCall && unusableCount === 0) return MALFORMED_RESPONSE
  return lastText.trim() === '' && reason !== 'filter' ? EMPTY_RESPONSE : undefined
}

/** A response that begins with markup is a call that went wrong, rather than words about calls. */
const CALL_MARKUP = /^\s*[<＜[{]/

/** A response without calls ends the run, unless the user has sent a message meanwhile. */
async function* finishTurn(state: RunState, turn: AssistantTurn): RunSteps {
  const { reason } = turn.finish
  if (yield* logQueuedMessages(state)) return undefined
  if (yield* awaitBackgroundRuns(state)) return undefined
  if (state.signal.aborted) return { reason: getStopReason(state.signal) }
  if (isTruncated(reason)) return { reason }
  if (yield* continueAfterStop(state)) return undefined
  return state.output ? yield* checkOutput(state, turn) : { reason: 'done' }
}

async function* handleCalls(state: RunState, calls: readonly CallPart[], rejected: readonly RejectedCall[]): RunSteps {
  const { agent, signal, repetitions } = state
  state.hasCalled = true
  const results = yield* executeAndMeter(state, calls, rejected)
  // Without a user to approve it, a plan is the result of the run.
  const plan = agent.requestApproval ? undefined : findPlan(agent, calls)
  if (plan !== undefined) return { reason: 'done', plan }
  if (signal.aborted) return { reason: getStopReason(signal) }
  if (results.length < calls.length) return { reason: 'awaiting-approval' }
  const repetition = repetitions.check(calls, results)
  if (repetition === 'stop') return { reason: 'loop' }
  if (repetition === 'warn') yield appendRunLogEntry(state, { kind: 'note', text: REPETITION_NOTE })
  yield* logQueuedMessages(state)
  return undefined
}

/** Logs the messages that the user, and subagents in the background, sent during the turn. Were there any? */
function* logQueuedMessages(state: RunState): Generator<RunEvent, boolean> {
  yield* takeBackgroundEvents(state)
  const reports = state.agent.background?.takeReports() ?? []
  for (const { session, text } of reports) yield appendRunLogEntry(state, { kind: 'note', text, subagent: session })
  const messages = state.agent.takeQueuedMessages?.() ?? []
  for (const parts of messages) yield appendRunLogEntry(state, { kind: 'user', parts, prompt: state.prompt })
  return messages.length + reports.length > 0
}

/** Waits for a report of the subagents in the background, or for a message of the user. Does the run go on with it? */
async function* awaitBackgroundRuns(state: RunState): AsyncGenerator<RunEvent, boolean> {
  const { agent, signal } = state
  const { background } = agent
  if (!background) return false
  while (background.count > 0 && !signal.aborted) {
    let messages: ReturnType<NonNullable<AgentContext['takeQueuedMessages']>> = []
    await background.waitForNews(agent.clock, () => {
      messages = agent.takeQueuedMessages?.() ?? []
      return signal.aborted || messages.length > 0
    })
    const hasReports = yield* logQueuedMessages(state)
    for (const parts of messages) yield appendRunLogEntry(state, { kind: 'user', parts, prompt: state.prompt })
    if (hasReports || messages.length > 0) return true
  }
  return yield* logQueuedMessages(state)
}

function logFault(state: RunState, { usage }: AssistantTurn, fault: Fault): RunEvent {
  const usageFields = usage && { usage: { ...usage } }
  return appendRunLogEntry(state, { kind: 'fault', fault: { ...fault }, prompt: state.prompt, ...usageFields })
}

function isTruncated(reason: FinishReason): reason is 'length' | 'filter' {
  return reason === 'length' || reason === 'filter'
}

function findPlan({ mode, toolbox, folders }: AgentContext, calls: readonly CallPart[]): string | undefined {
  if (mode?.get() !== 'plan') return undefined
  const call = calls.find(({ name, input = {} }) => {
    const found = toolbox.find(name)
    return 'tool' in found && found.tool.effects(input, folders).some(({ kind }) => kind === 'plan')
  })
  const plan = call?.input?.['plan']
  return typeof plan === 'string' && plan.trim() !== '' ? plan : undefined
}

/** Texts for a response that cannot be used; `finalMessage` is for the user, after the last attempt. */
interface UnusableResponse {
  readonly logMessage: string
  readonly finalMessage: string
  readonly modelNote: string
}

const MALFORMED_RESPONSE: UnusableResponse = {
  logMessage: 'The model made a malformed call.',
  finalMessage: 'The model keeps making malformed calls.',
  modelNote:
    'Your last response contained a tool call that could not be parsed. Make the call again as a native tool call, with one JSON object as arguments and no code around it.',
}

/** The endpoint said that the response ends with a call, but there is none (T52). */
const MISSING_CALL: UnusableResponse = {
  logMessage: 'The response announced a call but has none.',
  finalMessage: 'The responses keep announcing calls that are not there; the model or its endpoint loses them.',
  modelNote:
    'Your last response was said to end with a tool call, but no call arrived. Make the call again as a native tool call; if you need none, answer without one.',
}

const EMPTY_RESPONSE: UnusableResponse = {
  logMessage: 'The model returned an empty response.',
  finalMessage: 'The model keeps returning empty responses.',
  modelNote: 'Your last response was empty. Continue with the task; if it is done, say so in one sentence.',
}

const MAX_UNUSABLE_RESPONSES = 2

const REPETITION_NOTE =
  'You have made the same calls with the same arguments several times. Do something else. If you are waiting for something, wait longer each time. If something blocks you, say what it is.'
