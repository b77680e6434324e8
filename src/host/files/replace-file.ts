import { randomBytes } from 'node:crypto'
import { closeSync, constants, fchmodSync, fchownSync, fsyncSync, openSync, renameSync, type Stats } from 'node:fs'
import { unlinkSync, writeSync } from 'node:fs'
import { encodeSurrogateEscape } from './surrogate-escape.ts'

/** How a file is put in its place. */
export interface ReplaceOptions {
  /** Its mode; without one, what the system gives to new files. */
  readonly mode?: number
  /** Whose it is to be, as far as the system lets us. */
  readonly owner?: Pick<Stats, 'uid' | 'gid'>
  /** The name that it has until it is whole; one that nobody else has, if this is absent. */
  readonly temporaryName?: string
  /** Has the last word before it gets its name. */
  readonly beforeRename?: () => void
}

/**
 * Puts a file in its place, whole or not at all: into a new file beside it, onto the disk, and then under its name. Whenever
 * we or the machine come to an end, the old file is there or the new one.
 */
export function replaceFile(folder: string, name: string, bytes: Uint8Array, options: ReplaceOptions = {}): void {
  const temporaryPath = `${folder}/${options.temporaryName ?? createTemporaryName()}`
  // What has a name of its own is from somebody who was ended while he wrote it.
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
  try {
    fchownSync(descriptor, uid, gid)
  } catch {
    // Only the superuser may give files away; then it becomes ours, as with any editor.
  }
}

/** A name that no other file has. */
export function createTemporaryName(): string {
  return `.dragoman-${randomBytes(8).toString('hex')}.tmp`
}

/** Removes a file, if it is there and can be removed. */
export function removeIfPresent(at: string): void {
  try {
    unlinkSync(at)
  } catch {
    // It was never made, or its folder is gone.
  }
}

/** The new name itself must be on the disk too. Not every disk can do this for a folder. */
function syncFolder(folder: string): void {
  try {
    const descriptor = openSync(folder, constants.O_RDONLY)
    try {
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
  } catch {
    // The file itself is whole either way.
  }
}
