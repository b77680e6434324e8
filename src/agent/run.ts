import type { Fault } from '../model/fault.ts'
import { type Folded, runnable, startFold } from '../model/fold.ts'
import type { JsonObject } from '../model/json.ts'
import { textOf } from '../model/text.ts'
import type { CallPart, FinishReason, UserTurn } from '../model/turn.ts'
import { interrupted } from '../session/repair.ts'
import type { EntryBody } from '../session/entry.ts'
import { StoreProblem } from '../session/store/store.ts'
import type { Agent } from './agent.ts'
import { carryOut } from './carry-out.ts'
import { compact, historyLength, isTooLong } from './compact.ts'
import { startDeadline, stoppedBy } from './deadline.ts'
import { startLoopWatch } from './loop-watch.ts'
import { ENVIRONMENT, isStated, statePinned } from './pinned.ts'
import { isPlanTold, planNote } from './plan-note.ts'
import { requestLogger } from './request-log.ts'
import type { CloseReason, RunEvent } from './run-event.ts'
import { startSpending } from './spending.ts'

/**
 * Works on what a person said until it is done: asks the model, carries out its calls, and asks again. It goes on as
 * long as there are calls, whatever the vendor's label says. There is no other loop.
 *
 * `own` are the words of the person, where what was said also holds words of others.
 *
 * Without `said` it goes on with calls that were waiting for an answer when the session was left. If the log cannot be
 * written, it stops there: nothing is done that is not on record.
 */
export async function* run(
  agent: Agent,
  said: UserTurn['parts'] | undefined,
  signal: AbortSignal = new AbortController().signal,
  own?: string,
): AsyncGenerator<RunEvent> {
  const deadline = startDeadline(agent, signal)
  try {
    yield* work(agent, said, deadline.signal, own)
  } catch (error) {
    if (!(error instanceof StoreProblem)) throw error
    const fault: Fault = { kind: 'invalid', code: 'unsaved', message: sentence(error.message) }
    yield { type: 'run-close', reason: 'unsaved', text: '', fault }
  } finally {
    deadline.callOff()
  }
}

