import { defined } from '../model/defined.ts'
import type { Backend } from './backend.ts'
import { openDatabaseBackend } from './open-database.ts'
import { startQueueWorker } from './start-worker.ts'
import { type AgentDefinition, createAgentSource } from './worker/named-agents.ts'
import type { RetryOptions } from './worker/retry-delay.ts'

/** The options of `worker`: a backend, or the URL of the database of the servers. */
export type WorkerProgramOptions = {
  /** Agents by name, with tools of your own. Sessions that name none get the first one. */
  readonly agents: Readonly<Record<string, AgentDefinition>>
  /** Sessions that need one of these labels run here, too. */
  readonly labels?: readonly string[]
  /** Sessions at the same time; default 16. */
  readonly concurrency?: number
  readonly retry?: RetryOptions
  /** The monthly quota of a tenant in US dollars. */
  readonly getQuota?: (tenant: string) => number | undefined
} & ({ readonly backend: Backend } | { readonly database: string })

/** A worker that runs. */
export interface SessionWorkerHandle {
  /** Waits as long as `graceMs` for runs in progress. What is left then goes on elsewhere, or later. */
  stop(options?: { readonly graceMs?: number }): Promise<void>
}

/** Works on sessions in this process until it is stopped. */
export async function worker(options: WorkerProgramOptions): Promise<SessionWorkerHandle> {
  const isOwn = 'database' in options
  const backend = isOwn
    ? await openDatabaseBackend(options.database, (message) => console.error(message))
    : options.backend
  const { labels, concurrency, retry, getQuota } = options
  const running = await startQueueWorker(backend, {
    openAgent: createAgentSource(options.agents),
    ...defined({ labels, concurrency, retry, getQuota }),
  })
  return {
    async stop(stopOptions) {
      await running.stop(stopOptions)
      if (isOwn) await backend.close()
    },
  }
}
