import type { BackgroundCommand } from '../host/host.ts'
import type { Session } from '../session/session.ts'
import { jsonlStore } from '../session/store/jsonl-store.ts'
import { StoreError } from '../session/store/store.ts'
import { getInvocationName } from './args/invocation-name.ts'
import { escapeForTerminal } from './output/escape.ts'
import { getSessionsFolder, abbreviateHome } from './paths/folders.ts'

export function isEmptySession({ entries }: Session): boolean {
  // Every session begins with a note about its environment.
  return entries.every(({ kind }) => kind === 'open' || kind === 'note') && entries.length <= 2
}

/** Removes a closed session if it is empty, so that --resume continues with the last one that is not. */
export async function removeEmptySession(session: Session, folder: string): Promise<void> {
  if (!isEmptySession(session)) return
  try {
    await jsonlStore(getSessionsFolder(folder)).remove(session.id)
  } catch (error) {
    // It stays if another session was forked from it, or another process uses it.
    if (!(error instanceof StoreError)) throw error
  }
}

/** How to continue a session, for the last lines on the terminal. */
export function formatResumeHint({ id }: Session, cwd: string | undefined): string {
  const folderOption = cwd === undefined ? '' : `--cwd ${/^[\w./@+-]+$/.test(cwd) ? abbreviateHome(cwd) : `"${cwd}"`} `
  return `Session ${id} is saved. To continue:\n  ${getInvocationName()} ${folderOption}--resume ${id}`
}

/** What goes on after the session; empty if nothing does. */
export function formatKeptCommands(commands: readonly BackgroundCommand[]): string {
  if (commands.length === 0) return ''
  const rows = commands.map(({ id, command }) => `  ${id} ${escapeForTerminal(command, 'file-name')}`)
  return ['Still running; resume the session to read or stop them with /tasks:', ...rows].join('\n')
}
