import type { Clock } from '../clock.ts'

/** How long each stage of an answer may take, in milliseconds (T109). */
export interface Timeouts {
  /** Until the answer begins. */
  readonly firstByte: number
  /** Without a single byte, once it has begun. */
  readonly idle: number
  /** Without a frame that says something, though bytes come: comments and pings say nothing. */
  readonly quiet: number
  /** For the whole answer. */
  readonly lifetime: number
}

/** How long a request may go without progress, its attempts and the waits between them together, in milliseconds. */
export const MAX_SILENCE_MS = 5 * 60_000

/**
 * The limits of an answer that may be silent for so long. Some models think for minutes before they say a word; who sends
 * signs of life meanwhile gets twice the time, in two attempts: the time of such an attempt counts half. Once an answer has begun, a connection without any is dead long before.
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

/** The same limits where only so much time without progress is left. */
export function capTimeouts({ firstByte, idle, quiet, lifetime }: Timeouts, left: number): Timeouts {
  return {
    firstByte: Math.min(firstByte, left),
    idle: Math.min(idle, left),
    quiet: Math.min(quiet, 2 * left),
    lifetime,
  }
}

/** The clocks of one answer. */
export interface TimeoutMonitor {
  /** The answer has begun. */
  onHeaders(): void
  /** Bytes came, whatever they are. */
  onBytes(): void
  /** A frame said something. */
  onContent(): void
  /** Milliseconds without progress until now. */
  getSilentMs(): number
  /** The vendor has said its last word; the connection gets a moment to end by itself. */
  startLinger(): void
  stop(): void
}

/** Tells how long there has been no progress, and after how long of that we give up. */
export type WaitListener = (waited: number, limit: number) => void

/** What ran out: one of the limits, or the moment after the last word. */
export type ExpiredTimeout = keyof Timeouts | 'linger'

/** Some servers leave the connection open after the last word of an answer. */
const LINGER_MS = 2000

/** A wait of this length is told of, or of a quarter of what is allowed; and again when it is twice as long, and so on. */
const MIN_REPORTED_WAIT_MS = 10_000

/** Starts the clocks of one answer; the first one that runs out is told, once. */
export function startTimeoutMonitor(
  clock: Clock,
  limits: Timeouts,
  expired: (which: ExpiredTimeout) => void,
  report: WaitListener = () => undefined,
): TimeoutMonitor {
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

  /** Like `listen`, it is set again only when it goes off. */
  function reportWait(): void {
    const waited = clock.now() - last.quiet
    if (waited >= nextReport) {
      nextReport *= 2
      const silent = last.idle + limits.idle - last.quiet
      report(waited, hasBegun ? Math.min(silent, limits.quiet) : limits.firstByte)
    }
    cancelReport = clock.schedule(nextReport - waited, reportWait)
  }

  /** A timer for each frame would cost more than the frame: it is set again only when it goes off too early. */
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
