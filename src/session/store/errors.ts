import { getErrorMessage } from '../../model/error-message.ts'
import { StoreError } from './store.ts'

/** The error for a session that could not be written. One without a message of the user cannot be resumed. */
export function createWriteError(id: string, error: unknown, hasUserEntry = true): StoreError {
  const why = getDiskFullReason(error)
  if (why === undefined) {
    const message = `the session ${id} may not be saved (${getErrorMessage(error)}), so the run was stopped`
    return new StoreError('write-failed', message)
  }
  const next = hasUserEntry ? `then continue with dragoman --resume ${id}` : 'then try again'
  return new StoreError('disk-full', `${why}, and the session cannot be saved; free some space, ${next}`)
}

/** Why the disk takes no more data, if that is what the system error says. */
export function getDiskFullReason(error: unknown): string | undefined {
  return DISK_FULL_REASONS[getErrorCode(error) ?? '']
}

const DISK_FULL_REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file size limit is reached',
}

export function getErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}
