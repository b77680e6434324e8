import { randomBytes } from 'node:crypto'
import { defined } from '../model/defined.ts'
import type { Backend, QueueWorker } from './backend.ts'
import { createTenantQuotas } from './tenant-quotas.ts'
import type { AgentSource } from './worker/agent-source.ts'
import type { RetryOptions } from './worker/retry-delay.ts'
import { createSessionWorker } from './worker/session-worker.ts'
import type { SessionWorkerOptions } from './worker/worker-options.ts'

export interface SessionQueueWorkerOptions extends Pick<SessionWorkerOptions, 'onRunEnd'> {
  readonly openAgent: AgentSource
  readonly labels?: readonly string[]
  /** Sessions at the same time; default 16. */
  readonly concurrency?: number
  readonly retry?: RetryOptions
  /** The monthly quota of a tenant in US dollars. */
  readonly getQuota?: (tenant: string) => number | undefined
}

/** Works on the sessions of a backend in this process. */
export function startQueueWorker(backend: Backend, options: SessionQueueWorkerOptions): Promise<QueueWorker> {
  const { openAgent, labels = [], concurrency = 16, retry, onRunEnd, getQuota } = options
  const { spending } = backend
  const limitModel = getQuota && createTenantQuotas({ getQuota, ...defined({ spending }) })
  const handler = createSessionWorker({ backend, openAgent, ...defined({ retry, onRunEnd, limitModel }) })
  const id = `${process.pid}-${randomBytes(6).toString('hex')}`
  return backend.queue.work(handler, { id, labels, concurrency })
}
