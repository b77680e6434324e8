import type { Clock } from '../../../src/provider/clock.ts'

/** A clock that stands still until it is moved. */
export interface FakeClock extends Clock {
  readonly advance: (ms: number) => void
  readonly pending: number
}

/** Makes a clock that stands still until it is moved. */
export function fakeClock(): FakeClock {
  let now = 0
  let timers: { at: number; call: () => void }[] = []
  return {
    now: () => now,
    schedule(ms, call) {
      const timer = { at: now + ms, call }
      timers.push(timer)
      return () => {
        timers = timers.filter((one) => one !== timer)
      }
    },
    advance(ms) {
      const end = now + ms
      for (;;) {
        const next = timers.toSorted((a, b) => a.at - b.at)[0]
        if (!next || next.at > end) break
        timers = timers.filter((one) => one !== next)
        now = Math.max(now, next.at)
        next.call()
      }
      now = end
    },
    get pending() {
      return timers.length
    },
  }
}

/** A clock on which every wait is over at once; it remembers how long they were. */
export function hastyClock(): Clock & { readonly waits: number[] } {
  const waits: number[] = []
  let now = 0
  return {
    waits,
    now: () => now,
    schedule(ms, call) {
      let on = true
      setImmediate(() => {
        if (!on) return
        waits.push(ms)
        now += ms
        call()
      })
      return () => {
        on = false
      }
    },
  }
}
