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

/** An error whose message a model may read. */
export class HostError extends Error {
  readonly code: HostErrorCode

  constructor(code: HostErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

export function toHostError(error: unknown, path: string): HostError {
  if (error instanceof HostError) return error
  const code = getErrnoCode(error)
  const known = SYSTEM_ERRORS[code]
  if (known) return new HostError(known[0], `${known[1]}: ${path}`)
  return new HostError('failed', `System error ${code || String(error)}: ${path}`)
}

export function getErrnoCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

const SYSTEM_ERRORS: Readonly<Record<string, readonly [HostErrorCode, string]>> = {
  ENOENT: ['not-found', 'File not found'],
  ENOTDIR: ['not-folder', 'A part of the path is a file, not a folder'],
  EISDIR: ['is-folder', 'The path is a folder, not a file'],
  EACCES: ['no-permission', 'Permission denied'],
  EPERM: ['no-permission', 'Permission denied'],
  EROFS: ['read-only', 'The disk is read-only'],
  ENOSPC: ['no-space', 'No space left on the disk'],
  EDQUOT: ['no-space', 'The disk quota is exceeded'],
  ENAMETOOLONG: ['bad-path', 'The path is too long'],
  EINVAL: ['bad-path', 'The system does not accept this path'],
  ELOOP: ['link-loop', 'Too many links, or a loop of links'],
  ENOTEMPTY: ['failed', 'The folder is not empty'],
}
