import { StoreProblem } from './store.ts'

/** What an error of the system means for a session that was to be written: whoever sees it must know that nothing is saved. */
export function unsaved(id: string, error: unknown): StoreProblem {
  const why = WHY[codeOf(error) ?? '']
  return why === undefined
    ? new StoreProblem(`the session ${id} may not be saved (${messageOf(error)}); nothing more is done in it`)
    : new StoreProblem(`${why}, and the session ${id} is not being saved; make room, then dragoman --resume goes on`)
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
