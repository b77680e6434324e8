import type { TurnEvent } from '../../model/event.ts'
import type { Fault, FaultKind } from '../../model/fault.ts'
import type { Request } from '../../model/request.ts'
import { type Clock, systemClock, wait } from '../clock.ts'
import type { ModelPort, Sending } from '../port.ts'
import { spoken } from '../trouble.ts'
import { SILENCE } from '../watch.ts'
import { keyOf, passOn, sentence, wrapped } from './wrapped.ts'

/** How patient a port is; all of it has a default. */
export interface Patience {
  readonly clock?: Clock
  /** From 0 to 1. */
  readonly random?: () => number
  /** How often a model is asked, the first time included. */
  readonly attempts?: number
  /**
   * Milliseconds without progress in all: silence of the model and waits between attempts together. Only a server that
   * asks for more at once gets more.
   */
  readonly total?: number
  /** The longest wait that a server may ask for; beyond it we give up, and say so. */
  readonly longest?: number
}

const DEFAULTS = { clock: systemClock, random: Math.random, attempts: 5, total: SILENCE, longest: 5 * 60_000 }

/**
 * Asks again when asking again may help (T108, T157, T158). Nothing of an answer that did not end well has run, so this
 * is always safe; the front end is told to drop what it has shown.
 */
export function retry(inner: ModelPort, patience: Patience = {}): ModelPort {
  return wrapped(inner, (request, sending) => ask(inner, { ...DEFAULTS, ...patience }, request, sending))
}

async function* ask(
  inner: ModelPort,
  patience: Required<Patience>,
  request: Request,
  sending: Sending,
): AsyncGenerator<TurnEvent> {
  const told = new Set<string>()
  let waited = 0
  let last = 0
  for (let tries = 1; ; tries++) {
    const key = keyOf(sending.key, 'r', tries - 1)
    const silence = Math.max(patience.total - waited, LEAST_SILENCE)
    const finish = yield* passOn(inner.ask(request, { ...sending, key, silence }), told)
    const fault = finish.reason === 'fault' ? finish.fault : undefined
    if (!fault || !WORTHWHILE.has(fault.kind) || sending.signal?.aborted) {
      yield finish
      return
    }
    waited += fault.waited ?? 0
    const next = plan(fault, { tries, waited, last }, patience)
    if (typeof next === 'string') {
      yield next === '' ? finish : { ...finish, fault: { ...fault, message: `${sentence(fault.message)} ${next}` } }
      return
    }
    const message = `${sentence(fault.message)} Asking again in ${spoken(next)} (attempt ${tries + 1}).`
    yield { type: 'warn', warning: { code: 'retry', message } }
    yield { type: 'open', anew: true, attempt: tries + 1, wait: next, fault }
    await wait(patience.clock, next, sending.signal)
    if (sending.signal?.aborted) {
      yield { type: 'finish', reason: 'aborted' }
      return
    }
    waited += next
    last = next
  }
}

const WORTHWHILE = new Set<FaultKind>(['rate', 'server', 'transport', 'decode'])

/** Nobody is there; a moment may change that, but not many. */
const ABSENT = new Set(['ECONNREFUSED', 'ENOTFOUND'])
const ABSENT_ATTEMPTS = 2

/** An attempt that is made at all gets a chance. */
const LEAST_SILENCE = 1000

const FIRST_WAIT = 1000
const LONGEST_OWN_WAIT = 30_000

/** How long to wait before the next attempt, or why there is none. */
function plan(
  fault: Fault,
  { tries, waited, last }: { tries: number; waited: number; last: number },
  { attempts, random, total, longest }: Required<Patience>,
): number | string {
  const asked = fault.retryAfter ?? 0
  if (asked > longest) return `It asks to wait ${spoken(asked)}, which is too long to wait for.`
  const most = ABSENT.has(fault.code ?? '') ? Math.min(attempts, ABSENT_ATTEMPTS) : attempts
  if (tries >= most) return tries === 1 ? '' : `Gave up after ${tries} attempts.`
  const own = Math.min(LONGEST_OWN_WAIT, FIRST_WAIT * 2 ** (tries - 1)) * (0.75 + random() / 2)
  // Many clients are told the same time; those who add a little do not all come back at once.
  const next = Math.round(Math.max(own, asked * (1 + random() / 10), last))
  if (waited + next > Math.max(total, asked * 1.1))
    return tries === 1 ? '' : `Gave up after ${tries} attempts in ${spoken(waited)}.`
  return next
}
