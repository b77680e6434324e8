import { closeSync, read as readCallback, readSync, rmdirSync, unlinkSync } from 'node:fs'
import { promisify } from 'node:util'
import { type PathHandle, openForReading } from './path-handle.ts'
import type { Files } from '../host.ts'
import { HostError, toHostError } from '../host-error.ts'
import { encodeSurrogateEscape } from './surrogate-escape.ts'
import { withOpenedPath } from './opened-path.ts'
import { resolvePath } from './resolve-path.ts'
import type { AllowedRoots } from './allowed-roots.ts'
import { listEntries, toFileInfo, walkFolders } from './walk-folders.ts'
import { CHANGED_MESSAGE, assertReplaceable, writeFileAtomically } from './write-file.ts'
import { createWriteLocks } from './write-lock.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'

/** `lockFolder` is where all processes that write these files keep their locks. */
export function createLocalFiles(roots: AllowedRoots, lockFolder?: string): Files {
  const locks = createWriteLocks(lockFolder)
  const files: Files = {
    info: async (path) =>
      withOpenedPath(roots, path, { need: 'read' }, ({ entry }) => entry && toFileInfo(entry.stats)),

    async read(path, range, maxBytes = MAX_READ_BYTES) {
      const { descriptor, size } = withOpenedPath(roots, path, { need: 'read' }, ({ entry }) => {
        if (!entry) throw new HostError('not-found', `File not found: ${path}`)
        if (entry.stats.isDirectory()) throw new HostError('is-folder', `The path is a folder, not a file: ${path}`)
        if (!entry.stats.isFile()) throw new HostError('not-file', `Not an ordinary file: ${path}`)
        return { descriptor: openForReading(entry), size: entry.stats.size }
      })
      try {
        const from = range?.from ?? 0
        const length = Math.min(range?.bytes ?? Number.POSITIVE_INFINITY, Math.max(0, size - from))
        if (length > maxBytes)
          throw new HostError('too-large', `The file is too large to be read at once (${size} bytes): ${path}`)
        return await readBytes(descriptor, from, length)
      } catch (error) {
        throw toHostError(error, path)
      } finally {
        closeSync(descriptor)
      }
    },

    write: (path, bytes, options) =>
      locks.withLock(resolveLockPath(path), async (temporary) =>
        writeFileAtomically(roots, path, bytes, { mode: options?.mode, temporary }),
      ),

    update: (path, transform, options) =>
      locks.withLock(resolveLockPath(path), async (temporary) => {
        for (let attempt = 0; attempt < MAX_UPDATE_ATTEMPTS; attempt++) {
          const exists = withOpenedPath(roots, path, { need: 'write' }, ({ entry }) => {
            assertReplaceable(entry, path)
            return entry !== undefined
          })
          const current = exists ? await files.read(path) : undefined
          const bytes = await transform(current)
          if (!bytes) return
          try {
            const expected = { bytes: current }
            return writeFileAtomically(roots, path, bytes, { mode: options?.mode, temporary, expected })
          } catch (error) {
            if (!(error instanceof HostError && error.code === 'changed')) throw error
          }
        }
        throw new HostError('changed', CHANGED_MESSAGE + path)
      }),

    async remove(path) {
      withOpenedPath(roots, path, { need: 'write', noFollow: true }, ({ entry, folder, names }) => {
        if (!entry) throw new HostError('not-found', `File not found: ${path}`)
        const [name] = names
        if (!folder || name === undefined)
          throw new HostError('outside', `An allowed folder itself cannot be removed: ${path}`)
        if (entry.stats.isDirectory()) rmdirSync(encodeSurrogateEscape(`${folder.at}/${name}`))
        else unlinkSync(encodeSurrogateEscape(`${folder.at}/${name}`))
      })
    },

    list: async (path) =>
      withOpenedPath(roots, path, { need: 'read' }, ({ entry }) => listEntries(requireFolder(entry, path))),

    async walk(path, visit, signal) {
      const top = withOpenedPath(roots, path, { need: 'read' }, ({ entry, keep, path: real }) => ({
        folder: keep(requireFolder(entry, path)),
        real,
      }))
      await walkFolders(top.folder, top.real, visit, signal)
    },

    resolve: async (path) => resolvePath(path),
  }
  return files
}

/** How often an edit is repeated on a file that somebody else keeps writing. */
const MAX_UPDATE_ATTEMPTS = 5

/** The path that is locked. An invalid path is reported when it is opened. */
function resolveLockPath(path: string): string {
  return tryOrUndefined(() => resolvePath(path)) ?? path
}

const MAX_READ_BYTES = 1 << 30
const READ_CHUNK_BYTES = 1 << 20

const readAsync = promisify(readCallback)

const MAX_SYNC_READ_BYTES = 64 * 1024

async function readBytes(descriptor: number, from: number, length: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafe(length)
  // A small read in another thread takes longer than the read itself.
  let bytesDone = length <= MAX_SYNC_READ_BYTES ? readSync(descriptor, bytes, 0, length, from) : 0
  while (bytesDone < length) {
    const chunkLength = Math.min(READ_CHUNK_BYTES, length - bytesDone)
    const { bytesRead } = await readAsync(descriptor, bytes, bytesDone, chunkLength, from + bytesDone)
    if (bytesRead === 0) break
    bytesDone += bytesRead
  }
  return bytes.subarray(0, bytesDone)
}

function requireFolder(entry: PathHandle | undefined, path: string): PathHandle {
  if (!entry) throw new HostError('not-found', `Folder not found: ${path}`)
  if (!entry.stats.isDirectory()) throw new HostError('not-folder', `Not a folder: ${path}`)
  return entry
}
