import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Entry } from '../entry.ts'
import { START, writeLine } from '../line.ts'
import { blobsIn as blobsNamed, unstow } from '../media.ts'
import { type Damage, type Scanned, scanLines } from '../scan.ts'
import { isUnfinished, latestOf, titleOf } from '../summary.ts'
import { blobsIn } from './blobs.ts'
import { makeFolder } from './durable.ts'
import { isHeld, type Lock, takeLock } from './lock.ts'
import { isResting, openLogFile } from './log-file.ts'
import { codeOf, fullDisk, messageOf, unsaved } from './problem.ts'
import { endsOfFile, linesOfFile } from './read-lines.ts'
import { type Opened, type SessionLog, type SessionSummary, type Store, StoreProblem } from './store.ts'

/** Sessions as files of one folder: `<id>.jsonl`, one line an entry, only ever appended to; blobs beside them by their hash. */
export function jsonlStore(folder: string, now: () => number = Date.now): Store {
  const file = (id: string) => join(folder, `${id}.jsonl`)
  const lockFile = (id: string) => join(folder, `${id}.lock`)
  const blobs = blobsIn(join(folder, 'blobs'))

  function scan(id: string): Scanned {
    if (!SAFE.test(id)) throw new StoreProblem(`“${id}” is not the name of a session`)
    try {
      const scanned = scanLines(linesOfFile(file(id)))
      const first = scanned.entries[0]
      if (first?.kind === 'open' && first.version > VERSION && !scanned.damages.some(({ line }) => line === 1))
        throw new StoreProblem(`the session ${id} was written by a newer version of dragoman; it is left as it is`)
      return scanned
    } catch (error) {
      if (error instanceof StoreProblem) throw error
      if (codeOf(error) === 'ENOENT') throw new StoreProblem(`there is no session ${id}`)
      throw new StoreProblem(`the session ${id} cannot be read: ${messageOf(error)}`)
    }
  }

  /** All entries of a session: first those of what it was forked from, and of that, and so on. */
  function whole({ entries, damages, uncertainUpTo }: Scanned, seen: readonly string[]): Opened {
    const first = entries[0]
    const parent = first?.kind === 'open' ? first.parent : undefined
    if (!parent) return { entries, damages, uncertainUpTo }
    const broken = (what: Damage['what']): Opened => ({
      entries,
      damages: [{ line: 1, what }, ...damages],
      uncertainUpTo,
    })
    if (seen.includes(parent.session)) return broken('circular')
    if (!SAFE.test(parent.session) || !existsSync(file(parent.session))) return broken('orphaned')
    const before = whole(scan(parent.session), [...seen, parent.session])
    const beyond = before.damages.filter(({ what }) => what === 'circular' || what === 'orphaned')
    const inherited = before.entries.filter((entry) => entry.seq <= parent.seq)
    return {
      entries: [...inherited, ...entries],
      damages: [...beyond, ...damages],
      // What the parent had still to do is its own to do: a call must not be carried out in both.
      uncertainUpTo: Math.max(uncertainUpTo, parent.seq),
    }
  }

  function read(scanned: Scanned, id: string): Opened {
    const { entries, ...rest } = whole(scanned, [id])
    return { ...rest, entries: entries.map((entry) => unstow(entry, blobs.get)) }
  }

  function openLog(id: string, lock: Lock, newNames: readonly string[] = []): SessionLog {
    const scanned = scan(id)
    const { entries, damages, uncertainUpTo = 0 } = read(scanned, id)
    const first = scanned.entries[0]
    const last = entries.at(-1)
    const isAtRest = last === undefined || isResting(last.kind)
    const isEndSure = isAtRest || isEndKnown(lock.former, last.seq)
    const log = openLogFile({
      id,
      path: file(id),
      seq: Math.max(last?.seq ?? 0, scanned.top),
      at: last?.at ?? 0,
      sum: scanned.sum,
      now,
      put: blobs.put,
      hasWords: entries.some(({ kind }) => kind === 'user'),
      newNames,
      lock,
      isAtRest,
      isEndSure,
    })
    return {
      id,
      folder: first?.kind === 'open' ? first.folder : '',
      entries,
      damages,
      uncertainUpTo: isEndSure ? uncertainUpTo : Infinity,
      ...(!lock.sure && { unlocked: true }),
      ...log,
    }
  }

  /** A session must be there before it is locked: nobody wants a lock for a name that they mistyped. */
  function demand(id: string): void {
    if (!SAFE.test(id)) throw new StoreProblem(`“${id}” is not the name of a session`)
    if (!existsSync(file(id))) throw new StoreProblem(`there is no session ${id}`)
  }

  function lockOf(id: string, options?: { takeOver?: boolean }): Lock {
    try {
      return takeLock(lockFile(id), `the session ${id}`, options)
    } catch (error) {
      throw fullDisk(error) === undefined ? error : unsaved(id, error)
    }
  }

  /** A folder and a lock for a new session. */
  function begin(id: string): { lock: Lock; newNames: readonly string[] } {
    try {
      const newNames = makeFolder(folder)
      return { newNames, lock: takeLock(lockFile(id), `the session ${id}`) }
    } catch (error) {
      throw fullDisk(error) === undefined ? error : unsaved(id, error, false)
    }
  }

  const ids = (): string[] =>
    existsSync(folder)
      ? readdirSync(folder).flatMap((name) => (name.endsWith('.jsonl') ? [name.slice(0, -6)] : []))
      : []

  /** Blobs that no log names go, unless somebody is at work here, who may be about to name one. */
  function sweep(): void {
    if (!existsSync(join(folder, 'blobs')) || ids().some((id) => isHeld(lockFile(id)))) return
    try {
      blobs.keepOnly(new Set(ids().flatMap((id) => scan(id).entries.flatMap(blobsNamed))))
    } catch {
      // One of the logs cannot be read, and may name any of them: they all stay.
    }
  }

  /** From the ends of the file alone: a list must not read all that was ever said. */
  function summary(id: string, upTo = Infinity, seen: readonly string[] = []): SessionSummary {
    const { first, last, changed } = endsOfFile(file(id))
    const open = first.find((entry) => entry.kind === 'open')
    const parent = open?.kind === 'open' ? open.parent : undefined
    const known = parent && SAFE.test(parent.session) && existsSync(file(parent.session))
    const inherits = known && !seen.includes(parent.session)
    const above = inherits ? summary(parent.session, Math.min(upTo, parent.seq), [...seen, id]).title : ''
    return {
      id,
      folder: open?.kind === 'open' ? open.folder : '',
      created: open?.at ?? 0,
      changed,
      title: above || titleOf(first.filter((entry) => entry.seq <= upTo)),
      ...latestOf(last),
      ...(isUnfinished(last.at(-1)) && { unfinished: true }),
      ...(parent && { parent }),
    }
  }

  return {
    create({ id, folder: workFolder, parent }) {
      if (!SAFE.test(id)) throw new StoreProblem(`“${id}” is not the name of a session`)
      if (parent) demand(parent.session)
      const { lock, newNames } = begin(id)
      const open: Entry = {
        seq: (parent?.seq ?? 0) + 1,
        at: now(),
        kind: 'open',
        version: VERSION,
        session: id,
        folder: workFolder,
        ...(parent && { parent }),
      }
      try {
        writeFileSync(file(id), writeLine(open, START).line, { flag: 'wx', mode: 0o600 })
        return openLog(id, lock, newNames)
      } catch (error) {
        lock.release()
        if (error instanceof StoreProblem) throw error
        if (codeOf(error) === 'EEXIST') throw new StoreProblem(`there is already a session ${id}`)
        // Nothing was said in it yet; half a first line is of no use to anybody.
        rmSync(file(id), { force: true })
        throw unsaved(id, error, false)
      }
    },
    open(id, options) {
      demand(id)
      const lock = lockOf(id, options)
      try {
        return openLog(id, lock)
      } catch (error) {
        lock.release()
        throw error instanceof StoreProblem
          ? error
          : new StoreProblem(`the session ${id} cannot be opened: ${messageOf(error)}`)
      }
    },
    read: (id) => read(scan(id), id),
    list: () =>
      ids()
        .map((id) => summary(id))
        .sort((a, b) => b.changed - a.changed),
    remove(id) {
      demand(id)
      const child = this.list().find((session) => session.parent?.session === id)
      if (child) throw new StoreProblem(`the session ${child.id} was forked from ${id}; remove that first`)
      const lock = takeLock(lockFile(id), `the session ${id}`)
      rmSync(file(id))
      lock.release()
      sweep()
    },
    putBlob: blobs.put,
    getBlob: blobs.get,
  }
}

/**
 * Is nothing missing at the end of a log that stops in the middle of a run? Whoever wrote it and was killed left a lock
 * behind; whoever closed it left the number of its last entry. Where neither is there, as in a copy, nobody knows.
 */
function isEndKnown(former: string | undefined, last: number): boolean {
  if (former === undefined) return false
  const closedAfter = /^0 closed (\d+)$/.exec(former)?.[1]
  return closedAfter === undefined || Number(closedAfter) <= last
}

/** The version of the log that we write. Lines have gained a hash of their own since, which all readers of version 1 allow. */
const VERSION = 1

const SAFE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
