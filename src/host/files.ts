import { closeSync, lstatSync, read as readCallback, readdirSync, rmdirSync, type Stats, unlinkSync } from 'node:fs'
import { setImmediate as nextTick } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Grip, grip, openHeld } from './grip.ts'
import type { FileInfo, Files, FolderEntry, FolderView } from './host.ts'
import { HostProblem, systemProblem } from './problem.ts'
import { reach } from './reach.ts'
import { resolvePath } from './resolve.ts'
import type { Roots } from './roots.ts'
import { writeFile } from './write.ts'

/** Files of this machine, within the allowed folders. */
export function localFiles(roots: Roots): Files {
  return {
    info: async (path) => reach(roots, path, { need: 'read' }, ({ found }) => found && infoOf(found.stats)),

    async read(path, range) {
      const { descriptor, size } = reach(roots, path, { need: 'read' }, ({ found }) => {
        if (!found) throw new HostProblem('not-found', `File not found: ${path}`)
        if (found.stats.isDirectory()) throw new HostProblem('is-folder', `The path is a folder, not a file: ${path}`)
        if (!found.stats.isFile()) throw new HostProblem('not-file', `Not an ordinary file: ${path}`)
        return { descriptor: openHeld(found), size: found.stats.size }
      })
      try {
        const from = range?.from ?? 0
        const wanted = Math.min(range?.bytes ?? Number.POSITIVE_INFINITY, Math.max(0, size - from))
        if (wanted > MAX_READ)
          throw new HostProblem('too-large', `Too large to be read at once (${size} bytes): ${path}`)
        return await readBytes(descriptor, from, wanted)
      } catch (error) {
        throw systemProblem(error, path)
      } finally {
        closeSync(descriptor)
      }
    },

    write: async (path, bytes) => writeFile(roots, path, bytes),

    async remove(path) {
      reach(roots, path, { need: 'write', linkItself: true }, ({ found, folder, names }) => {
        if (!found) throw new HostProblem('not-found', `File not found: ${path}`)
        const [name] = names
        if (!folder || name === undefined) throw new HostProblem('outside', `An allowed folder itself stays: ${path}`)
        if (found.stats.isDirectory()) rmdirSync(`${folder.at}/${name}`)
        else unlinkSync(`${folder.at}/${name}`)
      })
    },

    list: async (path) => reach(roots, path, { need: 'read' }, ({ found }) => entriesOf(folderAt(found, path))),

    async walk(path, visit, signal) {
      const top = reach(roots, path, { need: 'read' }, ({ found, keep, path: real }) => ({
        folder: keep(folderAt(found, path)),
        real,
      }))
      let seen = 0

      async function descend(folder: Grip, at: string, depth: number): Promise<void> {
        // Everything here is quick and synchronous, so others get their turn now and then.
        if (++seen % 500 === 0) await nextTick()
        signal?.throwIfAborted()
        const names = visit(viewOf(folder, at))
        if (depth >= MAX_DEPTH) return
        for (const name of names instanceof Promise ? await names : names) {
          const inner = gripFolder(`${folder.at}/${name}`)
          if (!inner) continue
          try {
            await descend(inner, at === '/' ? `/${name}` : `${at}/${name}`, depth + 1)
          } finally {
            inner.release()
          }
        }
      }

      try {
        await descend(top.folder, top.real, 0)
      } finally {
        top.folder.release()
      }
    },

    resolve: (path) => resolvePath(path),
  }
}

const MAX_READ = 1 << 30
const MAX_DEPTH = 200
const CHUNK = 1 << 20

const readAsync = promisify(readCallback)

/** Reads so many bytes, or fewer if the file ends before. */
async function readBytes(descriptor: number, from: number, wanted: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafe(wanted)
  let done = 0
  while (done < wanted) {
    const { bytesRead } = await readAsync(descriptor, bytes, done, Math.min(CHUNK, wanted - done), from + done)
    if (bytesRead === 0) break
    done += bytesRead
  }
  return bytes.subarray(0, done)
}

function folderAt(found: Grip | undefined, path: string): Grip {
  if (!found) throw new HostProblem('not-found', `Folder not found: ${path}`)
  if (!found.stats.isDirectory()) throw new HostProblem('not-folder', `Not a folder: ${path}`)
  return found
}

/** A folder that is gone, closed to us, or a link by now is passed over. */
function gripFolder(at: string): Grip | undefined {
  try {
    const inner = grip(at)
    if (inner.stats.isDirectory()) return inner
    inner.release()
  } catch {
    // Passed over, as said.
  }
  return undefined
}

function viewOf(folder: Grip, path: string): FolderView {
  return {
    path,
    entries: entriesOr(folder),
    info(name) {
      try {
        return infoOf(lstatSync(`${folder.at}/${name}`))
      } catch {
        return undefined
      }
    },
  }
}

function entriesOr(folder: Grip): FolderEntry[] {
  try {
    return entriesOf(folder)
  } catch {
    return []
  }
}

function entriesOf(folder: Grip): FolderEntry[] {
  return readdirSync(folder.at, { withFileTypes: true }).map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
}

function infoOf(stats: Stats): FileInfo {
  return { kind: kindOf(stats), size: stats.size, changed: stats.mtimeMs, mode: stats.mode & 0o7777 }
}

interface Kinds {
  isFile(): boolean
  isDirectory(): boolean
  isSymbolicLink(): boolean
}

function kindOf(one: Kinds): FileInfo['kind'] {
  if (one.isFile()) return 'file'
  if (one.isDirectory()) return 'folder'
  return one.isSymbolicLink() ? 'link' : 'other'
}
