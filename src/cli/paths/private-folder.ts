import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder of ours with those above it, one after the other: the first that cannot be made says why. (Node's own
 * recursive way reports a read-only disk as a missing folder, and never ends below /proc.)
 */
export function ensurePrivateFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
  if (dirname(path) !== path) ensurePrivateFolder(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process may have been quicker.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    if (!statSync(path).isDirectory()) throw error
  }
}

/** Why the disk does not take something, in a few words. */
export function describeDiskError(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return DISK_ERROR_TEXTS[code] ?? (code === '' ? 'the reason is not known' : `the system says ${code}`)
}

const DISK_ERROR_TEXTS: Readonly<Record<string, string>> = {
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
  ENOTDIR: 'a part of the path is a file',
  EEXIST: 'there is a file in its place',
  ENOENT: 'it cannot be created there',
  EIO: 'the disk does not answer',
}
