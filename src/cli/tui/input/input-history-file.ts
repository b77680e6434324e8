import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { updatePrivateFile } from '../../paths/private-file.ts'
import { getSessionsFolder } from '../../paths/folders.ts'

const MAX_HISTORY_ENTRIES = 500

/** The messages that were typed in this folder, the latest last. */
export function readInputHistory(folder: string): string[] {
  try {
    const json: unknown = JSON.parse(readFileSync(historyFilePath(folder), 'utf8'))
    return Array.isArray(json) ? json.filter((one) => typeof one === 'string') : []
  } catch {
    return []
  }
}

/** Saves the history; a failure (a read-only home) is ignored. */
export function writeInputHistory(folder: string, history: readonly string[]): void {
  try {
    updatePrivateFile(historyFilePath(folder), () => JSON.stringify(history.slice(-MAX_HISTORY_ENTRIES)))
  } catch {
    // See above.
  }
}

function historyFilePath(folder: string): string {
  return join(getSessionsFolder(folder), 'said.json')
}
