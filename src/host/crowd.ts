import { existsSync, readFileSync } from 'node:fs'
import { type Group, hold, letRun, members, quickCount, stop } from './group.ts'

/** Sees to it that no command fills the machine with processes. */
export interface CrowdWatch {
  /** So many processes may a command have. */
  readonly limit: number
  /** Watches a command until it is left. */
  join(group: Group): void
  leave(group: Group): void
  /** How many processes a command has now; too many are stopped at once. */
  count(group: Group): number
  /** Had this command too many processes? Then all of them have been ended. */
  hadTooMany(group: Group): Promise<boolean>
  close(): void
}

/** More than a build needs, and far less than a machine bears. */
const DEFAULT_LIMIT = 1000

/**
 * Watches commands while there are any. The system holds the superuser to no limit, and counts for others all that they run
 * themselves. So the number of all tasks on the machine is read, which costs next to nothing; only when it has grown by as
 * much as a command may grow, it is counted whose they are.
 */
export function crowdWatch(limit: number = DEFAULT_LIMIT): CrowdWatch {
  const watched = new Map<Group, Watched>()
  const stopped = new WeakMap<Group, Promise<void>>()
  let timer: NodeJS.Timeout | undefined

  function look(): void {
    const tasks = tasksOnMachine()
    for (const [group, seen] of watched) {
      seen.lowest = Math.min(seen.lowest, tasks)
      if (tasks - seen.lowest < seen.room) continue
      seen.room = Math.max(limit - count(group), limit / 10)
      seen.lowest = tasks
    }
  }

  function count(group: Group): number {
    const quick = quickCount(group)
    const grown = tasksOnMachine() - (watched.get(group)?.lowest ?? Infinity)
    // What forks without end leaves nobody the time for a long look, so it is held still.
    const isHeld = quick === undefined && grown > limit / 10
    if (isHeld) hold(group)
    const found = quick ?? members(group).length
    if (found > limit) {
      stopped.set(group, stop(group, 0))
      leave(group)
    } else if (isHeld) letRun(group)
    return found
  }

  function leave(group: Group): void {
    watched.delete(group)
    if (watched.size === 0) clearInterval(timer)
  }

  return {
    limit,
    count,
    leave,
    join(group) {
      if (watched.size === 0) timer = setInterval(look, EVERY).unref()
      watched.set(group, { lowest: tasksOnMachine(), room: limit })
    },
    async hadTooMany(group) {
      const ending = stopped.get(group)
      await ending
      return ending !== undefined
    },
    close() {
      for (const group of watched.keys()) leave(group)
    },
  }
}

/** Since its processes were counted: the fewest tasks that the machine had, and how many more make it worth a look. */
interface Watched {
  lowest: number
  room: number
}

const EVERY = 50
const LOAD = '/proc/loadavg'
const hasLoad = existsSync(LOAD)

/** How many tasks the machine has, threads too; always none where it does not say, and then the system's own limits hold. */
function tasksOnMachine(): number {
  try {
    return hasLoad ? Number(/\/(\d+)/.exec(readFileSync(LOAD, 'latin1'))?.[1] ?? 0) : 0
  } catch {
    // No more files can be opened; the next look is soon.
    return 0
  }
}
