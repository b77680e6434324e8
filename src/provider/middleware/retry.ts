import type { TurnEvent } from '../../model/event.ts'
import type { Fault, FaultKind } from '../../model/fault.ts'
import type { ModelRequest } from '../../model/request.ts'
import { type Clock, systemClock, sleep } from '../clock.ts'
import type { Model, RequestOptions } from '../model.ts'
import { formatDuration } from '../http/transport-faults.ts'
import { MAX_SILENCE_MS } from '../http/timeouts.ts'
import { endWithPeriod } from '../../model/text.ts'
import { createAttempt, deriveAttemptKey, wrapModel } from './wrap-model.ts'

/** All options have a default. */
export interface RetryOptions {
  readonly clock?: Clock
  /** From 0 to 1. */
  readonly random?: () => number
  /** Including the first one. */
  readonly attempts?: number
  /** Milliseconds without progress, over all attempts and waits. A server that asks for a longer wait gets it. */
  readonly total?: number
  /** The longest wait that a server may ask for. */
  readonly longest?: number
}

const DEFAULTS = { clock: systemClock, random: Math.random, attempts: 5, total: MAX_SILENCE_MS, longest: 5 * 60_000 }

/** Retries temporary faults (T108, T157, T158). This is safe: no call of a failed response has run. */
export function withRetry(inner: Model, retryOptions: RetryOptions = {}): Model {
  const allOptions = { ...DEFAULTS, ...retryOptions }
  return wrapModel(inner, (request, options) => streamWithRetry(inner, allOptions, request, options))
}

async function* streamWithRetry(
  inner: Model,
  retryOptions: Required<RetryOptions>,
  request: ModelRequest,
  options: RequestOptions,
): AsyncGenerator<TurnEvent> {
  const longest = Math.min(retryOptions.longest, options.maxRetryWaitMs ?? Infinity)
  const reportedWarnings = new Set<string>()
  let waited = 0
  let last = 0
  for (let tries = 1; ; tries++) {
    const key = deriveAttemptKey(options.turnKey, 'r', tries - 1)
    const silence = Math.max(retryOptions.total - waited, MIN_SILENCE_MS)
    const attempt = createAttempt(reportedWarnings)
    for await (const event of inner.stream(request, { ...options, turnKey: key, maxSilenceMs: silence }))
      if (attempt.isForwarded(event)) yield event
    const finish = attempt.getFinish()
    const fault = finish.reason === 'fault' ? finish.fault : undefined
    if (!fault || !isRetryable(fault) || options.signal?.aborted) {
      yield finish
      return
    }
    waited += fault.waited ?? 0
    const next = planRetry(fault, { tries, waited, last }, { ...retryOptions, longest })
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

/** A vendor may forbid it; it cannot make us repeat a request that is wrong. */
export function isRetryable({ kind, shouldRetry = true }: Fault): boolean {
  return IS_RETRYABLE[kind] && shouldRetry
}

const IS_RETRYABLE: Readonly<Record<FaultKind, boolean>> = {
  auth: false,
  rate: true,
  quota: false,
  overflow: false,
  invalid: false,
  policy: false,
  server: true,
  transport: true,
  decode: true,
}

/** A server that is not there may start in a moment. */
const UNREACHABLE_CODES = new Set(['ECONNREFUSED', 'ENOTFOUND'])
const MAX_UNREACHABLE_ATTEMPTS = 2

/** The least time for any attempt. */
const MIN_SILENCE_MS = 1000

const FIRST_WAIT_MS = 1000
const MAX_BACKOFF_MS = 30_000

/** The wait before the next attempt in milliseconds, or why there is none. */
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
  // Many clients get the same time; a random addition keeps them from coming back at once.
  const next = Math.round(Math.max(backoff, requestedWait * (1 + random() / 10), last))
  if (waited + next > Math.max(total, requestedWait * 1.1))
    return tries === 1 ? '' : `Gave up after ${tries} attempts in ${formatDuration(waited)}.`
  return next
}
