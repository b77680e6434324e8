import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Creates a private folder and its parents, one by one, so that the error is that of the first one that fails. (Node's
 * recursive mkdir reports a read-only disk as a missing folder, and never ends below /proc.)
 */
export function ensurePrivateFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
  if (dirname(path) !== path) ensurePrivateFolder(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process may have been faster.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    if (!statSync(path).isDirectory()) throw error
  }
}

export function describeDiskError(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return DISK_ERROR_TEXTS[code] ?? (code === '' ? 'unknown error' : `error ${code}`)
}

const DISK_ERROR_TEXTS: Readonly<Record<string, string>> = {
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOTDIR: 'a part of the path is a file',
  EEXIST: 'a file with that name exists',
  ENOENT: 'it cannot be created',
  EIO: 'I/O error',
}
