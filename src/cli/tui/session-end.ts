import type { Session } from '../../session/session.ts'
import { jsonlStore } from '../../session/store/jsonl-store.ts'
import { StoreError } from '../../session/store/store.ts'
import { findCommandName } from '../args/command-name.ts'
import { sessionsFolderPath, abbreviateHome } from '../paths/folders.ts'

/** Was nothing said or done in this session? */
export function isEmptySession({ entries }: Session): boolean {
  // Every session begins with a note about its surroundings.
  return entries.every(({ kind }) => kind === 'open' || kind === 'note') && entries.length <= 2
}

/** Removes a session that is closed and empty: whoever only looked in wants to go on with what they did before. */
export function removeEmptySession(session: Session, folder: string): void {
  if (!isEmptySession(session)) return
  try {
    jsonlStore(sessionsFolderPath(folder)).remove(session.id)
  } catch (error) {
    // Another was forked from it, or is at it: it stays.
    if (!(error instanceof StoreError)) throw error
  }
}

/** The last words: how to go on with a session. */
export function formatResumeHint({ id }: Session, cwd: string | undefined): string {
  const folderOption = cwd === undefined ? '' : `--cwd ${/^[\w./@+-]+$/.test(cwd) ? abbreviateHome(cwd) : `"${cwd}"`} `
  return `Session ${id} is kept. To go on with it:\n  ${findCommandName()} ${folderOption}--resume ${id}`
}
