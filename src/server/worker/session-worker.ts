import { StoreError } from '../../session/store/store.ts'
import type { Backend, Job, JobHandler } from '../backend.ts'
import { workOnSession } from './work-on-session.ts'
import { type SessionWorkerOptions, STOPPED } from './worker-options.ts'

/**
 * Works on the sessions that jobs name, whatever the backend. It opens the session, so that nobody else writes to it, and
 * does what the log and the inbox show is left to do: after a crash, too. It never throws because a model or a tool failed.
 */
export function createSessionWorker(options: SessionWorkerOptions): JobHandler {
  return async (job, signal) => {
    if (signal.aborted) return STOPPED
    const log = await openLog(options.backend, job)
    if ('kind' in log) return log
    try {
      return await workOnSession(options, job, log, signal)
    } catch (error) {
      // The next worker reads what is stored.
      if (error instanceof StoreError) return { kind: 'retry', afterMs: STORE_RETRY_MS, reason: error.message }
      throw error
    } finally {
      await log.close()
    }
  }
}

const STORE_RETRY_MS = 2000
const IN_USE_RETRY_MS = 500

async function openLog(backend: Backend, job: Job) {
  try {
    return await backend.getStore(job.tenant).open(job.session)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    const afterMs = error.code === 'in-use' ? IN_USE_RETRY_MS : STORE_RETRY_MS
    if (error.code === 'in-use' || error.code === 'unavailable' || error.isDiskError)
      return { kind: 'retry', afterMs, reason: error.message } as const
    if (error.code !== 'not-found') throw error
    // The session was removed.
    const waiting = await backend.inbox.list(job)
    await backend.inbox.remove(
      job,
      waiting.map(({ id }) => id),
    )
    return { kind: 'done' } as const
  }
}
