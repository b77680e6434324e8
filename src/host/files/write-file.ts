import { closeSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type PathHandle, openPathHandle, openForReading, readCurrentPath } from './path-handle.ts'
import { errorCode, HostError } from '../host-error.ts'
import { type OpenedPath, withOpenedPath } from './opened-path.ts'
import { replaceFile } from './replace-file.ts'
import type { AllowedRoots } from './allowed-roots.ts'
import { defined } from '../../model/defined.ts'

/** How a file is written. */
export interface WriteFileOptions {
  readonly mode?: number | undefined
  /** The name that the new file has until it is whole. */
  readonly temporary?: string
  /** What the file must hold when it is replaced: these bytes, or nothing because there is none. Anything will do without it. */
  readonly expected?: { readonly bytes: Uint8Array | undefined }
}

/**
 * Writes a file whole or not at all. Its mode and, as far as the system lets us, its owner stay. A link is written through;
 * folders that are missing are made.
 */
export function writeFileAtomically(
  roots: AllowedRoots,
  path: string,
  bytes: Uint8Array,
  options: WriteFileOptions = {},
): void {
  const { mode, temporary, expected } = options
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
        // The disk was waited for since the file was read; this is the last moment to see that somebody else has written it.
        if (expected && !hasContent(`${folder.at}/${name}`, expected.bytes))
          throw new HostError('changed', CHANGED_MESSAGE + path)
      },
    })
    recheck()
  })
}

/** What a model is told of a file that somebody else writes while we do. */
export const CHANGED_MESSAGE =
  'The file was changed by somebody else while it was being written; read it again, then repeat: '

/** Refuses what cannot be replaced by an ordinary file. */
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
    if (errorCode(error) === 'ENOENT') return bytes === undefined
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
      if (errorCode(error) !== 'EEXIST') throw error
    }
    last = hold(`${last.at}/${segment}`)
    if (!last.stats.isDirectory()) throw new HostError('moved', `A folder on the way was exchanged: ${path}`)
  }
  return { folder: last, name: all.at(-1) ?? '' }
}

/** A folder that was judged may have been moved away since, with us holding it. */
function recheckFolder(roots: AllowedRoots, folder: PathHandle, expectedPath: string): void {
  const now = readCurrentPath(folder)
  if (now === undefined || now === expectedPath) return
  try {
    roots.check(now, 'write')
  } catch {
    // An own file stands in a folder that is not allowed as such; there the place must be the same.
    throw new HostError('moved', `The folder was moved away: ${expectedPath}`)
  }
}
