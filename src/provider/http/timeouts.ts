import type { Clock } from '../clock.ts'

/** How long each stage of a response may take, in milliseconds (T109). */
export interface Timeouts {
  /** Until the response headers. */
  readonly firstByte: number
  /** Without any byte. */
  readonly idle: number
  /** Without content, though bytes come: comments and pings are not content. */
  readonly quiet: number
  /** For the whole response. */
  readonly lifetime: number
}

/** How long a request may go without progress, over all attempts and the waits between them. */
export const MAX_SILENCE_MS = 5 * 60_000

/**
 * Some models reason for minutes before the first content. A server that sends keep-alives meanwhile gets twice the
 * time, in two attempts, so `quiet` time counts half. Without any byte, a connection is dead much earlier.
 */
export function createTimeouts(silence: number): Timeouts {
  return {
    firstByte: silence,
    idle: Math.min(silence, 120_000),
    quiet: silence,
    lifetime: Math.max(60 * 60_000, 2 * silence),
  }
}

export const DEFAULT_TIMEOUTS: Timeouts = createTimeouts(MAX_SILENCE_MS)

/** The limits if only `left` milliseconds without progress remain. */
export function capTimeouts({ firstByte, idle, quiet, lifetime }: Timeouts, left: number): Timeouts {
  return {
    firstByte: Math.min(firstByte, left),
    idle: Math.min(idle, left),
    quiet: Math.min(quiet, 2 * left),
    lifetime,
  }
}

export type TimeoutMonitor = ReturnType<typeof startTimeoutMonitor>

type ExpiredTimeout = keyof Timeouts | 'linger'

/** Some servers leave the connection open after the last frame. */
const LINGER_MS = 2000

/** The first wait that is reported, or a quarter of the limit; then at twice the time, and so on. */
const MIN_REPORTED_WAIT_MS = 10_000

/** Starts the timers of one response; the first that expires is reported, once. `report` gets waits without progress. */
export function startTimeoutMonitor(
  clock: Clock,
  limits: Timeouts,
  expired: (which: ExpiredTimeout) => void,
  report: (waited: number, limit: number) => void = () => undefined,
) {
  const last = { idle: clock.now(), quiet: clock.now() }
  let isStopped = false
  const expire = (which: ExpiredTimeout): void => {
    if (isStopped) return
    isStopped = true
    expired(which)
  }
  let hasBegun = false
  const first = Math.min(MIN_REPORTED_WAIT_MS, limits.firstByte / 4)
  let nextReport = first
  let cancelReport = clock.schedule(nextReport, reportWait)
  const cancelLifetime = clock.schedule(limits.lifetime, () => expire('lifetime'))
  let cancelStage = clock.schedule(limits.firstByte, () => expire('firstByte'))

  /** Like `checkSilence`, it is rescheduled only when it fires. */
  function reportWait(): void {
    const waited = clock.now() - last.quiet
    if (waited >= nextReport) {
      nextReport *= 2
      const silent = last.idle + limits.idle - last.quiet
      report(waited, hasBegun ? Math.min(silent, limits.quiet) : limits.firstByte)
    }
    cancelReport = clock.schedule(nextReport - waited, reportWait)
  }

  /** A timer for each frame would cost more than the frame, so it is rescheduled only when it fires too early. */
  function checkSilence(): void {
    const left = (which: keyof typeof last): number => last[which] + limits[which] - clock.now()
    const [idle, quiet] = [left('idle'), left('quiet')]
    if (quiet <= 0) expire('quiet')
    else if (idle <= 0) expire('idle')
    else cancelStage = clock.schedule(Math.min(idle, quiet), checkSilence)
  }

  return {
    onHeaders() {
      cancelStage()
      hasBegun = true
      last.idle = last.quiet = clock.now()
      checkSilence()
    },
    onBytes() {
      last.idle = clock.now()
    },
    onContent() {
      last.quiet = clock.now()
      nextReport = first
    },
    getSilentMs: () => Math.round(clock.now() - last.quiet),
    /** The last frame has come; the connection gets a moment to close by itself. */
    startLinger() {
      cancelReport()
      cancelStage()
      cancelStage = clock.schedule(LINGER_MS, () => expire('linger'))
    },
    stop() {
      isStopped = true
      cancelLifetime()
      cancelStage()
      cancelReport()
    },
  }
}
