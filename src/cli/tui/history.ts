import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { changeOwnFile } from '../own/file.ts'
import { sessionsFolder } from '../own/places.ts'

const MOST = 500

/** What the person said before in this folder, the latest last. */
export function readHistory(folder: string): string[] {
  try {
    const json: unknown = JSON.parse(readFileSync(fileOf(folder), 'utf8'))
    return Array.isArray(json) ? json.filter((one) => typeof one === 'string') : []
  } catch {
    return []
  }
}

/** Keeps it for the next time. That it cannot be kept is no reason to stop anyone. */
export function writeHistory(folder: string, history: readonly string[]): void {
  try {
    changeOwnFile(fileOf(folder), () => JSON.stringify(history.slice(-MOST)))
  } catch {
    // Read-only homes exist.
  }
}

function fileOf(folder: string): string {
  return join(sessionsFolder(folder), 'said.json')
}
