import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sessionsFolder } from '../places.ts'

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
  const path = fileOf(folder)
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(`${path}.new`, JSON.stringify(history.slice(-MOST)), { mode: 0o600 })
    renameSync(`${path}.new`, path)
  } catch {
    // Read-only homes exist.
  }
}

function fileOf(folder: string): string {
  return join(sessionsFolder(folder), 'said.json')
}
