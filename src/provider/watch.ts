import type { Clock } from './clock.ts'

/** How long each stage of an answer may take, in milliseconds (T109). */
export interface Limits {
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
export const SILENCE = 5 * 60_000

/**
 * The limits of an answer that may be silent for so long. Some models think for minutes before they say a word; who sends
 * signs of life meanwhile gets twice the time, in two attempts: the time of such an attempt counts half. Once an answer has begun, a connection without any is dead long before.
 */
export function limitsFor(silence: number): Limits {
  return {
    firstByte: silence,
    idle: Math.min(silence, 120_000),
    quiet: silence,
    lifetime: Math.max(60 * 60_000, 2 * silence),
  }
}

export const LIMITS: Limits = limitsFor(SILENCE)

/** The same limits where only so much time without progress is left. */
export function within({ firstByte, idle, quiet, lifetime }: Limits, left: number): Limits {
  return {
    firstByte: Math.min(firstByte, left),
    idle: Math.min(idle, left),
    quiet: Math.min(quiet, 2 * left),
    lifetime,
  }
}

/** The clocks of one answer. */
export interface Watch {
  /** The answer has begun. */
  answered(): void
  /** Bytes came, whatever they are. */
  felt(): void
  /** A frame said something. */
  heard(): void
  /** Milliseconds without progress until now. */
  silence(): number
  /** The vendor has said its last word; the connection gets a moment to end by itself. */
  linger(): void
  stop(): void
}

/** Tells how long there has been no progress, and after how long of that we give up. */
export type Tell = (waited: number, limit: number) => void

/** What ran out: one of the limits, or the moment after the last word. */
export type Expiry = keyof Limits | 'linger'

/** Some servers leave the connection open after the last word of an answer. */
const LINGER = 2000

/** A wait of this length is told of, or of a quarter of what is allowed; and again when it is twice as long, and so on. */
const WORTH_TELLING = 10_000

/** Starts the clocks of one answer; the first one that runs out is told, once. */
export function startWatch(
  clock: Clock,
  limits: Limits,
  expired: (which: Expiry) => void,
  tell: Tell = () => undefined,
): Watch {
  const last = { idle: clock.now(), quiet: clock.now() }
  let over = false
  const expire = (which: Expiry): void => {
    if (over) return
    over = true
    expired(which)
  }
  let hasBegun = false
  const first = Math.min(WORTH_TELLING, limits.firstByte / 4)
  let next = first
  let offTell = clock.after(next, tellWait)
  const offLifetime = clock.after(limits.lifetime, () => expire('lifetime'))
  let offStage = clock.after(limits.firstByte, () => expire('firstByte'))

  /** Like `listen`, it is set again only when it goes off. */
  function tellWait(): void {
    const waited = clock.now() - last.quiet
    if (waited >= next) {
      next *= 2
      const silent = last.idle + limits.idle - last.quiet
      tell(waited, hasBegun ? Math.min(silent, limits.quiet) : limits.firstByte)
    }
    offTell = clock.after(next - waited, tellWait)
  }

  /** A timer for each frame would cost more than the frame: it is set again only when it goes off too early. */
  function listen(): void {
    const left = (which: keyof typeof last): number => last[which] + limits[which] - clock.now()
    const [idle, quiet] = [left('idle'), left('quiet')]
    if (quiet <= 0) expire('quiet')
    else if (idle <= 0) expire('idle')
    else offStage = clock.after(Math.min(idle, quiet), listen)
  }

  return {
    answered() {
      offStage()
      hasBegun = true
      last.idle = last.quiet = clock.now()
      listen()
    },
    felt() {
      last.idle = clock.now()
    },
    heard() {
      last.quiet = clock.now()
      next = first
    },
    silence: () => Math.round(clock.now() - last.quiet),
    linger() {
      offTell()
      offStage()
      offStage = clock.after(LINGER, () => expire('linger'))
    },
    stop() {
      over = true
      offLifetime()
      offStage()
      offTell()
    },
  }
}
