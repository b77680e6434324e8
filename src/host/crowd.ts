import { existsSync, readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { type Group, hold, letRun, members, quickCount, stop } from './group.ts'

/** What a command may have of the machine. */
export interface CrowdLimits {
  /** How many processes at a time. */
  readonly processes?: number
  /** How much memory, in bytes, all its processes together. */
  readonly memory?: number
}

/** What a command had too much of. */
export type Excess = 'processes' | 'memory'

/** Sees to it that no command fills the machine with processes, or its memory. */
export interface CrowdWatch {
  /** So many processes may a command have. */
  readonly limit: number
  /** So much memory, in bytes. */
  readonly memory: number
  /** Watches a command until it is left. */
  join(group: Group): void
  leave(group: Group): void
  /** How many processes a command has now; too many are stopped at once. */
  count(group: Group): number
  /** What this command had too much of, if it had; then all its processes have been ended. */
  excess(group: Group): Promise<Excess | undefined>
  close(): void
}

/** More than a build needs, and far less than a machine bears. */
const DEFAULT_LIMIT = 1000

/**
 * Watches commands while there are any. The system holds the superuser to no limit, and counts for others all that they run
 * themselves. So the number of all tasks on the machine is read, which costs next to nothing; only when it has grown by as
 * much as a command may grow, it is counted whose they are.
 */
export function crowdWatch({
  processes: limit = DEFAULT_LIMIT,
  memory = DEFAULT_MEMORY,
}: CrowdLimits = {}): CrowdWatch {
  const watched = new Map<Group, Watched>()
  const stopped = new WeakMap<Group, { readonly by: Excess; readonly ending: Promise<void> }>()
  let timer: NodeJS.Timeout | undefined

  function look(): void {
    const tasks = tasksOnMachine()
    const free = freeMemory()
    for (const [group, seen] of watched) {
      seen.mostFree = Math.max(seen.mostFree, free)
      if (seen.mostFree - free >= seen.memoryRoom) weigh(group, seen, free)
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
    if (found > limit) end(group, 'processes')
    else if (isHeld) letRun(group)
    return found
  }

  /** The machine has lost so much memory that this command may be the reason. */
  function weigh(group: Group, seen: Watched, free: number): void {
    const held = memoryOf(group)
    if (held > memory) {
      end(group, 'memory')
      return
    }
    seen.memoryRoom = Math.max(memory - held, memory / 10)
    seen.mostFree = free
  }

  function end(group: Group, by: Excess): void {
    stopped.set(group, { by, ending: stop(group, 0) })
    leave(group)
  }

  function leave(group: Group): void {
    watched.delete(group)
    if (watched.size === 0) clearInterval(timer)
  }

  return {
    limit,
    memory,
    count,
    leave,
    join(group) {
      if (watched.size === 0) timer = setInterval(look, EVERY).unref()
      watched.set(group, { lowest: tasksOnMachine(), room: limit, mostFree: freeMemory(), memoryRoom: memory })
    },
    async excess(group) {
      const found = stopped.get(group)
      await found?.ending
      return found?.by
    },
    close() {
      for (const group of watched.keys()) leave(group)
    },
  }
}

/**
 * Since its processes were counted: the fewest tasks that the machine had, and how many more make it worth a look; and the
 * same of the memory that was free.
 */
interface Watched {
  lowest: number
  room: number
  mostFree: number
  memoryRoom: number
}

/** What is left must do for the person, the editor and us. */
const DEFAULT_MEMORY = 0.75 * totalmem()

/** What the processes of a command hold for themselves, in bytes. */
function memoryOf(group: Group): number {
  let pages = 0
  for (const pid of [group.id, ...members(group)]) {
    try {
      const [, resident = 0, shared = 0] = readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ').map(Number)
      pages += Math.max(0, resident - shared)
    } catch {
      // It has ended.
    }
  }
  return pages * PAGE
}

const PAGE = 4096

/** How much memory the machine can still give, in bytes; always the same where it does not say. */
function freeMemory(): number {
  try {
    const text = hasLoad ? readFileSync('/proc/meminfo', 'latin1') : ''
    return Number(/^MemAvailable:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
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
