import type { Clock } from './clock.ts'

/** How long each stage of an answer may take, in milliseconds (T109). */
export interface Limits {
  /** Until the answer begins. */
  readonly firstByte: number
  /** Between two frames that say something; comments and pings do not. */
  readonly idle: number
  /** For the whole answer. */
  readonly lifetime: number
}

/** Generous, for models that think for minutes before they say a word. */
export const LIMITS: Limits = { firstByte: 5 * 60_000, idle: 5 * 60_000, lifetime: 60 * 60_000 }

/** The clocks of one answer. */
export interface Watch {
  /** The answer has begun. */
  answered(): void
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
  let last = clock.now()
  let over = false
  const expire = (which: Expiry): void => {
    if (over) return
    over = true
    expired(which)
  }
  const offLifetime = clock.after(limits.lifetime, () => expire('lifetime'))
  let offStage = clock.after(limits.firstByte, () => expire('firstByte'))

  /** A timer for each frame would cost more than the frame: it is set again only when it goes off too early. */
  function idle(ms: number): void {
    offStage = clock.after(ms, () => {
      const left = last + limits.idle - clock.now()
      if (left > 0) idle(left)
      else expire('idle')
    })
  }

  return {
    answered() {
      offStage()
      last = clock.now()
      idle(limits.idle)
    },
    heard() {
      last = clock.now()
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
