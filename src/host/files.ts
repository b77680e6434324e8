import { closeSync, read as readCallback, readSync, rmdirSync, unlinkSync } from 'node:fs'
import { promisify } from 'node:util'
import { type Grip, openHeld } from './grip.ts'
import type { Files } from './host.ts'
import { HostProblem, systemProblem } from './problem.ts'
import { toRaw } from './raw-name.ts'
import { reach } from './reach.ts'
import { resolvePath } from './resolve.ts'
import type { Roots } from './roots.ts'
import { entriesOf, infoOf, walkFrom } from './walk.ts'
import { CHANGED, checkWritable, writeFile } from './write.ts'
import { writeLocks } from './write-lock.ts'

/** Files of this machine, within the allowed folders. `lockFolder` is where the processes that write them find each other's locks. */
export function localFiles(roots: Roots, lockFolder?: string): Files {
  const locks = writeLocks(lockFolder)
  const files: Files = {
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

    write: (path, bytes, how) =>
      locks.during(realPath(path), async (temporary) => writeFile(roots, path, bytes, { mode: how?.mode, temporary })),

    update: (path, make, how) =>
      locks.during(realPath(path), async (temporary) => {
        for (let tries = 0; tries < MAX_TRIES; tries++) {
          const isThere = reach(roots, path, { need: 'write' }, ({ found }) => {
            checkWritable(found, path)
            return found !== undefined
          })
          const current = isThere ? await files.read(path) : undefined
          const bytes = await make(current)
          if (!bytes) return
          try {
            return writeFile(roots, path, bytes, { mode: how?.mode, temporary, expected: { bytes: current } })
          } catch (error) {
            if (!(error instanceof HostProblem && error.code === 'changed')) throw error
          }
        }
        throw new HostProblem('changed', CHANGED + path)
      }),

    async remove(path) {
      reach(roots, path, { need: 'write', linkItself: true }, ({ found, folder, names }) => {
        if (!found) throw new HostProblem('not-found', `File not found: ${path}`)
        const [name] = names
        if (!folder || name === undefined) throw new HostProblem('outside', `An allowed folder itself stays: ${path}`)
        if (found.stats.isDirectory()) rmdirSync(toRaw(`${folder.at}/${name}`))
        else unlinkSync(toRaw(`${folder.at}/${name}`))
      })
    },

    list: async (path) => reach(roots, path, { need: 'read' }, ({ found }) => entriesOf(folderAt(found, path))),

    async walk(path, visit, signal) {
      const top = reach(roots, path, { need: 'read' }, ({ found, keep, path: real }) => ({
        folder: keep(folderAt(found, path)),
        real,
      }))
      await walkFrom(top.folder, top.real, visit, signal)
    },

    resolve: async (path) => resolvePath(path),
  }
  return files
}

/** How often an edit is made anew on a file that somebody else goes on writing. */
const MAX_TRIES = 5

/** The name under which a path is locked. What is wrong with a path is said where it is opened. */
function realPath(path: string): string {
  try {
    return resolvePath(path)
  } catch {
    return path
  }
}

const MAX_READ = 1 << 30
const CHUNK = 1 << 20

const readAsync = promisify(readCallback)

const SMALL = 64 * 1024

/** Reads so many bytes, or fewer if the file ends before. */
async function readBytes(descriptor: number, from: number, wanted: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafe(wanted)
  // Handing a small read to another thread takes longer than the read.
  let done = wanted <= SMALL ? readSync(descriptor, bytes, 0, wanted, from) : 0
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
