import { existsSync, readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { countSandboxProcesses, listGroupProcesses, pauseGroup, type ProcessGroup } from './process-group.ts'
import { resumeGroup, stopGroup } from './process-group.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'

export type ExceededLimit = 'processes' | 'memory'

export interface ResourceMonitor {
  readonly maxProcesses: number
  readonly maxMemoryBytes: number
  watch(group: ProcessGroup): void
  unwatch(group: ProcessGroup): void
  /** Also stops a command that has too many. */
  countProcesses(group: ProcessGroup): number
  /** The limit that this command exceeded; then all its processes have ended. */
  findExceededLimit(group: ProcessGroup): Promise<ExceededLimit | undefined>
  close(): void
}

/** More than a build needs, and far less than a machine can bear. */
const DEFAULT_MAX_PROCESSES = 1000

/**
 * Watches commands while there are any. The system applies no limit to root, and counts all processes of other users
 * together. So the number of tasks on the machine is read, which is cheap; only if it has grown by as much as a command may
 * grow, the processes of the command are counted.
 */
export function createResourceMonitor({
  processes: limit = DEFAULT_MAX_PROCESSES,
  memory = DEFAULT_MAX_MEMORY_BYTES,
}: Partial<Readonly<Record<ExceededLimit, number>>> = {}): ResourceMonitor {
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
    // A fork bomb leaves no time to count it, so it is stopped meanwhile.
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
 * Since the last count: the fewest tasks on the machine and the growth that makes a new count worthwhile; and the same for
 * free memory.
 */
interface GroupBaseline {
  minTasks: number
  taskHeadroom: number
  maxFreeMemory: number
  memoryHeadroom: number
}

/** The rest is for the user, the editor and us. */
const DEFAULT_MAX_MEMORY_BYTES = 0.75 * totalmem()

function measureMemoryBytes(group: ProcessGroup): number {
  const pages = [group.id, ...listGroupProcesses(group)].map((pid) => {
    const text = tryOrUndefined(() => readFileSync(`/proc/${pid}/statm`, 'latin1')) ?? ''
    const [, resident = 0, shared = 0] = text.split(' ').map(Number)
    return Math.max(0, resident - shared)
  })
  return pages.reduce((sum, count) => sum + count, 0) * PAGE_BYTES
}

const PAGE_BYTES = 4096

/** Constant if the system does not report it. */
function readFreeMemoryBytes(): number {
  const text = hasLoadavg ? tryOrUndefined(() => readFileSync('/proc/meminfo', 'latin1')) : undefined
  return Number(/^MemAvailable:\s+(\d+) kB/m.exec(text ?? '')?.[1] ?? 0) * 1024
}

const POLL_INTERVAL_MS = 50
const LOADAVG_PATH = '/proc/loadavg'
const hasLoadavg = existsSync(LOADAVG_PATH)

/**
 * All tasks of the machine, including threads; 0 if the system does not report them, and then only its own limits apply.
 */
function countMachineTasks(): number {
  const text = hasLoadavg ? tryOrUndefined(() => readFileSync(LOADAVG_PATH, 'latin1')) : undefined
  return Number(/\/(\d+)/.exec(text ?? '')?.[1] ?? 0)
}
