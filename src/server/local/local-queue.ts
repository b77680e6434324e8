import { getErrorMessage } from '../../model/error-message.ts'
import type { Job, JobHandler, JobOutcome, JobQueue, QueueLimits, QueueWorker, WorkerOptions } from '../backend.ts'
import { createJobLimits } from './job-limits.ts'
import { type LocalChange, type LocalState, toKeyText } from './local-state.ts'

interface LocalQueueOptions {
  readonly state: LocalState
  /** Applies a change, and resolves when it is on the disk. */
  readonly commit: (...changes: readonly LocalChange[]) => Promise<void>
  readonly now: () => number
  readonly onError: (message: string) => void
}

interface Worker {
  readonly handler: JobHandler
  readonly options: WorkerOptions
  readonly stopping: AbortController
  readonly running: Set<Promise<void>>
  isStopped: boolean
}

type LocalQueue = Omit<JobQueue, 'setSchedule' | 'removeSchedule' | 'listSchedules'> & { close(): Promise<void> }

/** Runs the jobs of one process. A job that was running when the process died is still in the journal, and runs again. */
export function createLocalQueue({ state, commit, now, onError }: LocalQueueOptions): LocalQueue {
  const workers = new Set<Worker>()
  const running = new Map<string, Job>()
  const busySessions = new Set<string>()
  const limits = createJobLimits(now)
  let timer: NodeJS.Timeout | undefined

  /** Starts every job that may run now. */
  function startJobs(): void {
    clearTimeout(timer)
    let wakeAt = Infinity
    for (const job of state.jobs.values()) {
      if ([...workers].every((worker) => !hasRoom(worker))) return
      if (running.has(job.id) || busySessions.has(toKeyText(job))) continue
      if (job.notBefore !== undefined && job.notBefore > now()) {
        wakeAt = Math.min(wakeAt, job.notBefore)
        continue
      }
      const worker = [...workers].find((one) => hasRoom(one) && canRun(one, job))
      if (!worker) continue
      const allowedAt = limits.getStartTime(job, running.values())
      if (allowedAt > now()) wakeAt = Math.min(wakeAt, allowedAt)
      else startJob(worker, job)
    }
    if (wakeAt !== Infinity) timer = setTimeout(startJobs, Math.min(Math.max(wakeAt - now(), 1), MAX_TIMER_MS)).unref()
  }

  function startJob(worker: Worker, job: Job): void {
    running.set(job.id, job)
    busySessions.add(toKeyText(job))
    limits.onStart(job)
    const task = runJob(worker, job).finally(() => {
      running.delete(job.id)
      busySessions.delete(toKeyText(job))
      worker.running.delete(task)
      startJobs()
    })
    worker.running.add(task)
  }

  async function runJob({ handler, stopping }: Worker, job: Job): Promise<void> {
    try {
      const outcome = await handler(job, stopping.signal)
      await commit(toChange(job, outcome))
    } catch (error) {
      // A job that was stopped stays in the journal, for the next process.
      if (stopping.signal.aborted) return
      onError(`the job ${job.id} failed: ${getErrorMessage(error)}`)
      await commit({ do: 'end', ids: [job.id], status: 'failed' }).catch(() => undefined)
    }
  }

  function toChange(job: Job, outcome: JobOutcome): LocalChange {
    if (outcome.kind === 'retry') return { do: 'submit', job: { ...job, notBefore: now() + outcome.afterMs } }
    return { do: 'end', ids: [job.id], status: 'done' }
  }

  async function stopWorker(worker: Worker, graceMs = 0): Promise<void> {
    worker.isStopped = true
    const ended = Promise.all(worker.running)
    if (graceMs > 0 && worker.running.size > 0) await Promise.race([ended, wait(graceMs)])
    worker.stopping.abort()
    await Promise.all(worker.running)
    workers.delete(worker)
  }

  return {
    async submit(job) {
      if (state.jobs.has(job.id) || state.ended.has(job.id)) return commit()
      await commit({ do: 'submit', job })
      startJobs()
    },
    async cancel(id) {
      if (state.jobs.has(id) && !running.has(id)) await commit({ do: 'end', ids: [id], status: 'cancelled' })
    },
    getStatus(id) {
      const isOpen = state.jobs.has(id) && (running.has(id) ? 'running' : 'queued')
      return Promise.resolve(isOpen || state.ended.get(id))
    },
    work(handler, options): Promise<QueueWorker> {
      const worker: Worker = {
        handler,
        options,
        stopping: new AbortController(),
        running: new Set(),
        isStopped: false,
      }
      workers.add(worker)
      startJobs()
      return Promise.resolve({ stop: ({ graceMs } = {}) => stopWorker(worker, graceMs) })
    },
    setLimits(one: QueueLimits) {
      limits.set(one)
      startJobs()
      return Promise.resolve()
    },
    async close() {
      clearTimeout(timer)
      await Promise.all([...workers].map((worker) => stopWorker(worker)))
      clearTimeout(timer)
    },
  }
}

const MAX_TIMER_MS = 60_000

function hasRoom({ running, options, isStopped }: Worker): boolean {
  return !isStopped && running.size < options.concurrency
}

function canRun({ options }: Worker, { label }: Job): boolean {
  return label === undefined || options.labels.includes(label)
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms, undefined)
  })
}
