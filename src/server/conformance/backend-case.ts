import type { Backend, Job, JobHandler, QueueWorker } from '../backend.ts'

/** How the test cases get the backends that they test. */
export interface BackendSetup {
  /** A new, empty backend. */
  readonly createBackend: () => Backend | Promise<Backend>
  /** What another process finds after the process of this backend was killed. The old one is not used any more. */
  readonly reopenAfterKill: (backend: Backend) => Backend | Promise<Backend>
  /** Another process beside this one, on the same data. */
  readonly connect?: (backend: Backend) => Backend | Promise<Backend>
  /** Lets the time of schedules pass. */
  readonly advanceSchedules?: (backend: Backend, ms: number) => Promise<void>
}

/** One requirement of every backend. `run` rejects if the backend does not meet it. */
export interface BackendCase {
  readonly name: string
  /** A case that needs what a setup does not have is left out. */
  readonly needs?: 'connect' | 'advanceSchedules'
  readonly run: (setup: BackendSetup) => Promise<void>
}

export async function withBackend(setup: BackendSetup, use: (backend: Backend) => Promise<void>): Promise<void> {
  const backend = await setup.createBackend()
  try {
    await use(backend)
  } finally {
    await backend.close()
  }
}

let jobCount = 0

export function createJob(fields: Partial<Job> = {}): Job {
  jobCount++
  return { id: `job-${jobCount}`, tenant: 'acme', session: `s${jobCount}`, provider: 'p', ...fields }
}

export function startWorker(
  backend: Backend,
  handler: JobHandler,
  labels: readonly string[] = [],
  concurrency = 16,
): Promise<QueueWorker> {
  workerCount++
  return backend.queue.work(handler, { id: `worker-${workerCount}`, labels, concurrency })
}

let workerCount = 0

/** Waits for a condition, for as long as a busy machine and a slow database may need. */
export async function waitFor(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + MAX_WAIT_MS; !(await isTrue());) {
    if (Date.now() > end) throw new Error(`it did not happen: ${what}`)
    await sleep(10)
  }
}

const MAX_WAIT_MS = 60_000

/** Long enough to notice what must not happen. */
export const QUIET_MS = 300

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}

export function createGate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

export function assertTrue(isTrue: boolean, problem: string): void {
  if (!isTrue) throw new Error(problem)
}
