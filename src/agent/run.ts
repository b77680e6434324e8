import { type Folded, runnable, startFold } from '../model/fold.ts'
import { textOf } from '../model/text.ts'
import type { AssistantTurn, UserTurn } from '../model/turn.ts'
import { addUsage, NO_USAGE, type Usage } from '../model/usage.ts'
import { interrupted } from '../session/repair.ts'
import type { EntryBody } from '../session/entry.ts'
import type { Agent } from './agent.ts'
import { carryOut } from './carry-out.ts'
import { compact, isTooLong } from './compact.ts'
import { startLoopWatch } from './loop-watch.ts'
import type { CloseReason, RunEvent } from './run-event.ts'

/**
 * Works on what a person said until it is done: asks the model, carries out its calls, and asks again. It goes on as
 * long as there are calls, whatever the vendor's label says. There is no other loop.
 *
 * Without `said` it goes on with calls that were waiting for an answer when the session was left.
 */
export async function* run(
  agent: Agent,
  said: UserTurn['parts'] | undefined,
  signal: AbortSignal = new AbortController().signal,
): AsyncGenerator<RunEvent> {
  const { session, model, clock } = agent
  const prompt = `${session.id}#${session.prompts + (said ? 1 : 0)}`
  const started = clock.now()
  const loops = startLoopWatch()
  let usage: Usage = NO_USAGE
  let nudges = 0
  let text = ''

  const log = (body: EntryBody): RunEvent => ({ type: 'entry', entry: session.append(body) })
  function* close(
    reason: CloseReason,
    more: { fault?: NonNullable<AssistantTurn['finish']['fault']> } = {},
  ): Generator<RunEvent> {
    yield log({ kind: 'close', prompt, reason })
    yield { type: 'run-close', reason, text, ...more }
  }

  yield { type: 'run-open', session: session.id, prompt, model: model.origin.model, provider: model.origin.provider }
  const waiting = session.pending.map(({ call }) => call)
  if (said) {
    for (const call of session.pending) yield log({ kind: 'result', result: interrupted(call), ms: 0 })
    yield log({ kind: 'user', parts: said, prompt })
  } else if (waiting.length > 0) yield* carryOut(agent, waiting, [], signal)

  for (let turns = 1; ; turns++) {
    if (signal.aborted) return yield* close('cancelled')
    if (agent.limits?.turns !== undefined && turns > agent.limits.turns) return yield* close('turn-limit')
    if (agent.limits?.ms !== undefined && clock.now() - started > agent.limits.ms) return yield* close('time-limit')
    if (isTooLong(agent)) yield* compact(agent, signal)

    const before = clock.now()
    const { turn, warnings, attempts = [] } = yield* ask(agent, prompt, signal)
    // Attempts that failed cost as well.
    for (const spent of [...attempts, turn]) if (spent.usage) usage = addUsage(usage, spent.usage)
    yield { type: 'budget', usage, turns }
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
      return yield* close('cancelled')
    }
    if (reason === 'fault' && fault) {
      yield log({ kind: 'fault', fault: JSON.parse(JSON.stringify(fault)), prompt })
      return yield* close('fault', { fault })
    }
    const empty = calls.length + rejected.length === 0 && text.trim() === ''
    const malformed = reason === 'malformed-call' && calls.length === 0
    if ((empty && reason !== 'filter') || malformed) {
      // Such an answer is never kept: a history with it in it would be refused, or copied (T08, T57, T124).
      if (nudges++ >= MAX_NUDGES)
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
    yield log({ kind: 'turn', turn, prompt, ms: clock.now() - before, ...(warnings.length > 0 && { warnings }) })
    const order = turn.parts.filter((part) => part.kind === 'call')
    if (order.length === 0) {
      const more = agent.inbox?.() ?? []
      if (more.length === 0) return yield* close('done')
      for (const parts of more) yield log({ kind: 'user', parts, prompt })
      continue
    }
    const results = yield* carryOut(agent, order, rejected, signal)
    if (signal.aborted) return yield* close('cancelled')
    const again = loops.seen(order, results)
    if (again === 'stop') return yield* close('loop')
    if (again === 'tell') yield log({ kind: 'note', text: REPEATED })
    for (const parts of agent.inbox?.() ?? []) yield log({ kind: 'user', parts, prompt })
  }
}

const MAX_NUDGES = 2

const MALFORMED =
  'Your last answer held a call that could not be read. Make the call again, natively, with arguments that are one JSON object. Write no code around it.'

const EMPTY = 'Your last answer was empty. Go on with the task; if it is done, say so in a sentence.'

const REPEATED =
  'You have made the same call with the same arguments several times, and it gave the same result. Do something else, or say what keeps you from it.'

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
  for await (const event of model.ask(request, { key: agent.mint(), signal })) {
    fold.push(event)
    yield { type: 'turn', event }
  }
  return fold.end()
}
