import type { Entry, EntryBody } from '../log/entry.ts'
import { findBlobHashes, externalizeMedia, restoreMedia } from '../log/external-media.ts'
import { createSessionSummary } from '../session-summary.ts'
import { type EntrySource, followEntries } from './follow-entries.ts'
import { selectListPage } from './list-page.ts'
import {
  assertSessionId,
  createTakenOverError,
  LOG_VERSION,
  type SessionContents,
  type SessionLog,
  type SessionSummary,
  type Store,
  StoreError,
} from './store.ts'
import { defined } from '../../model/defined.ts'
import { sha256Hex } from './sha256.ts'

/** Keeps sessions in memory, for tests and for library users who want no files. */
export function memoryStore(now: () => number = Date.now): Store {
  const files = new Map<string, Entry[]>()
  /** Who has each session open: aborted when another takes it over. */
  const holders = new Map<string, AbortController>()
  const followers = new Map<string, Set<() => void>>()
  const wakeFollowers = (id: string): void => followers.get(id)?.forEach((wake) => wake())
  const blobs = new Map<string, Uint8Array>()
  const getBlob = (hash: string) => Promise.resolve(blobs.get(hash))
  const putBlob = (bytes: Uint8Array): string => {
    const hash = sha256Hex(bytes)
    blobs.set(hash, bytes)
    return hash
  }

  function getOwnEntries(id: string): Entry[] {
    const entries = files.get(id)
    if (!entries) throw new StoreError('not-found', `there is no session ${id}`)
    return entries
  }

  const getParent = (id: string) => {
    const first = getOwnEntries(id)[0]
    return first?.kind === 'open' ? first.parent : undefined
  }

  function getAllEntries(id: string): Entry[] {
    const parent = getParent(id)
    const inherited = parent ? getAllEntries(parent.session).filter((entry) => entry.seq <= parent.seq) : []
    return [...inherited, ...getOwnEntries(id)]
  }

  function summarize(id: string): SessionSummary {
    const entries = getAllEntries(id)
    const openEntry = entries.findLast((entry) => entry.kind === 'open')
    return createSessionSummary(id, openEntry, entries, entries)
  }

  const read = async (id: string, after = 0): Promise<SessionContents> => ({
    entries: await restoreMedia(
      getAllEntries(id).filter(({ seq }) => seq > after),
      getBlob,
    ),
    damages: [],
    // Pending calls of the parent belong to the parent: a call must not run in both.
    ...defined({ uncertainUpTo: getParent(id)?.seq }),
  })

  async function openLog(id: string, takeOver = false): Promise<SessionLog> {
    const own = getOwnEntries(id)
    if (holders.has(id) && !takeOver) throw new StoreError('in-use', `the session ${id} is in use`)
    const holder = new AbortController()
    holders.get(id)?.abort(createTakenOverError(id))
    holders.set(id, holder)
    const contents = await read(id)
    const first = own[0]
    let { seq, at } = contents.entries.at(-1) ?? { seq: 0, at: 0 }
    let isClosed = false

    function assertHeld(): void {
      if (isClosed) throw new StoreError('closed', `the session ${id} is closed`)
      if (holders.get(id) !== holder) throw createTakenOverError(id)
    }

    return {
      ...contents,
      id,
      folder: first?.kind === 'open' ? first.folder : '',
      lost: holder.signal,
      append(body: EntryBody) {
        assertHeld()
        at = Math.max(at, now())
        seq++
        own.push({ seq, at, ...externalizeMedia(body, putBlob) })
        wakeFollowers(id)
        return { seq, at, ...body }
      },
      flush: async () => {
        if (!isClosed) assertHeld()
        return Promise.resolve()
      },
      close() {
        isClosed = true
        if (holders.get(id) === holder) holders.delete(id)
        return Promise.resolve()
      },
    }
  }

  function openSource(id: string): EntrySource {
    return {
      async readAfter(after) {
        const { entries } = await read(id, after)
        return { entries, upTo: entries.at(-1)?.seq ?? after }
      },
      watch(onChange) {
        const wakes = followers.get(id) ?? new Set()
        followers.set(id, wakes.add(onChange))
        onChange()
        return {
          stop() {
            wakes.delete(onChange)
            if (wakes.size === 0) followers.delete(id)
          },
        }
      },
    }
  }

  return {
    async create({ id, folder, parent, subagent }) {
      assertSessionId(id)
      if (files.has(id)) throw new StoreError('exists', `there is already a session ${id}`)
      if (parent) getOwnEntries(parent.session)
      const seq = (parent?.seq ?? 0) + 1
      files.set(id, [
        { seq, at: now(), kind: 'open', version: LOG_VERSION, session: id, folder, ...defined({ parent, subagent }) },
      ])
      return openLog(id)
    },
    open: async (id, { takeOver } = {}) => openLog(id, takeOver),
    read: async (id, { after } = {}) => read(id, after),
    follow: (id, options) => followEntries(() => openSource(id), options),
    list: async (options) => Promise.resolve(selectListPage([...files.keys()].map(summarize), options)),
    async remove(id) {
      getOwnEntries(id)
      if (holders.has(id)) throw new StoreError('in-use', `the session ${id} is in use`)
      const child = [...files.keys()].find((other) => getParent(other)?.session === id)
      if (child !== undefined)
        throw new StoreError('has-forks', `the session ${child} was forked from ${id}; remove that session first`)
      files.delete(id)
      wakeFollowers(id)
      const usedHashes = new Set([...files.values()].flatMap((entries) => entries.flatMap(findBlobHashes)))
      for (const hash of blobs.keys()) if (!usedHashes.has(hash)) blobs.delete(hash)
      return Promise.resolve()
    },
    putBlob: (bytes) => Promise.resolve(putBlob(bytes)),
    getBlob,
  }
}
