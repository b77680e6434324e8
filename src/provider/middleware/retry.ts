import type { TurnEvent } from '../../model/event.ts'
import type { Fault, FaultKind } from '../../model/fault.ts'
import type { ModelRequest } from '../../model/request.ts'
import { type Clock, systemClock, sleep } from '../clock.ts'
import type { Model, RequestOptions } from '../model.ts'
import { formatDuration } from '../http/transport-faults.ts'
import { MAX_SILENCE_MS } from '../http/timeouts.ts'
import { endWithPeriod } from '../../model/text.ts'
import { deriveAttemptKey, forwardEvents, wrapModel } from './wrap-model.ts'

/** How patient a port is; all of it has a default. */
export interface RetryOptions {
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

const DEFAULT_RETRY_OPTIONS = {
  clock: systemClock,
  random: Math.random,
  attempts: 5,
  total: MAX_SILENCE_MS,
  longest: 5 * 60_000,
}

/**
 * Asks again when asking again may help (T108, T157, T158). Nothing of an answer that did not end well has run, so this
 * is always safe; the front end is told to drop what it has shown.
 */
export function withRetry(inner: Model, retryOptions: RetryOptions = {}): Model {
  return wrapModel(inner, (request, options) =>
    streamWithRetry(inner, { ...DEFAULT_RETRY_OPTIONS, ...retryOptions }, request, options),
  )
}

async function* streamWithRetry(
  inner: Model,
  retryOptions: Required<RetryOptions>,
  request: ModelRequest,
  options: RequestOptions,
): AsyncGenerator<TurnEvent> {
  const reportedWarnings = new Set<string>()
  let waited = 0
  let last = 0
  for (let tries = 1; ; tries++) {
    const key = deriveAttemptKey(options.turnKey, 'r', tries - 1)
    const silence = Math.max(retryOptions.total - waited, MIN_SILENCE_MS)
    const finish = yield* forwardEvents(
      inner.stream(request, { ...options, turnKey: key, maxSilenceMs: silence }),
      reportedWarnings,
    )
    const fault = finish.reason === 'fault' ? finish.fault : undefined
    if (!fault || !RETRYABLE_KINDS.has(fault.kind) || options.signal?.aborted) {
      yield finish
      return
    }
    waited += fault.waited ?? 0
    const next = planRetry(fault, { tries, waited, last }, retryOptions)
    if (typeof next === 'string') {
      yield next === ''
        ? finish
        : { ...finish, fault: { ...fault, message: `${endWithPeriod(fault.message)} ${next}` } }
      return
    }
    const message = `${endWithPeriod(fault.message)} Retrying in ${formatDuration(next)} (attempt ${tries + 1}).`
    yield { type: 'warn', warning: { code: 'retry', message } }
    yield { type: 'open', anew: true, attempt: tries + 1, wait: next, fault }
    await sleep(retryOptions.clock, next, options.signal)
    if (options.signal?.aborted) {
      yield { type: 'finish', reason: 'aborted' }
      return
    }
    waited += next
    last = next
  }
}

const RETRYABLE_KINDS = new Set<FaultKind>(['rate', 'server', 'transport', 'decode'])

/** Nobody is there; a moment may change that, but not many. */
const UNREACHABLE_CODES = new Set(['ECONNREFUSED', 'ENOTFOUND'])
const MAX_UNREACHABLE_ATTEMPTS = 2

/** An attempt that is made at all gets a chance. */
const MIN_SILENCE_MS = 1000

const FIRST_WAIT_MS = 1000
const MAX_BACKOFF_MS = 30_000

/** How long to wait before the next attempt, or why there is none. */
function planRetry(
  fault: Fault,
  { tries, waited, last }: { tries: number; waited: number; last: number },
  { attempts, random, total, longest }: Required<RetryOptions>,
): number | string {
  const requestedWait = fault.retryAfter ?? 0
  if (requestedWait > longest)
    return `The server asks to wait ${formatDuration(requestedWait)}, which is longer than the limit.`
  const maxAttempts = UNREACHABLE_CODES.has(fault.code ?? '') ? Math.min(attempts, MAX_UNREACHABLE_ATTEMPTS) : attempts
  if (tries >= maxAttempts) return tries === 1 ? '' : `Gave up after ${tries} attempts.`
  const backoff = Math.min(MAX_BACKOFF_MS, FIRST_WAIT_MS * 2 ** (tries - 1)) * (0.75 + random() / 2)
  // Many clients are told the same time; those who add a little do not all come back at once.
  const next = Math.round(Math.max(backoff, requestedWait * (1 + random() / 10), last))
  if (waited + next > Math.max(total, requestedWait * 1.1))
    return tries === 1 ? '' : `Gave up after ${tries} attempts in ${formatDuration(waited)}.`
  return next
}
