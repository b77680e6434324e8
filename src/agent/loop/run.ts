import type { Fault } from '../../model/fault.ts'
import { type FoldedTurn, splitRunnableCalls, createTurnFold } from '../../model/fold.ts'
import { takeHistorySnapshot } from '../../model/history-snapshot.ts'
import type { ModelRequest, ToolChoice } from '../../model/request.ts'
import type { UserTurn } from '../../model/turn.ts'
import { createInterruptedResult } from '../../session/open-calls.ts'
import { StoreError } from '../../session/store/store.ts'
import type { AgentContext } from '../agent-context.ts'
import { countHistoryChars, needsCompaction } from '../history/compact.ts'
import { createPartialOutput } from '../output/partial-output.ts'
import { startRunDeadline, getStopReason } from './run-deadline.ts'
import { handleModelResponse } from './handle-model-response.ts'
import { createCallPreparer } from '../calls/prepare-call.ts'
import { ENVIRONMENT_TOPIC, hasPinnedNote, appendPinnedNote } from '../history/pinned-notes.ts'
import { createPlanModeNote } from '../history/plan-mode-note.ts'
import { findToolChanges, getRequestTools } from '../history/request-tools.ts'
import { startSession, submitPrompt, takeStopRequest } from '../hooks/run-hooks.ts'
import { createRequestLogger } from './request-log.ts'
import type { CloseReason, RunEvent } from './run-event.ts'
import {
  appendRunLogEntry,
  compactAndMeter,
  createRunState,
  executeAndMeter,
  getRunTotals,
  takeBackgroundEvents,
  type RunEnd,
  type RunState,
} from './run-state.ts'
import { defined } from '../../model/defined.ts'

/**
 * Works on a prompt: sends the history to the model, executes its calls, and repeats this as long as the model makes calls,
 * whatever the finish reason says. There is no other loop.
 *
 * `userText` is what the user wrote, if the input also contains text of others. Without `input`, the run continues with the
 * calls that were waiting for approval when the session was left. If the log cannot be written, the run stops.
 */
export async function* run(
  agent: AgentContext,
  input: UserTurn['parts'] | undefined,
  signal: AbortSignal = new AbortController().signal,
  userText?: string,
): AsyncGenerator<RunEvent> {
  const { session } = agent
  const deadline = startRunDeadline(agent, signal)
  const prompt = `${session.id}#${session.promptCount + (input ? 1 : 0)}`
  const state = createRunState(agent, prompt, deadline.signal)
  const { clock } = agent
  try {
    let end = yield* beginRun(state, input && { parts: input, ...defined({ own: userText }) })
    while (!end) {
      const limit = findReachedLimit(state)
      end = takeStopRequest(state) ?? (limit && { reason: limit })
      if (end) break
      yield* prepareTurn(state)
      const started = clock.now()
      const response = yield* requestTurn(state)
      end = yield* handleModelResponse(state, response, clock.now() - started)
    }
    yield* closeRun(state, end)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    const reason = error.code === 'taken-over' ? 'taken-over' : 'unsaved'
    const fault: Fault = { kind: 'invalid', code: reason, message: toSentence(error.message) }
    yield { type: 'run-close', reason, text: '', session: session.id, ...getRunTotals(state), fault }
  } finally {
    deadline.cancel()
    // Also if nobody reads the events any more.
    void state.agent.background?.stop()
  }
}

interface RunInput {
  readonly parts: UserTurn['parts']
  readonly own?: string
}

/** Returns how the run ends, if it does so before the first request. */
async function* beginRun(state: RunState, input: RunInput | undefined): AsyncGenerator<RunEvent, RunEnd | undefined> {
  const { prompt } = state
  const { session, model } = state.agent
  yield { type: 'run-open', session: session.id, prompt, model: model.origin.model, provider: model.origin.provider }
  yield* startSession(state)
  if (!input) return (yield* resumePendingCalls(state)) ? undefined : { reason: 'awaiting-approval' }
  const block = yield* submitPrompt(state, input)
  if (!block) yield* logUserInput(state, input)
  return block
}

