import type { Entry, EntryBody } from '../log/entry.ts'
import { findBlobHashes, externalizeMedia, restoreMedia } from '../log/external-media.ts'
import { createSessionSummary } from '../session-summary.ts'
import { type SessionLog, type SessionSummary, type Store, StoreError } from './store.ts'
import { defined } from '../../model/defined.ts'
import { sha256Hex } from './sha256.ts'

/** Keeps sessions in memory, for tests and for library users who want no files. */
export function memoryStore(now: () => number = Date.now): Store {
  const files = new Map<string, Entry[]>()
  const open = new Set<string>()
  const blobs = new Map<string, Uint8Array>()
  const getBlob = (hash: string) => blobs.get(hash)
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

  function getAllEntries(id: string): Entry[] {
    const entries = getOwnEntries(id)
    const first = entries[0]
    const parent = first?.kind === 'open' ? first.parent : undefined
    const inherited = parent ? getAllEntries(parent.session).filter((entry) => entry.seq <= parent.seq) : []
    return [...inherited, ...entries]
  }

  function summarize(id: string): SessionSummary {
    const entries = getAllEntries(id)
    const openEntry = entries.findLast((entry) => entry.kind === 'open')
    return createSessionSummary(id, openEntry, entries, entries)
  }

  const read = (id: string): Entry[] => getAllEntries(id).map((entry) => restoreMedia(entry, getBlob))

  function log(id: string): SessionLog {
    if (open.has(id)) throw new StoreError('in-use', `the session ${id} is in use`)
    const entries = getOwnEntries(id)
    const first = entries[0]
    const base = read(id)
    let { seq, at } = base.at(-1) ?? { seq: 0, at: 0 }
    open.add(id)
    return {
      id,
      folder: first?.kind === 'open' ? first.folder : '',
      entries: base,
      damages: [],
      append(body: EntryBody) {
        if (!open.has(id)) throw new StoreError('closed', `the session ${id} is closed`)
        at = Math.max(at, now())
        seq++
        entries.push({ seq, at, ...externalizeMedia(body, putBlob) })
        return { seq, at, ...body }
      },
      flush: () => Promise.resolve(),
      close: () => void open.delete(id),
    }
  }

  return {
    create({ id, folder, parent }) {
      if (files.has(id)) throw new StoreError('exists', `there is already a session ${id}`)
      if (parent) getOwnEntries(parent.session)
      const seq = (parent?.seq ?? 0) + 1
      files.set(id, [{ seq, at: now(), kind: 'open', version: 1, session: id, folder, ...defined({ parent }) }])
      return log(id)
    },
    open: log,
    read: (id) => ({ entries: read(id), damages: [] }),
    list: () => [...files.keys()].map(summarize).sort((a, b) => b.changed - a.changed),
    remove(id) {
      getOwnEntries(id)
      if (open.has(id)) throw new StoreError('in-use', `the session ${id} is in use`)
      const child = [...files.values()].find(([first]) => first?.kind === 'open' && first.parent?.session === id)?.[0]
      if (child?.kind === 'open') {
        const message = `the session ${child.session} was forked from ${id}; remove that session first`
        throw new StoreError('has-forks', message)
      }
      files.delete(id)
      const usedHashes = new Set([...files.values()].flatMap((entries) => entries.flatMap(findBlobHashes)))
      for (const hash of blobs.keys()) if (!usedHashes.has(hash)) blobs.delete(hash)
    },
    putBlob,
    getBlob,
  }
}
