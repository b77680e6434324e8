import type { Session } from '../../session/session.ts'
import { jsonlStore } from '../../session/store/jsonl.ts'
import { StoreProblem } from '../../session/store/store.ts'
import { ownName } from '../own/name.ts'
import { sessionsFolder, tilde } from '../own/places.ts'

/** Was nothing said or done in this session? */
export function isEmpty({ entries }: Session): boolean {
  // Every session begins with a note about its surroundings.
  return entries.every(({ kind }) => kind === 'open' || kind === 'note') && entries.length <= 2
}

/** Removes a session that is closed and empty: whoever only looked in wants to go on with what they did before. */
export function forgetEmpty(session: Session, folder: string): void {
  if (!isEmpty(session)) return
  try {
    jsonlStore(sessionsFolder(folder)).remove(session.id)
  } catch (error) {
    // Another was forked from it, or is at it: it stays.
    if (!(error instanceof StoreProblem)) throw error
  }
}

/** The last words: how to go on with a session. */
export function farewell({ id }: Session, cwd: string | undefined): string {
  const there = cwd === undefined ? '' : `--cwd ${/^[\w./@+-]+$/.test(cwd) ? tilde(cwd) : `"${cwd}"`} `
  return `Session ${id} is kept. To go on with it:\n  ${ownName()} ${there}--resume ${id}`
}