/** In the log, a run that waits for an approval, or to be tried again, has not ended: any process can resume it. */
async function* closeRun(state: RunState, { reason, ...more }: RunEnd): AsyncGenerator<RunEvent> {
  await state.agent.background?.stop()
  yield* takeBackgroundEvents(state)
  for (const { session, text } of state.agent.background?.takeReports() ?? [])
    yield appendRunLogEntry(state, { kind: 'note', text, subagent: session })
  const isResumable =
    reason === 'awaiting-approval' || (more.fault !== undefined && state.agent.canRetryLater?.(more.fault) === true)
  const entry = isResumable ? undefined : appendRunLogEntry(state, { kind: 'close', prompt: state.prompt, reason })
  await state.agent.session.flush()
  if (entry) yield entry
  const text = more.plan ?? state.lastText
  yield { type: 'run-close', reason, text, session: state.agent.session.id, ...getRunTotals(state), ...more }
}

function findReachedLimit({ agent, signal, turns }: RunState): CloseReason | undefined {
  if (signal.aborted) return getStopReason(signal)
  return agent.limits?.turns !== undefined && turns >= agent.limits.turns ? 'turn-limit' : undefined
}

function* logUserInput(state: RunState, input: RunInput): Generator<RunEvent> {
  for (const call of state.agent.session.pendingCalls)
    yield appendRunLogEntry(state, { kind: 'result', result: createInterruptedResult(call), ms: 0 })
  yield* logLostBackgroundRuns(state)
  yield* appendEnvironmentNote(state.agent)
  yield appendRunLogEntry(state, { kind: 'user', ...input, prompt: state.prompt })
  for (const text of state.promptContext.splice(0)) yield appendRunLogEntry(state, { kind: 'note', text })
}

/**
 * Executes the calls that were waiting when the session was left. A call that was rejected then stays rejected. Have all of
 * them a result now?
 */
async function* resumePendingCalls(state: RunState): AsyncGenerator<RunEvent, boolean> {
  const { agent } = state
  const { session } = agent
  const pending = session.pendingCalls.map(({ call }) => call)
  if (pending.length > 0) {
    const turn = session.turns.findLast(({ role }) => role === 'assistant')
    const rejected = turn?.role === 'assistant' ? splitRunnableCalls(turn).rejected : []
    const ids = new Set(pending.map(({ id }) => id))
    const stillRejected = rejected.filter(({ call }) => ids.has(call.id))
    const results = yield* executeAndMeter(state, pending, stillRejected)
    if (results.length < pending.length) return false
  }
  yield* logLostBackgroundRuns(state)
  yield* appendEnvironmentNote(agent)
  return true
}

/** Subagents in the background end with the process. The model is told once that no report will come. */
function* logLostBackgroundRuns(state: RunState): Generator<RunEvent> {
  const { entries } = state.agent.session
  const reported = new Set(entries.flatMap((entry) => (entry.kind === 'note' ? (entry.subagent ?? []) : [])))
  const lost = entries.filter(
    (entry) => entry.kind === 'subagent' && entry.isBackground && !reported.has(entry.session),
  )
  for (const entry of lost)
    if (entry.kind === 'subagent')
      yield appendRunLogEntry(state, {
        kind: 'note',
        text: `The agent ${entry.name} that worked in the background was interrupted before its report. What it did so far may have had effects.`,
        subagent: entry.session,
      })
}

/** Once per session. Logs of earlier versions do not show whether they have it, so they get it again. */
function* appendEnvironmentNote({ session, describeEnvironment }: AgentContext): Generator<RunEvent> {
  if (!describeEnvironment || hasPinnedNote(session, ENVIRONMENT_TOPIC)) return
  const { text, notices = [] } = describeEnvironment()
  for (const notice of notices) yield { type: 'notice', text: notice }
  yield* appendPinnedNote(session, ENVIRONMENT_TOPIC, text)
}

