import { StoreProblem } from './store.ts'

/**
 * What an error of the system means for a session that was to be written: whoever sees it must know that nothing is saved.
 * A session in which nothing was said yet is none to go on with.
 */
export function unsaved(id: string, error: unknown, hasWords = true): StoreProblem {
  const why = fullDisk(error)
  if (why === undefined)
    return new StoreProblem(`the session ${id} may not be saved (${messageOf(error)}); nothing more is done in it`, {
      isOfDisk: true,
    })
  return new StoreProblem(
    hasWords
      ? `${why}, and the session ${id} is not being saved; make room, then dragoman --resume ${id} goes on`
      : `${why}, and the session is not being saved; make room, then try again`,
    { isOfDisk: true },
  )
}

/** Why there is no room for more, if that is what an error of the system says. */
export function fullDisk(error: unknown): string | undefined {
  return WHY[codeOf(error) ?? '']
}

const WHY: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'files may not grow any further',
}

/** The code of a system error. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

/** The words of an error. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
