import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Entry, LOG_ENTRY_TRAITS } from '../log/entry.ts'
import { INITIAL_SUM, encodeLogLine } from '../log/log-line.ts'
import { findBlobHashes, restoreMedia } from '../log/external-media.ts'
import { type LogDamage, type ScannedLog, scanLogLines } from '../log/scan-log.ts'
import { createSessionSummary } from '../session-summary.ts'
import { createBlobStore } from './blob-store.ts'
import { createPrivateFolder, replaceByCopy } from './durable-write.ts'
import { isLockHeld, type Lock, acquireLock } from './lock-file.ts'
import { createFolderWatch } from './folder-watch.ts'
import { type EntrySource, followEntries } from './follow-entries.ts'
import { selectListPage } from './list-page.ts'
import { createLogTail } from './log-tail.ts'
import { openLogFile } from './log-file.ts'
import { getErrorMessage } from '../../model/error-message.ts'
import { getErrorCode, getDiskFullReason, createWriteError } from './errors.ts'
import { readLogEnds, readLogLines } from './read-log-lines.ts'
import {
  assertSessionId,
  LOG_VERSION,
  SESSION_ID_PATTERN,
  type ListOptions,
  type SessionContents,
  type SessionLog,
  type SessionSummary,
  type Store,
  StoreError,
} from './store.ts'
import { createTimeSlices } from '../time-slices.ts'
import { defined } from '../../model/defined.ts'

