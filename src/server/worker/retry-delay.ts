import type { Fault } from '../../model/fault.ts'
import type { Entry } from '../../session/log/entry.ts'
import { listRecentFaults } from './session-progress.ts'

/** When a prompt is tried again after a rate limit or a quota fault. */
export interface RetryOptions {
  /** The first wait after a rate limit; each further one is twice as long. */
  readonly rateMs?: number
  /** The same after a quota that is used up. */
  readonly quotaMs?: number
  readonly maxDelayMs?: number
  /** How long a prompt is tried again before it ends with the fault. */
  readonly giveUpMs?: number
}

/** How long to wait before the same request is sent again; undefined if it would fail again, or was tried for too long. */
export function getRetryDelay(
  fault: Fault,
  entries: readonly Entry[],
  now: number,
  { rateMs = 15_000, quotaMs = 300_000, maxDelayMs = 3_600_000, giveUpMs = 86_400_000 }: RetryOptions = {},
): number | undefined {
  // Our own limits do not go away by waiting.
  if ((fault.kind !== 'rate' && fault.kind !== 'quota') || fault.code === 'budget') return undefined
  const faults = listRecentFaults(entries)
  if (now - (faults[0]?.at ?? now) > giveUpMs) return undefined
  const first = fault.kind === 'rate' ? rateMs : quotaMs
  const delay = Math.min(first * 2 ** Math.min(Math.max(faults.length - 1, 0), 20), maxDelayMs)
  return Math.max(delay, fault.retryAfter ?? 0)
}
