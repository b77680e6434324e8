import { setTimeout as sleep } from 'node:timers/promises'
import type { Entry } from '../session/log/entry.ts'
import { type SessionLog, type Store, StoreError } from '../session/store/store.ts'

/**
 * Creates a session, whose settings the caller writes next. If a server died between the two, nobody was told that the session
 * exists, and who creates it again goes on with it.
 */
export async function createSessionLog(store: Store, id: string): Promise<SessionLog> {
  try {
    return await store.create({ id, folder: '' })
  } catch (error) {
    const log = hasCode(error, 'exists') ? await openUnfinished(store, id) : undefined
    if (!log) throw error
    return log
  }
}

/** Waits until the server that creates the session has finished, or is known to be dead. */
async function openUnfinished(store: Store, id: string): Promise<SessionLog | undefined> {
  for (const until = performance.now() + MAX_WAIT_MS; ; await sleep(POLL_MS)) {
    if (!isUnfinished((await store.read(id)).entries)) return undefined
    try {
      const log = await store.open(id)
      if (isUnfinished(log.entries)) return log
      await log.close()
      return undefined
    } catch (error) {
      if (!hasCode(error, 'in-use') || performance.now() > until) throw error
    }
  }
}

/** More than the lease of a process that died. */
const MAX_WAIT_MS = 12_000
const POLL_MS = 250

/** A fork has its settings from its parent. */
function isUnfinished(entries: readonly Entry[]): boolean {
  const [first] = entries
  return entries.length === 1 && first?.kind === 'open' && first.parent === undefined
}

function hasCode(error: unknown, code: StoreError['code']): boolean {
  return error instanceof StoreError && error.code === code
}
