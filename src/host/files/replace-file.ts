import { randomBytes } from 'node:crypto'
import { closeSync, constants, fchmodSync, fchownSync, fsyncSync, openSync, renameSync, type Stats } from 'node:fs'
import { unlinkSync, writeSync } from 'node:fs'
import { encodeSurrogateEscape } from './surrogate-escape.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'

interface ReplaceOptions {
  /** Without one, the default for new files. */
  readonly mode?: number
  /** The owner, if the system permits it. */
  readonly owner?: Pick<Stats, 'uid' | 'gid'>
  /** The name until the file is complete; a random one without it. */
  readonly temporaryName?: string
  readonly beforeRename?: () => void
}

/**
 * Replaces a file atomically: writes a new file beside it, syncs it, and renames it. After a crash of the process or the
 * machine either the old file is there or the new one.
 */
export function replaceFile(folder: string, name: string, bytes: Uint8Array, options: ReplaceOptions = {}): void {
  const temporaryPath = `${folder}/${options.temporaryName ?? createTemporaryName()}`
  // A file of this name was left by a writer that was killed.
  if (options.temporaryName !== undefined) removeIfPresent(temporaryPath)
  try {
    writeNewFile(temporaryPath, bytes, options)
    options.beforeRename?.()
    renameSync(temporaryPath, encodeSurrogateEscape(`${folder}/${name}`))
  } catch (error) {
    removeIfPresent(temporaryPath)
    throw error
  }
  syncFolder(folder)
}

function writeNewFile(at: string, bytes: Uint8Array, { mode, owner }: ReplaceOptions): void {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  const descriptor = openSync(at, flags, (mode ?? 0o666) & 0o777)
  try {
    for (let done = 0; done < bytes.length;) done += writeSync(descriptor, bytes, done)
    if (owner) setOwner(descriptor, owner)
    if (mode !== undefined) fchmodSync(descriptor, mode)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function setOwner(descriptor: number, { uid, gid }: Pick<Stats, 'uid' | 'gid'>): void {
  if (uid === process.getuid?.() && gid === process.getgid?.()) return
  // Only root may give files away; else it becomes ours, as in any editor.
  tryOrUndefined(() => fchownSync(descriptor, uid, gid))
}

export function createTemporaryName(): string {
  return `.dragoman-${randomBytes(8).toString('hex')}.tmp`
}

export function removeIfPresent(at: string): void {
  tryOrUndefined(() => unlinkSync(at))
}

/** The rename itself must reach the disk too. Not every file system can sync a folder. */
function syncFolder(folder: string): void {
  tryOrUndefined(() => {
    const descriptor = openSync(folder, constants.O_RDONLY)
    try {
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
  })
}
