import type { Fault } from '../model/fault.ts'
import { type Folded, runnable, startFold } from '../model/fold.ts'
import type { UserTurn } from '../model/turn.ts'
import { interrupted } from '../session/repair.ts'
import { StoreProblem } from '../session/store/store.ts'
import type { Agent } from './agent.ts'
import { carryOut } from './carry-out.ts'
import { historyLength, isTooLong } from './compact.ts'
import { startDeadline, stoppedBy } from './deadline.ts'
import { handleResponse } from './handle-response.ts'
import { ENVIRONMENT, isStated, statePinned } from './pinned.ts'
import { planNote } from './plan-note.ts'
import { requestLogger } from './request-log.ts'
import type { CloseReason, RunEvent } from './run-event.ts'
import { createRunState, logEntry, type RunEnd, type RunState, shrinkHistory } from './run-state.ts'

/**
 * Works on a prompt until it is done: asks the model, executes its calls, and asks again. It goes on as long as there are
 * calls, whatever the vendor's label says. There is no other loop.
 *
 * `own` holds the words of the person, where the input also holds words of others.
 *
 * Without `input` it goes on with calls that were waiting for an answer when the session was left. If the log cannot be
 * written, it stops there: nothing is done that is not on record.
 */
export async function* run(
  agent: Agent,
  input: UserTurn['parts'] | undefined,
  signal: AbortSignal = new AbortController().signal,
  own?: string,
): AsyncGenerator<RunEvent> {
  const deadline = startDeadline(agent, signal)
  try {
    yield* runTurns(agent, input && { parts: input, ...(own !== undefined && { own }) }, deadline.signal)
  } catch (error) {
    if (!(error instanceof StoreProblem)) throw error
    const fault: Fault = { kind: 'invalid', code: 'unsaved', message: sentence(error.message) }
    yield { type: 'run-close', reason: 'unsaved', text: '', fault }
  } finally {
    deadline.callOff()
  }
}

interface Input {
  readonly parts: UserTurn['parts']
  readonly own?: string
}

async function* runTurns(agent: Agent, input: Input | undefined, signal: AbortSignal): AsyncGenerator<RunEvent> {
  const { session, model } = agent
  const prompt = `${session.id}#${session.prompts + (input ? 1 : 0)}`
  const state = createRunState(agent, prompt, signal)
  yield { type: 'run-open', session: session.id, prompt, model: model.origin.model, provider: model.origin.provider }
  yield* input ? startWithInput(state, input) : resumePending(state)
  for (let turn = 1; ; turn++) {
    const limit = limitReached(state, turn)
    if (limit) return yield* closeRun(state, { reason: limit })
    yield* prepareTurn(state)
    const started = agent.clock.now()
    const response = yield* requestTurn(state, turn)
    const end = yield* handleResponse(state, response, agent.clock.now() - started)
    if (end) return yield* closeRun(state, end)
  }
}

async function* closeRun(state: RunState, { reason, ...more }: RunEnd): AsyncGenerator<RunEvent> {
  const entry = logEntry(state, { kind: 'close', prompt: state.prompt, reason })
  await state.agent.session.saved()
  yield entry
  yield { type: 'run-close', reason, text: more.plan ?? state.text, ...more }
}

function limitReached({ agent, signal }: RunState, turn: number): CloseReason | undefined {
  if (signal.aborted) return stoppedBy(signal)
  return agent.limits?.turns !== undefined && turn > agent.limits.turns ? 'turn-limit' : undefined
}

function* startWithInput(state: RunState, input: Input): Generator<RunEvent> {
  for (const call of state.agent.session.pending)
    yield logEntry(state, { kind: 'result', result: interrupted(call), ms: 0 })
  yield* stateEnvironment(state.agent)
  yield logEntry(state, { kind: 'user', ...input, prompt: state.prompt })
}

/** Executes the calls that were waiting when the session was left. What was not to run then is not to run now. */
async function* resumePending({ agent, signal }: RunState): AsyncGenerator<RunEvent> {
  const { session } = agent
  const pending = session.pending.map(({ call }) => call)
  if (pending.length > 0) {
    const turn = session.turns.findLast(({ role }) => role === 'assistant')
    const rejected = turn?.role === 'assistant' ? runnable(turn).rejected : []
    const ids = new Set(pending.map(({ id }) => id))
    yield* carryOut(
      agent,
      pending,
      rejected.filter(({ call }) => ids.has(call.id)),
      signal,
    )
  }
  yield* stateEnvironment(agent)
}

/** A session states its environment once; one of an earlier version, whose log does not tell, states it again. */
function* stateEnvironment({ session, environment }: Agent): Generator<RunEvent> {
  if (!environment || isStated(session, ENVIRONMENT)) return
  const { text, notices = [] } = environment()
  for (const notice of notices) yield { type: 'notice', text: notice }
  yield* statePinned(session, ENVIRONMENT, text)
}

/** What must be done or told before the next request: a history that is too long, tools that came or went, plan mode. */
async function* prepareTurn(state: RunState): AsyncGenerator<RunEvent> {
  const { agent } = state
  const { session } = agent
  if ((await isTooLong(agent)) && historyLength(session.turns) > state.longEnough) {
    yield* shrinkHistory(state)
    state.longEnough = historyLength(session.turns) * GROWTH
  }
  const news = agent.toolbox.refresh?.()
  for (const notice of news?.notices ?? []) yield { type: 'notice', text: notice }
  if (news?.note !== undefined) yield logEntry(state, { kind: 'note', text: news.note })
  for (const { topic, text } of news?.pinned ?? []) yield* statePinned(session, topic, text)
  const plan = planNote(agent, state.isPlanTold)
  if (plan) {
    state.isPlanTold = plan.plan
    yield logEntry(state, plan)
  }
}

const GROWTH = 1.2

/** Requests a response from the model. Attempts that failed are logged and cost as well. */
async function* requestTurn(state: RunState, turn: number): AsyncGenerator<RunEvent, Folded> {
  const { prompt, spending } = state
  const response = yield* sendRequest(state)
  for (const { fault, usage, origin } of response.attempts ?? []) {
    await spending.add(origin, usage)
    if (fault)
      yield logEntry(state, { kind: 'fault', fault: { ...fault }, prompt, ...(usage && { usage: { ...usage } }) })
  }
  await spending.add(response.turn.origin, response.turn.usage)
  yield spending.event(turn)
  return response
}

async function* sendRequest({ agent, prompt, signal }: RunState): AsyncGenerator<RunEvent, Folded> {
  const { model, session } = agent
  const fold = startFold(model.origin)
  const request = {
    model: model.origin.model,
    system: agent.system,
    tools: agent.toolbox.specs,
    turns: session.turns,
    session: session.id,
    prompt,
    ...(agent.params && { params: agent.params }),
  }
  const requests = requestLogger(session, prompt)
  const sent: typeof requests.sent = (one) => {
    requests.sent(one)
    agent.toolbox.begin?.()
  }
  for await (const event of model.ask(request, { key: agent.mint(), signal, sent })) {
    fold.push(event)
    yield* requests.logged()
    yield { type: 'turn', event }
  }
  return fold.end()
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`
}
