import { StoreError } from './store.ts'
import { getErrorMessage } from '../../model/error-message.ts'

/**
 * What an error of the system means for a session that was to be written: whoever sees it must know that nothing is saved.
 * A session in which nothing was said yet is none to go on with.
 */
export function createWriteError(id: string, error: unknown, hasUserEntry = true): StoreError {
  const why = getDiskFullReason(error)
  if (why === undefined)
    return new StoreError(
      `the session ${id} may not be saved (${getErrorMessage(error)}); nothing more is done in it`,
      {
        isDiskError: true,
      },
    )
  return new StoreError(
    hasUserEntry
      ? `${why}, and the session ${id} is not being saved; make room, then dragoman --resume ${id} goes on`
      : `${why}, and the session is not being saved; make room, then try again`,
    { isDiskError: true },
  )
}

/** Why there is no room for more, if that is what an error of the system says. */
export function getDiskFullReason(error: unknown): string | undefined {
  return DISK_FULL_REASONS[getErrorCode(error) ?? '']
}

const DISK_FULL_REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'files may not grow any further',
}

/** The code of a system error. */
export function getErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}