/** Keeps sessions in a folder: append-only files `<id>.jsonl`, one entry per line, and blobs named by their hash. */
export function jsonlStore(folder: string, now: () => number = Date.now): Store {
  const file = (id: string) => join(folder, `${id}.jsonl`)
  const lockFile = (id: string) => join(folder, `${id}.lock`)
  const blobs = createBlobStore(join(folder, 'blobs'))
  const getBlob = (hash: string) => Promise.resolve(blobs.get(hash))
  const changes = createFolderWatch(folder)
  const exists = (id: string) => SESSION_ID_PATTERN.test(id) && existsSync(file(id))

  async function scan(id: string): Promise<ScannedLog> {
    assertSessionId(id)
    try {
      const scanned = await scanLogLines(readLogLines(file(id)))
      const first = scanned.entries[0]
      if (first?.kind === 'open' && first.version > LOG_VERSION && !scanned.damages.some(({ line }) => line === 1))
        throw new StoreError(
          'newer-version',
          `the session ${id} was written by a newer version of dragoman; use that version`,
        )
      return scanned
    } catch (error) {
      throw toReadError(id, error)
    }
  }

  /** The entries of a session, after those of its parents. */
  async function withParentEntries(
    { entries, damages, uncertainUpTo }: ScannedLog,
    seen: readonly string[],
  ): Promise<SessionContents> {
    const parent = entries[0]?.kind === 'open' ? entries[0].parent : undefined
    if (!parent) return { entries, damages, uncertainUpTo }
    const withBrokenParent = (what: LogDamage['what']): SessionContents => {
      return { entries, damages: [{ line: 1, what }, ...damages], uncertainUpTo }
    }
    if (seen.includes(parent.session)) return withBrokenParent('circular')
    if (!exists(parent.session)) return withBrokenParent('orphaned')
    const before = await withParentEntries(await scan(parent.session), [...seen, parent.session])
    const parentDamages = before.damages.filter(({ what }) => what === 'circular' || what === 'orphaned')
    const inherited = before.entries.filter((entry) => entry.seq <= parent.seq)
    return {
      entries: [...inherited, ...entries],
      damages: [...parentDamages, ...damages],
      // Pending calls of the parent belong to the parent: a call must not run in both.
      uncertainUpTo: Math.max(uncertainUpTo, parent.seq),
    }
  }

  async function read(scanned: ScannedLog, id: string, after = 0): Promise<SessionContents> {
    const { entries, ...rest } = await withParentEntries(scanned, [id])
    const wanted = after > 0 ? entries.filter(({ seq }) => seq > after) : entries
    return { ...rest, entries: await restoreMedia(wanted, getBlob) }
  }

  function openSource(id: string): EntrySource {
    assertSessionExists(id)
    const tail = createLogTail(file(id), async (after) =>
      (await withParentEntries(await scan(id), [id])).entries.filter(({ seq }) => seq > after),
    )
    return {
      async readAfter(after) {
        try {
          const { entries, upTo } = await tail.readAfter(after)
          return { entries: await restoreMedia(entries, getBlob), upTo }
        } catch (error) {
          throw toReadError(id, error)
        }
      },
      watch(onChange) {
        const watching = changes.watch(`${id}.jsonl`, onChange)
        onChange()
        return watching
      },
    }
  }

  async function openSessionLog(id: string, lock: Lock, unsyncedFolders: readonly string[] = []): Promise<SessionLog> {
    if (lock.isTakenFromUnknown) replaceByCopy(file(id))
    const scanned = await scan(id)
    const { entries, damages, uncertainUpTo = 0 } = await read(scanned, id)
    const first = scanned.entries[0]
    const last = entries.at(-1)
    const isIdle = last === undefined || LOG_ENTRY_TRAITS[last.kind].isIdle === true
    const isEndVerified = isIdle || isEndComplete(lock.previousLockText, last.seq)
    const log = openLogFile({
      id,
      path: file(id),
      seq: Math.max(last?.seq ?? 0, scanned.highestSeq),
      at: last?.at ?? 0,
      sum: scanned.lastSum,
      now,
      putBlob: blobs.put,
      hasUserEntry: entries.some(({ kind }) => kind === 'user'),
      unsyncedFolders,
      lock,
      isIdle,
      isEndVerified,
    })
    return {
      id,
      folder: first?.kind === 'open' ? first.folder : '',
      entries,
      damages,
      uncertainUpTo: isEndVerified ? uncertainUpTo : Infinity,
      ...(!lock.isExclusive && { unlocked: true }),
      ...log,
    }
  }

  /** Checked before the lock, so that a mistyped name leaves no lock file. */
  function assertSessionExists(id: string): void {
    assertSessionId(id)
    if (!exists(id)) throw createNotFoundError(id)
  }

  const lockSession = (id: string, options?: { takeOver?: boolean }): Lock =>
    acquireLock(lockFile(id), `the session ${id}`, options)

  function orDiskFull<T>(id: string, hasUserEntry: boolean, work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw getDiskFullReason(error) === undefined ? error : createWriteError(id, error, hasUserEntry)
    }
  }

  const ids = (): string[] =>
    existsSync(folder)
      ? readdirSync(folder).flatMap((name) => (name.endsWith('.jsonl') ? [name.slice(0, -6)] : []))
      : []

  /** Removes blobs that no log refers to, unless a session is open: it may be about to refer to one. */
  async function removeUnusedBlobs(): Promise<void> {
    if (!existsSync(join(folder, 'blobs')) || ids().some((id) => isLockHeld(lockFile(id)))) return
    // A log that grows while the others are read may refer to any of them.
    const describeLogs = (): string =>
      ids()
        .map((id) => `${id} ${statSync(file(id)).size}`)
        .join()
    try {
      const before = describeLogs()
      const usedHashes = new Set<string>()
      for (const id of ids()) for (const hash of (await scan(id)).entries.flatMap(findBlobHashes)) usedHashes.add(hash)
      if (describeLogs() === before && !ids().some((id) => isLockHeld(lockFile(id)))) blobs.removeAllExcept(usedHashes)
    } catch {
      // A log that cannot be read may refer to any of them: all blobs stay.
    }
  }

  /** Reads only the ends of the file, so that a list of sessions stays fast. */
  function readSummary(id: string, upTo = Infinity, seen: readonly string[] = []): SessionSummary {
    const { first, last, changed } = readLogEnds(file(id))
    const open = first.find((entry) => entry.kind === 'open')
    const inherited = first.filter((entry) => entry.seq <= upTo)
    const summary = createSessionSummary(id, open, inherited, last)
    const { parent } = summary
    if (!parent || !exists(parent.session) || seen.includes(parent.session)) return { ...summary, changed }
    const { title } = readSummary(parent.session, Math.min(upTo, parent.seq), [...seen, id])
    return { ...summary, changed, title: title || summary.title }
  }

  async function list(options?: ListOptions): Promise<SessionSummary[]> {
    const slices = createTimeSlices()
    const summaries: SessionSummary[] = []
    for (const id of ids()) {
      if (slices.isOver()) await slices.pause()
      // It may have been removed since the folder was listed.
      if (exists(id)) summaries.push(readSummary(id))
    }
    return selectListPage(summaries, options)
  }

  return {
    async create({ id, folder: workFolder, parent, subagent }) {
      assertSessionId(id)
      if (parent) assertSessionExists(parent.session)
      const unsyncedFolders = orDiskFull(id, false, () => createPrivateFolder(folder))
      const lock = orDiskFull(id, false, () => lockSession(id))
      const open: Entry = {
        seq: (parent?.seq ?? 0) + 1,
        at: now(),
        kind: 'open',
        version: LOG_VERSION,
        session: id,
        folder: workFolder,
        ...defined({ parent, subagent }),
      }
      try {
        writeFileSync(file(id), encodeLogLine(open, INITIAL_SUM).line, { flag: 'wx', mode: 0o600 })
        return await openSessionLog(id, lock, unsyncedFolders)
      } catch (error) {
        lock.release()
        if (error instanceof StoreError) throw error
        if (getErrorCode(error) === 'EEXIST') throw new StoreError('exists', `there is already a session ${id}`)
        // It has no messages yet, and a torn first line is useless.
        rmSync(file(id), { force: true })
        throw createWriteError(id, error, false)
      }
    },
    async open(id, options) {
      assertSessionExists(id)
      const lock = orDiskFull(id, true, () => lockSession(id, options))
      try {
        return await openSessionLog(id, lock)
      } catch (error) {
        lock.release()
        throw error instanceof StoreError
          ? error
          : new StoreError('unreadable', `the session ${id} cannot be opened: ${getErrorMessage(error)}`)
      }
    },
    read: async (id, { after } = {}) => read(await scan(id), id, after),
    follow: (id, options) => followEntries(() => openSource(id), options),
    list,
    async remove(id) {
      assertSessionExists(id)
      const child = (await list()).find((session) => session.parent?.session === id)
      if (child)
        throw new StoreError('has-forks', `the session ${child.id} was forked from ${id}; remove that session first`)
      const lock = lockSession(id)
      rmSync(file(id))
      lock.release()
      await removeUnusedBlobs()
    },
    putBlob: async (bytes) => Promise.resolve(blobs.put(bytes)),
    getBlob,
  }
}

/**
 * Is the end of a log complete, though it stops in the middle of a run? A process that was killed left its lock; one that
 * closed the log left the number of the last entry. Without either, as in a copied log, it is unknown.
 */
function isEndComplete(previousLockText: string | undefined, last: number): boolean {
  if (previousLockText === undefined) return false
  const closedAfter = /^0 closed (\d+)$/.exec(previousLockText)?.[1]
  return closedAfter === undefined || Number(closedAfter) <= last
}

function toReadError(id: string, error: unknown): StoreError {
  if (error instanceof StoreError) return error
  if (getErrorCode(error) === 'ENOENT') return createNotFoundError(id)
  return new StoreError('unreadable', `the session ${id} cannot be read: ${getErrorMessage(error)}`)
}

function createNotFoundError(id: string): StoreError {
  return new StoreError('not-found', `there is no session ${id}`)
}