async function* work(
  agent: Agent,
  said: UserTurn['parts'] | undefined,
  signal: AbortSignal,
  own: string | undefined,
): AsyncGenerator<RunEvent> {
  const { session, model, clock } = agent
  const prompt = `${session.id}#${session.prompts + (said ? 1 : 0)}`
  const loops = startLoopWatch()
  const spending = startSpending(agent)
  let nudges = 0
  let squeezed = false
  /** No further summary is paid for before there is clearly more to summarise. */
  let enough = 0
  let text = ''
  /** Does the model know that it is to make a plan? */
  let isPlanOn = isPlanTold(session)

  const log = (body: EntryBody): RunEvent => {
    return { type: 'entry', entry: session.append(body) }
  }
  async function* close(reason: CloseReason, more: { fault?: Fault; plan?: string } = {}): AsyncGenerator<RunEvent> {
    const closed = log({ kind: 'close', prompt, reason })
    await session.saved()
    yield closed
    yield { type: 'run-close', reason, text, ...more }
  }

  yield { type: 'run-open', session: session.id, prompt, model: model.origin.model, provider: model.origin.provider }
  const waiting = session.pending.map(({ call }) => call)
  if (said) {
    for (const call of session.pending) yield log({ kind: 'result', result: interrupted(call), ms: 0 })
    yield* stateEnvironment(agent)
    yield log({ kind: 'user', parts: said, prompt, ...(own !== undefined && { own }) })
  } else {
    if (waiting.length > 0) {
      // What was not to run then is not to run now.
      const made = session.turns.findLast((turn) => turn.role === 'assistant')
      const unfit = made ? runnable(made).rejected : []
      const open = new Set(waiting.map(({ id }) => id))
      const rejected = unfit.filter(({ call }) => open.has(call.id))
      yield* carryOut(agent, waiting, rejected, signal)
    }
    yield* stateEnvironment(agent)
  }

  for (let turns = 1; ; turns++) {
    if (signal.aborted) return yield* close(stoppedBy(signal))
    if (agent.limits?.turns !== undefined && turns > agent.limits.turns) return yield* close('turn-limit')
    if ((await isTooLong(agent)) && historyLength(session.turns) > enough) {
      const summed = yield* compact(agent, prompt, signal)
      if (summed) await spending.add(summed.origin, summed.usage)
      enough = historyLength(session.turns) * MORE
      isPlanOn = isPlanTold(session)
    }

    const news = agent.toolbox.refresh?.()
    for (const notice of news?.notices ?? []) yield { type: 'notice', text: notice }
    if (news?.note !== undefined) yield log({ kind: 'note', text: news.note })
    for (const { topic, text: words } of news?.pinned ?? []) yield* statePinned(session, topic, words)

    const plan = planNote(agent, isPlanOn)
    if (plan) {
      isPlanOn = plan.plan
      yield log(plan)
    }

    const before = clock.now()
    const { turn, warnings, attempts = [] } = yield* ask(agent, prompt, signal)
    // Attempts that failed cost as well.
    for (const { fault: why, usage, origin } of attempts) {
      await spending.add(origin, usage)
      if (why) yield log({ kind: 'fault', fault: toJson(why), prompt, ...(usage && { usage: { ...usage } }) })
    }
    await spending.add(turn.origin, turn.usage)
    yield spending.event(turns)
    const paid = turn.usage ? { usage: { ...turn.usage } } : {}
    const { calls, rejected } = runnable(turn)
    const { reason, fault } = turn.finish
    text = textOf(turn.parts)

    if (reason === 'aborted' || signal.aborted) {
      // What was said stays; calls of an answer that did not end never ran, and leave no trace.
      const parts = turn.parts.filter((part) => part.kind === 'text' && part.text !== '')
      if (parts.length > 0)
        yield log({
          kind: 'turn',
          turn: { ...turn, parts, finish: { reason: 'aborted' } },
          prompt,
          ms: clock.now() - before,
        })
      return yield* close(stoppedBy(signal))
    }
    if (reason === 'fault' && fault) {
      yield log({ kind: 'fault', fault: toJson(fault), prompt, ...paid })
      // A history that does not fit is summarised, once; to send it again would not help (T159).
      if (fault.kind === 'overflow' && !squeezed) {
        const held = summaries(agent)
        const summed = yield* compact(agent, prompt, signal)
        if (summed) await spending.add(summed.origin, summed.usage)
        squeezed = summaries(agent) > held
        isPlanOn = isPlanTold(session)
        if (squeezed) continue
      }
      return yield* close(fault.code === 'budget' ? 'cost-limit' : 'fault', { fault })
    }
    const empty = calls.length + rejected.length === 0 && text.trim() === ''
    const malformed = reason === 'malformed-call' && calls.length === 0
    if ((empty && reason !== 'filter') || malformed) {
      // Such an answer is never kept: a history with it in it would be refused, or copied (T08, T57, T124).
      const message = malformed ? 'The model made a malformed call.' : 'The model gave an empty answer.'
      yield log({ kind: 'fault', fault: { kind: 'decode', message }, prompt, ...paid })
      if (nudges++ >= MAX_NUDGES && isCut(reason)) return yield* close(reason)
      if (nudges > MAX_NUDGES)
        return yield* close('fault', {
          fault: {
            kind: 'decode',
            message: malformed ? 'The model keeps making malformed calls.' : 'The model keeps giving empty answers.',
          },
        })
      yield log({ kind: 'note', text: malformed ? MALFORMED : EMPTY })
      continue
    }
    nudges = 0
    squeezed = false
    yield log({ kind: 'turn', turn, prompt, ms: clock.now() - before, ...(warnings.length > 0 && { warnings }) })
    const order = turn.parts.filter((part) => part.kind === 'call')
    if (order.length === 0) {
      const more = agent.inbox?.() ?? []
      if (more.length === 0) return yield* close(isCut(reason) ? reason : 'done')
      for (const parts of more) yield log({ kind: 'user', parts, prompt })
      continue
    }
    const results = yield* carryOut(agent, order, rejected, signal)
    const unread = agent.ask ? undefined : planOf(agent, order)
    if (unread !== undefined) {
      // Nobody is there to approve it: the plan is what came of the run.
      text = unread
      return yield* close('done', { plan: unread })
    }
    if (signal.aborted) return yield* close(stoppedBy(signal))
    const again = loops.seen(order, results)
    if (again === 'stop') return yield* close('loop')
    if (again === 'tell') yield log({ kind: 'note', text: REPEATED })
    for (const parts of agent.inbox?.() ?? []) yield log({ kind: 'user', parts, prompt })
  }
}

/** A session says once where it is; one of an earlier version, whose log does not tell, says it again. */
function* stateEnvironment({ session, environment }: Agent): Generator<RunEvent> {
  if (!environment || isStated(session, ENVIRONMENT)) return
  const { text, notices = [] } = environment()
  for (const notice of notices) yield { type: 'notice', text: notice }
  yield* statePinned(session, ENVIRONMENT, text)
}

/** Was an answer cut off or withheld by the vendor, so that it is not whole? */
function isCut(reason: FinishReason): reason is 'length' | 'filter' {
  return reason === 'length' || reason === 'filter'
}

/** The plan that was made in this turn, in plan mode. */
function planOf({ mode, toolbox, folders }: Agent, calls: readonly CallPart[]): string | undefined {
  if (mode?.get() !== 'plan') return undefined
  const call = calls.find(({ name, input = {} }) => {
    const found = toolbox.find(name)
    return 'tool' in found && found.tool.effects(input, folders).some(({ kind }) => kind === 'plan')
  })
  const plan = call?.input?.['plan']
  return typeof plan === 'string' && plan.trim() !== '' ? plan : undefined
}

function summaries({ session }: Agent): number {
  return session.entries.filter((entry) => entry.kind === 'compact').length
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`
}

const MAX_NUDGES = 2
const MORE = 1.2

const MALFORMED =
  'Your last answer held a call that could not be read. Make the call again, natively, with arguments that are one JSON object. Write no code around it.'

const EMPTY = 'Your last answer was empty. Go on with the task; if it is done, say so in a sentence.'

const REPEATED =
  'You have made the same calls with the same arguments several times. Do something else; if you wait for something, wait longer at a time; or say what keeps you from it.'

/** Asks the model once. */
async function* ask(agent: Agent, prompt: string, signal: AbortSignal): AsyncGenerator<RunEvent, Folded> {
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

function toJson(fault: Fault): JsonObject {
  return { ...fault }
}
