import { existsSync, readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import {
  type ProcessGroup,
  pauseGroup,
  resumeGroup,
  listGroupProcesses,
  countSandboxProcesses,
  stopGroup,
} from './process-group.ts'

/** What a command may have of the machine. */
export interface ResourceLimits {
  /** How many processes at a time. */
  readonly processes?: number
  /** How much memory, in bytes, all its processes together. */
  readonly memory?: number
}

/** What a command had too much of. */
export type ExceededLimit = 'processes' | 'memory'

/** Sees to it that no command fills the machine with processes, or its memory. */
export interface ResourceMonitor {
  /** So many processes may a command have. */
  readonly maxProcesses: number
  /** So much memory, in bytes. */
  readonly maxMemoryBytes: number
  /** Watches a command until it is left. */
  watch(group: ProcessGroup): void
  unwatch(group: ProcessGroup): void
  /** How many processes a command has now; too many are stopped at once. */
  countProcesses(group: ProcessGroup): number
  /** What this command had too much of, if it had; then all its processes have been ended. */
  findExceededLimit(group: ProcessGroup): Promise<ExceededLimit | undefined>
  close(): void
}

/** More than a build needs, and far less than a machine bears. */
const DEFAULT_MAX_PROCESSES = 1000

/**
 * Watches commands while there are any. The system holds the superuser to no limit, and counts for others all that they run
 * themselves. So the number of all tasks on the machine is read, which costs next to nothing; only when it has grown by as
 * much as a command may grow, it is counted whose they are.
 */
export function createResourceMonitor({
  processes: limit = DEFAULT_MAX_PROCESSES,
  memory = DEFAULT_MAX_MEMORY_BYTES,
}: ResourceLimits = {}): ResourceMonitor {
  const watched = new Map<ProcessGroup, GroupBaseline>()
  const stopped = new WeakMap<ProcessGroup, { readonly by: ExceededLimit; readonly ending: Promise<void> }>()
  let timer: NodeJS.Timeout | undefined

  function poll(): void {
    const tasks = countMachineTasks()
    const free = readFreeMemoryBytes()
    for (const [group, baseline] of watched) {
      baseline.maxFreeMemory = Math.max(baseline.maxFreeMemory, free)
      if (baseline.maxFreeMemory - free >= baseline.memoryHeadroom) checkMemory(group, baseline, free)
      baseline.minTasks = Math.min(baseline.minTasks, tasks)
      if (tasks - baseline.minTasks < baseline.taskHeadroom) continue
      baseline.taskHeadroom = Math.max(limit - countProcesses(group), limit / 10)
      baseline.minTasks = tasks
    }
  }

  function countProcesses(group: ProcessGroup): number {
    const sandboxCount = countSandboxProcesses(group)
    const taskGrowth = countMachineTasks() - (watched.get(group)?.minTasks ?? Infinity)
    // What forks without end leaves nobody the time for a long look, so it is held still.
    const isPaused = sandboxCount === undefined && taskGrowth > limit / 10
    if (isPaused) pauseGroup(group)
    const found = sandboxCount ?? listGroupProcesses(group).length
    if (found > limit) stopExceedingGroup(group, 'processes')
    else if (isPaused) resumeGroup(group)
    return found
  }

  /** The machine has lost so much memory that this command may be the reason. */
  function checkMemory(group: ProcessGroup, baseline: GroupBaseline, free: number): void {
    const usedMemory = measureMemoryBytes(group)
    if (usedMemory > memory) {
      stopExceedingGroup(group, 'memory')
      return
    }
    baseline.memoryHeadroom = Math.max(memory - usedMemory, memory / 10)
    baseline.maxFreeMemory = free
  }

  function stopExceedingGroup(group: ProcessGroup, by: ExceededLimit): void {
    stopped.set(group, { by, ending: stopGroup(group, 0) })
    unwatch(group)
  }

  function unwatch(group: ProcessGroup): void {
    watched.delete(group)
    if (watched.size === 0) clearInterval(timer)
  }

  return {
    maxProcesses: limit,
    maxMemoryBytes: memory,
    countProcesses,
    unwatch,
    watch(group) {
      if (watched.size === 0) timer = setInterval(poll, POLL_INTERVAL_MS).unref()
      watched.set(group, {
        minTasks: countMachineTasks(),
        taskHeadroom: limit,
        maxFreeMemory: readFreeMemoryBytes(),
        memoryHeadroom: memory,
      })
    },
    async findExceededLimit(group) {
      const found = stopped.get(group)
      await found?.ending
      return found?.by
    },
    close() {
      for (const group of watched.keys()) unwatch(group)
    },
  }
}

/**
 * Since its processes were counted: the fewest tasks that the machine had, and how many more make it worth a look; and the
 * same of the memory that was free.
 */
interface GroupBaseline {
  minTasks: number
  taskHeadroom: number
  maxFreeMemory: number
  memoryHeadroom: number
}

/** What is left must do for the person, the editor and us. */
const DEFAULT_MAX_MEMORY_BYTES = 0.75 * totalmem()

/** What the processes of a command hold for themselves, in bytes. */
function measureMemoryBytes(group: ProcessGroup): number {
  let pages = 0
  for (const pid of [group.id, ...listGroupProcesses(group)]) {
    try {
      const [, resident = 0, shared = 0] = readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ').map(Number)
      pages += Math.max(0, resident - shared)
    } catch {
      // It has ended.
    }
  }
  return pages * PAGE_BYTES
}

const PAGE_BYTES = 4096

/** How much memory the machine can still give, in bytes; always the same where it does not say. */
function readFreeMemoryBytes(): number {
  try {
    const text = hasLoadavg ? readFileSync('/proc/meminfo', 'latin1') : ''
    return Number(/^MemAvailable:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}

const POLL_INTERVAL_MS = 50
const LOADAVG_PATH = '/proc/loadavg'
const hasLoadavg = existsSync(LOADAVG_PATH)

/** How many tasks the machine has, threads too; always none where it does not say, and then the system's own limits hold. */
function countMachineTasks(): number {
  try {
    return hasLoadavg ? Number(/\/(\d+)/.exec(readFileSync(LOADAVG_PATH, 'latin1'))?.[1] ?? 0) : 0
  } catch {
    // No more files can be opened; the next look is soon.
    return 0
  }
}