/** Before each request: handoff, compaction, changes of the tools, plan mode. */
async function* prepareTurn(state: RunState): AsyncGenerator<RunEvent> {
  const handoff = state.agent.takeHandoff?.()
  if (handoff) {
    // The run stays the same: its trace, and the messages that are sent to it.
    const { traceToolRun, takeQueuedMessages } = state.agent
    state.agent = { ...handoff.agent, ...defined({ traceToolRun, takeQueuedMessages }) }
    yield { type: 'handoff', to: handoff.name }
  }
  const { agent } = state
  const { session } = agent
  if ((await needsCompaction(agent)) && countHistoryChars(session.turns) > state.minCompactionChars) {
    yield* compactAndMeter(state)
    state.minCompactionChars = countHistoryChars(session.turns) * MIN_HISTORY_GROWTH
  }
  const toolboxChanges = agent.toolbox.refresh?.()
  for (const notice of toolboxChanges?.notices ?? []) yield { type: 'notice', text: notice }
  const toolChanges = findToolChanges(agent)
  const note = toolboxChanges?.note
  if (note !== undefined || toolChanges)
    yield appendRunLogEntry(state, { kind: 'note', text: note ?? '', ...toolChanges })
  for (const { topic, text } of toolboxChanges?.pinned ?? []) yield* appendPinnedNote(session, topic, text)
  const plan = createPlanModeNote(agent, state.isPlanModeAnnounced)
  if (plan) {
    state.isPlanModeAnnounced = plan.plan
    yield appendRunLogEntry(state, plan)
  }
}

const MIN_HISTORY_GROWTH = 1.2

/** Failed attempts are logged, and count towards the cost. */
async function* requestTurn(state: RunState): AsyncGenerator<RunEvent, FoldedTurn> {
  const { agent, prompt, signal, output, usageMeter } = state
  const { model, session } = agent
  const fold = createTurnFold(model.origin)
  const partial = output && createPartialOutput(output)
  const requests = createRequestLogger(session, prompt)
  const onSent: typeof requests.onSent = (one) => {
    requests.onSent(one)
    agent.toolbox.onRequestSent?.()
    agent.onRequestSent?.()
  }
  const prepareCalls = createCallPreparer(agent)
  const patience = agent.canRetryLater && { maxRetryWaitMs: MAX_WAIT_IN_RUN_MS }
  const options = { turnKey: agent.createId(), signal, onSent, ...patience }
  // Lists are not delegated to with `yield*`: an async generator would wait several times for each, even if it is empty.
  for await (const event of model.stream(createRequest(state), options)) {
    fold.push(event)
    prepareCalls(event)
    for (const one of requests.takeEvents()) yield one
    yield { type: 'turn', event }
    for (const one of takeBackgroundEvents(state)) yield one
    if (partial) for (const one of partial.onEvent(event)) yield one
  }
  const response = fold.end()
  for (const { fault, usage, origin } of response.attempts ?? []) {
    await usageMeter.add(origin, usage)
    if (fault)
      yield appendRunLogEntry(state, {
        kind: 'fault',
        fault: { ...fault },
        prompt,
        ...defined({ usage: usage && { ...usage } }),
      })
  }
  await usageMeter.add(response.turn.origin, response.turn.usage)
  state.turns++
  yield { type: 'budget', ...getRunTotals(state) }
  return response
}

function createRequest({ agent, prompt, output, hasCalled }: RunState): ModelRequest {
  const { model, session } = agent
  return {
    model: model.origin.model,
    system: agent.system,
    tools: getRequestTools(agent),
    turns: takeHistorySnapshot(session.turns),
    session: session.id,
    prompt,
    ...defined({ params: agent.params, providerOptions: agent.providerOptions }),
    ...(agent.diagnoseCache && { diagnoseCache: defined({ previous: findLastResponseId(agent) }) }),
    ...defined({ output: output?.format, toolChoice: relaxToolChoice(agent.toolChoice, hasCalled) }),
  }
}

/** Who can resume the run later should not keep a worker waiting. */
const MAX_WAIT_IN_RUN_MS = 5000

/** A model that must call can never finish. */
function relaxToolChoice(choice: ToolChoice | undefined, hasCalled: boolean): ToolChoice | undefined {
  const isForced = choice === 'required' || (typeof choice === 'object' && 'name' in choice)
  return isForced && hasCalled ? undefined : choice
}

function toSentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`
}

/** The vendor's id of the last response, if the same provider made it. */
function findLastResponseId({ session, model }: AgentContext): string | undefined {
  const last = session.entries.findLast((entry) => entry.kind === 'turn')
  return last?.turn.origin.provider === model.origin.provider ? last.response : undefined
}
