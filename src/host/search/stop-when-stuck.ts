import { readdirSync, readFileSync } from 'node:fs'
import { readStatFields } from '../process/proc-stat-fields.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'

/**
 * Stops a program that opens files itself which somebody else made: ripgrep reads ignore files, even pipes without a writer
 * or endless devices. A process that does almost nothing for long, or uses too much memory, is stuck. Only Linux reports
 * this.
 */
export function stopWhenStuck(pid: number | undefined, stop: () => void) {
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
    close: (): void => clearInterval(timer),
  }
}

const INTERVAL = 250
/** How many samples are taken before it can be stuck. */
const LOOKS = 10
/** Idle threads look for work now and then. In hundredths of a second. */
const MIN_TIME = 15
/** Mapped files do not count. */
const MAX_MEMORY = 512 * 2 ** 20

/** CPU time so far, whether it runs or waits for a disk, and its private memory. */
interface Activity {
  readonly time: number
  readonly isRunning: boolean
  readonly memory: number
}

function activityOf(pid: number): Activity | undefined {
  return tryOrUndefined(() => {
    const tasks = readdirSync(`/proc/${pid}/task`).map((task) => readStatFields(`/proc/${pid}/task/${task}/stat`))
    const anonymous = /^RssAnon:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]
    return {
      time: tasks.reduce((sum, fields) => sum + Number(fields[11]) + Number(fields[12]), 0),
      isRunning: tasks.some(([state]) => state === 'R' || state === 'D'),
      memory: Number(anonymous ?? 0) * 1024,
    }
  })
}
