import { readdirSync, readFileSync } from 'node:fs'
import { readStatFields } from '../process/stat-fields.ts'

/** A watch over a program. */
export interface StuckWatch {
  /** Was it stopped? */
  readonly wasStuck: boolean
  close(): void
}

/**
 * Stops a program of ours that reads what somebody else made, and opens it itself: ripgrep reads ignore files, be they pipes that
 * nobody writes to or devices without end. Whoever does next to nothing for long, or holds too much, is stuck. What the program
 * does is only told by Linux.
 */
export function stopWhenStuck(pid: number | undefined, stop: () => void): StuckWatch {
  let wasStuck = false
  let last: Activity[] = []
  const timer = setInterval(() => {
    const now = pid === undefined ? undefined : activityOf(pid)
    if (!now) return
    last = [...last.slice(-LOOKS), now]
    const isIdle =
      last.length > LOOKS &&
      now.time - (last[0]?.time ?? 0) < MIN_TIME &&
      last.filter(({ isRunning }) => isRunning).length < LOOKS / 2
    if (!isIdle && now.memory < MAX_MEMORY) return
    wasStuck = true
    clearInterval(timer)
    stop()
  }, INTERVAL).unref()
  return {
    get wasStuck() {
      return wasStuck
    },
    close: () => clearInterval(timer),
  }
}

const INTERVAL = 250
/** How often it is looked at before it may be stuck. */
const LOOKS = 10
/** Threads that have nothing to do look for work now and then. In hundredths of a second. */
const MIN_TIME = 15
/** What it searches is mapped, and does not count. */
const MAX_MEMORY = 512 * 2 ** 20

/** What a process does: the time that it has had, whether it wants more or waits for a disk, and the memory that is its own. */
interface Activity {
  readonly time: number
  readonly isRunning: boolean
  readonly memory: number
}

function activityOf(pid: number): Activity | undefined {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`).map((task) => readStatFields(`/proc/${pid}/task/${task}/stat`))
    const anonymous = /^RssAnon:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]
    return {
      time: tasks.reduce((sum, fields) => sum + Number(fields[11]) + Number(fields[12]), 0),
      isRunning: tasks.some(([state]) => state === 'R' || state === 'D'),
      memory: Number(anonymous ?? 0) * 1024,
    }
  } catch {
    return undefined
  }
}
