import { createHash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { type Entry, type EntryBody, mustBeDurable } from '../entry.ts'
import { type Scanned, scanLog, writeLine } from '../line.ts'
import { summaryOf } from '../summary.ts'
import { takeLock } from './lock.ts'
import { type SessionLog, type Store, StoreProblem } from './store.ts'

/** Sessions as files of one folder: `<id>.jsonl`, one line an entry, only ever appended to; blobs beside them by their hash. */
export function jsonlStore(folder: string, now: () => number = Date.now): Store {
  const file = (id: string) => join(folder, `${id}.jsonl`)
  const blob = (hash: string) => join(folder, 'blobs', hash)

  function scan(id: string): Scanned {
    if (!SAFE.test(id)) throw new StoreProblem(`“${id}” is not the name of a session`)
    try {
      const scanned = scanLog(readFileSync(file(id), 'utf8'))
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

  /** The entries of what a session was forked from, and of that, and so on. */
  function inherited(entries: readonly Entry[], seen: readonly string[]): readonly Entry[] {
    const first = entries[0]
    const parent = first?.kind === 'open' ? first.parent : undefined
    if (!parent || seen.includes(parent.session)) return []
    const own = scan(parent.session).entries
    return [...inherited(own, [...seen, parent.session]), ...own].filter((entry) => entry.seq <= parent.seq)
  }

  function openLog(id: string, scanned: Scanned, release: () => void): SessionLog {
    const base = [...inherited(scanned.entries, [id]), ...scanned.entries]
    const first = scanned.entries[0]
    let seq = Math.max(base.at(-1)?.seq ?? 0, scanned.top)
    let { sum } = scanned
    let handle: number | undefined = openForAppend(file(id))
    return {
      id,
      folder: first?.kind === 'open' ? first.folder : '',
      entries: base,
      damages: scanned.damages,
      append(body: EntryBody) {
        if (handle === undefined) throw new StoreProblem(`the session ${id} is closed`)
        const entry: Entry = { seq: seq + 1, at: now(), ...body }
        const { line, sum: next } = writeLine(entry, sum)
        writeWhole(handle, line)
        if (mustBeDurable(body)) fsyncSync(handle)
        seq++
        sum = next
        return entry
      },
      close() {
        if (handle === undefined) return
        closeSync(handle)
        handle = undefined
        release()
      },
    }
  }

  return {
    create({ id, folder: workFolder, parent }) {
      if (!SAFE.test(id)) throw new StoreProblem(`“${id}” is not the name of a session`)
      if (parent) scan(parent.session)
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const release = takeLock(join(folder, `${id}.lock`), `the session ${id}`)
      const seq = (parent?.seq ?? 0) + 1
      const entry: Entry = {
        seq,
        at: now(),
        kind: 'open',
        version: 1,
        session: id,
        folder: workFolder,
        ...(parent && { parent }),
      }
      try {
        writeFileSync(file(id), writeLine(entry, scanLog('').sum).line, { flag: 'wx', mode: 0o600 })
      } catch (error) {
        release()
        if (codeOf(error) === 'EEXIST') throw new StoreProblem(`there is already a session ${id}`)
        throw new StoreProblem(`the session ${id} cannot be written: ${messageOf(error)}`)
      }
      return openLog(id, scan(id), release)
    },
    open(id) {
      scan(id)
      const release = takeLock(join(folder, `${id}.lock`), `the session ${id}`)
      try {
        return openLog(id, scan(id), release)
      } catch (error) {
        release()
        throw error
      }
    },
    read(id) {
      const scanned = scan(id)
      return { entries: [...inherited(scanned.entries, [id]), ...scanned.entries], damages: scanned.damages }
    },
    list() {
      if (!existsSync(folder)) return []
      const ids = readdirSync(folder).flatMap((name) => (name.endsWith('.jsonl') ? [name.slice(0, -6)] : []))
      return ids.map((id) => ({ ...summaryOf(this.read(id).entries), id })).sort((a, b) => b.changed - a.changed)
    },
    remove(id) {
      scan(id)
      const child = this.list().find((session) => session.parent?.session === id)
      if (child) throw new StoreProblem(`the session ${child.id} was forked from ${id}; remove that first`)
      const release = takeLock(join(folder, `${id}.lock`), `the session ${id}`)
      rmSync(file(id))
      release()
    },
    putBlob(bytes) {
      const hash = createHash('sha256').update(bytes).digest('hex')
      if (existsSync(blob(hash))) return hash
      mkdirSync(join(folder, 'blobs'), { recursive: true, mode: 0o700 })
      const fresh = `${blob(hash)}.${process.pid}`
      const handle = openSync(fresh, 'w', 0o600)
      writeSync(handle, bytes)
      fsyncSync(handle)
      closeSync(handle)
      renameSync(fresh, blob(hash))
      return hash
    },
    getBlob(hash) {
      return /^[0-9a-f]{64}$/.test(hash) && existsSync(blob(hash)) ? readFileSync(blob(hash)) : undefined
    },
  }
}

/** The version of the log that we write. */
const VERSION = 1

const SAFE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

/** A torn last line stays as it is; the next entry begins on a line of its own. */
function openForAppend(path: string): number {
  const handle = openSync(path, 'a')
  const text = readFileSync(path)
  if (text.length > 0 && text.at(-1) !== 0x0a) writeSync(handle, '\n')
  return handle
}

function writeWhole(handle: number, line: string): void {
  const bytes = Buffer.from(line, 'utf8')
  for (let at = 0; at < bytes.length;) at += writeSync(handle, bytes, at)
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
