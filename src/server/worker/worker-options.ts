import type { Model } from '../../provider/index.ts'
import type { Backend, JobOutcome } from '../backend.ts'
import type { AgentSource } from './agent-source.ts'
import type { RetryOptions } from './retry-delay.ts'

export interface SessionWorkerOptions {
  readonly backend: Backend
  readonly openAgent: AgentSource
  /** Applies the quota of a tenant to a model. */
  readonly limitModel?: (tenant: string, model: Model) => Model
  readonly retry?: RetryOptions
  readonly now?: () => number
  readonly onRunEnd?: (run: { readonly tenant: string; readonly reason: string; readonly ms: number }) => void
}

/** The job is left to another worker, or to the next start. */
export const STOPPED: JobOutcome = { kind: 'retry', afterMs: 0, reason: 'the worker stops' }
