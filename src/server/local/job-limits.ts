import type { Job, QueueLimits } from '../backend.ts'

interface JobLimits {
  set(limits: QueueLimits): void
  /** When the job may start, as far as is known now; `Infinity` if another one must end first. */
  getStartTime(job: Job, running: Iterable<Job>): number
  onStart(job: Job): void
}

/** Counts jobs for each tenant and provider. */
export function createJobLimits(now: () => number): JobLimits {
  const limits = new Map<string, QueueLimits>()
  /** When jobs started during the last minute, for each limit. */
  const starts = new Map<string, number[]>()

  return {
    set(one) {
      limits.set(toKey(one), one)
    },
    getStartTime(job, running) {
      const limit = limits.get(toKey(job))
      if (!limit) return 0
      const count = [...running].filter((one) => toKey(one) === toKey(job)).length
      if (limit.concurrency !== undefined && count >= limit.concurrency) return Infinity
      if (limit.perMinute === undefined) return 0
      const recent = getRecentStarts(starts.get(toKey(job)) ?? [], now())
      return recent.length < limit.perMinute ? 0 : (recent.at(-limit.perMinute) ?? 0) + MINUTE_MS
    },
    onStart(job) {
      if (limits.get(toKey(job))?.perMinute === undefined) return
      starts.set(toKey(job), [...getRecentStarts(starts.get(toKey(job)) ?? [], now()), now()])
    },
  }
}

const MINUTE_MS = 60_000

function getRecentStarts(starts: readonly number[], now: number): readonly number[] {
  return starts.filter((at) => at > now - MINUTE_MS)
}

function toKey({ tenant, provider }: Pick<Job, 'tenant' | 'provider'>): string {
  return `${tenant}/${provider}`
}
