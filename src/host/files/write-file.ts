import { closeSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type PathHandle, openPathHandle, openForReading, readCurrentPath } from './path-handle.ts'
import { getErrnoCode, HostError } from '../host-error.ts'
import { type OpenedPath, withOpenedPath } from './opened-path.ts'
import { replaceFile } from './replace-file.ts'
import type { AllowedRoots } from './allowed-roots.ts'
import { defined } from '../../model/defined.ts'

interface WriteFileOptions {
  readonly mode?: number | undefined
  /** The name of the new file until it is complete. */
  readonly temporary?: string
  /** The content that the file must have when it is replaced; `undefined` bytes mean no file. Any content without it. */
  readonly expected?: { readonly bytes: Uint8Array | undefined }
}

/**
 * Writes a file atomically. Its mode and, if the system permits it, its owner stay. Links are followed; missing folders are
 * created.
 */
export function writeFileAtomically(
  roots: AllowedRoots,
  path: string,
  bytes: Uint8Array,
  { mode, temporary, expected }: WriteFileOptions,
): void {
  withOpenedPath(roots, path, { need: 'write' }, (opened) => {
    const { entry } = opened
    assertReplaceable(entry, path)
    const { folder, name } = createParentFolders(opened)
    const recheck = (): void => recheckFolder(roots, folder, dirname(opened.path))
    recheck()
    const preserved = entry && { owner: entry.stats, mode: entry.stats.mode & 0o7777 }
    replaceFile(folder.at, name, bytes, {
      ...preserved,
      ...defined({ mode, temporaryName: temporary }),
      beforeRename() {
        recheck()
        // Syncing took time since the file was read; this is the last moment to notice another writer.
        if (expected && !hasContent(`${folder.at}/${name}`, expected.bytes))
          throw new HostError('changed', CHANGED_MESSAGE + path)
      },
    })
    recheck()
  })
}

export const CHANGED_MESSAGE =
  'Another program changed the file while it was being written. Read it again, then repeat: '

export function assertReplaceable(entry: PathHandle | undefined, path: string): void {
  if (entry?.stats.isDirectory()) throw new HostError('is-folder', `The path is a folder, not a file: ${path}`)
  if (entry && !entry.stats.isFile()) throw new HostError('not-file', `Not an ordinary file: ${path}`)
  if (entry && (entry.stats.mode & 0o222) === 0) throw new HostError('read-only', `The file is read-only: ${path}`)
}

function hasContent(at: string, bytes: Uint8Array | undefined): boolean {
  let handle: PathHandle
  try {
    handle = openPathHandle(at)
  } catch (error) {
    if (getErrnoCode(error) === 'ENOENT') return bytes === undefined
    throw error
  }
  try {
    if (!bytes || !handle.stats.isFile() || handle.stats.size !== bytes.length) return false
    const descriptor = openForReading(handle)
    try {
      return readFileSync(descriptor).equals(bytes)
    } finally {
      closeSync(descriptor)
    }
  } finally {
    handle.release()
  }
}

function createParentFolders({ folder, names, hold, path }: OpenedPath): { folder: PathHandle; name: string } {
  const [name = '', ...deeper] = names
  if (folder === undefined) throw new HostError('is-folder', `The path is a folder, not a file: ${path}`)
  if (!folder.stats.isDirectory()) throw new HostError('not-folder', `A part of the path is a file: ${path}`)
  let last = folder
  const all = [name, ...deeper]
  for (const segment of all.slice(0, -1)) {
    try {
      mkdirSync(`${last.at}/${segment}`)
    } catch (error) {
      if (getErrnoCode(error) !== 'EEXIST') throw error
    }
    last = hold(`${last.at}/${segment}`)
    if (!last.stats.isDirectory()) throw new HostError('moved', `A folder of the path was replaced: ${path}`)
  }
  return { folder: last, name: all.at(-1) ?? '' }
}

/** A checked folder may have been moved since, with us holding it. */
function recheckFolder(roots: AllowedRoots, folder: PathHandle, expectedPath: string): void {
  const now = readCurrentPath(folder)
  if (now === undefined || now === expectedPath) return
  try {
    roots.check(now, 'write')
  } catch {
    // An extra file is in a folder that is not allowed as such; there the path must be the same.
    throw new HostError('moved', `The folder was moved: ${expectedPath}`)
  }
}
