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

/**
 * Generous, for models that think for minutes before they say a word. Once an answer has begun, a connection on which not
 * even a sign of life comes is dead long before.
 */
export const LIMITS: Limits = { firstByte: 5 * 60_000, idle: 120_000, quiet: 5 * 60_000, lifetime: 60 * 60_000 }

/** The clocks of one answer. */
export interface Watch {
  /** The answer has begun. */
  answered(): void
  /** Bytes came, whatever they are. */
  felt(): void
  /** A frame said something. */
  heard(): void
  /** The vendor has said its last word; the connection gets a moment to end by itself. */
  linger(): void
  stop(): void
}

/** What ran out: one of the limits, or the moment after the last word. */
export type Expiry = keyof Limits | 'linger'

/** Some servers leave the connection open after the last word of an answer. */
const LINGER = 2000

/** Starts the clocks of one answer; the first one that runs out is told, once. */
export function startWatch(clock: Clock, limits: Limits, expired: (which: Expiry) => void): Watch {
  const last = { idle: clock.now(), quiet: clock.now() }
  let over = false
  const expire = (which: Expiry): void => {
    if (over) return
    over = true
    expired(which)
  }
  const offLifetime = clock.after(limits.lifetime, () => expire('lifetime'))
  let offStage = clock.after(limits.firstByte, () => expire('firstByte'))

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
      last.idle = last.quiet = clock.now()
      listen()
    },
    felt() {
      last.idle = clock.now()
    },
    heard() {
      last.quiet = clock.now()
    },
    linger() {
      offStage()
      offStage = clock.after(LINGER, () => expire('linger'))
    },
    stop() {
      over = true
      offLifetime()
      offStage()
    },
  }
}
