import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ERROR_CODE, ProtocolError } from '../../../acp/protocol.ts'
import { jsonlStore } from '../../../session/store/jsonl-store.ts'
import type { SessionSummary, Store } from '../../../session/store/store.ts'
import { tryOrUndefined } from '../../../model/try-or-undefined.ts'
import { getDataFolder, getSessionsFolder } from '../../paths/folders.ts'
import { withStoreErrors } from '../../setup/assemble-agent.ts'

/** The sessions of a folder, or of all folders, the latest first; empty ones are left out. */
export async function listStoredSessions(folder: string | undefined): Promise<readonly SessionSummary[]> {
  const stores = folder === undefined ? openAllStores() : [jsonlStore(getSessionsFolder(folder))]
  const lists = await withStoreErrors(() => Promise.all(stores.map((store) => store.list())))
  return lists
    .flat()
    .filter(({ title, folder: own, subagent }) => title !== '' && own !== '' && !subagent)
    .toSorted((one, other) => other.changed - one.changed || (one.id < other.id ? 1 : -1))
}

/** A session that is gone already is no error. */
export async function removeStoredSession(id: string): Promise<void> {
  const found = await lookUpSession(id)
  if (found) await withStoreErrors(() => found.store.remove(id))
}

interface StoredSession {
  readonly store: Store
  readonly summary: SessionSummary
}

export async function findStoredSession(id: string, folder: string): Promise<StoredSession> {
  const found = await lookUpSession(id, folder)
  if (found) return found
  throw new ProtocolError(ERROR_CODE.notFound, `There is no session ${id}.`)
}

/** The session with exactly this id: in the folder that is named, or in another. */
async function lookUpSession(id: string, folder?: string): Promise<StoredSession | undefined> {
  const stores = [...(folder === undefined ? [] : [jsonlStore(getSessionsFolder(folder))]), ...openAllStores()]
  for (const store of stores) {
    const summary = (await withStoreErrors(() => store.list())).find((one) => one.id === id)
    if (summary) return { store, summary }
  }
  return undefined
}

function openAllStores(): Store[] {
  const folder = join(getDataFolder(), 'sessions')
  const names = tryOrUndefined(() => readdirSync(folder, { withFileTypes: true })) ?? []
  return names.filter((entry) => entry.isDirectory()).map(({ name }) => jsonlStore(join(folder, name)))
}
