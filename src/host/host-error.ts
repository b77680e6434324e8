/** What can stand between a tool and a file. */
export type HostErrorCode =
  | 'outside'
  | 'read-only'
  | 'bad-path'
  | 'not-found'
  | 'is-folder'
  | 'not-folder'
  | 'not-file'
  | 'link-loop'
  | 'no-permission'
  | 'no-space'
  | 'too-large'
  | 'moved'
  | 'changed'
  | 'failed'

/** Why the host did not do what it was asked to, in a sentence that a model may read. */
export class HostError extends Error {
  readonly code: HostErrorCode

  constructor(code: HostErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** The problem that an error of the system means for a path. */
export function toHostError(error: unknown, path: string): HostError {
  if (error instanceof HostError) return error
  const code = errorCode(error)
  const known = SYSTEM_ERRORS[code]
  if (known) return new HostError(known[0], `${known[1]}: ${path}`)
  return new HostError('failed', `The system refused (${code || String(error)}): ${path}`)
}

/** The code of a system error, or the empty string. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

const SYSTEM_ERRORS: Readonly<Record<string, readonly [HostErrorCode, string]>> = {
  ENOENT: ['not-found', 'File not found'],
  ENOTDIR: ['not-folder', 'A part of the path is a file, not a folder'],
  EISDIR: ['is-folder', 'The path is a folder, not a file'],
  EACCES: ['no-permission', 'Permission denied'],
  EPERM: ['no-permission', 'Permission denied'],
  EROFS: ['read-only', 'The disk is read-only'],
  ENOSPC: ['no-space', 'No space is left on the disk'],
  EDQUOT: ['no-space', 'The disk quota is used up'],
  ENAMETOOLONG: ['bad-path', 'The path is too long'],
  EINVAL: ['bad-path', 'The system does not accept this path'],
  ELOOP: ['link-loop', 'Too many links, or a link that leads to itself'],
  ENOTEMPTY: ['failed', 'The folder is not empty'],
}
