import { appendFileSync, closeSync, fstatSync, openSync, readdirSync, readSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DailySpending } from '../../../gateway/limits.ts'
import { describeDiskError, ensurePrivateFolder } from '../../../host/files/private-folder.ts'
import { isObject, tryParseJson } from '../../../model/json.ts'

/**
 * What all gateways of this user have spent, in a file for each day: a line for each request, so that several gateways can
 * write at once. Without a disk it is counted in memory.
 */
export function openSpendingFiles(folder: string, warn: (message: string) => void): DailySpending {
  const days = new Map<string, ReturnType<typeof openDay>>()
  let hasWarned = false
  const warnOnce = (error: unknown): void => {
    if (!hasWarned) warn(`what the gateway spends cannot be kept: ${describeDiskError(error)}`)
    hasWarned = true
  }
  return (name, key) => {
    let day = days.get(name)
    if (!day) {
      day = openDay(folder, name, warnOnce)
      days.set(name, day)
    }
    const opened = day
    return { read: () => opened.read(key), add: (dollars) => opened.add(key, dollars) }
  }
}

function openDay(folder: string, day: string, warn: (error: unknown) => void) {
  const path = join(folder, `${FILE_PREFIX}${day}.jsonl`)
  const sums = new Map<string, number>()
  let offset = 0
  let rest = ''
  const count = (key: string, dollars: number): void => void sums.set(key, (sums.get(key) ?? 0) + dollars)

  /** Other gateways write to the same file. */
  function readNewLines(): void {
    const lines = `${rest}${readFrom(path, offset, (length) => (offset += length))}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const entry = tryParseJson(line)
      if (!isObject(entry)) continue
      const { key, dollars } = entry
      if (typeof key === 'string' && typeof dollars === 'number' && dollars > 0) count(key, dollars)
    }
  }

  try {
    ensurePrivateFolder(folder)
    removeOldFiles(folder, day)
  } catch (error) {
    warn(error)
  }
  return {
    read(key: string): number {
      try {
        readNewLines()
      } catch (error) {
        warn(error)
      }
      return sums.get(key) ?? 0
    },
    add(key: string, dollars: number): void {
      if (!(dollars > 0)) return
      try {
        appendFileSync(path, `${JSON.stringify({ key, dollars })}\n`, { mode: 0o600 })
      } catch (error) {
        count(key, dollars)
        warn(error)
      }
    },
  }
}

const FILE_PREFIX = 'spending-'
const KEPT_FILES = 31

/** The names of the days are in order. */
function removeOldFiles(folder: string, today: string): void {
  const old = readdirSync(folder)
    .filter((name) => name.startsWith(FILE_PREFIX) && name < `${FILE_PREFIX}${today}`)
    .toSorted()
  for (const name of old.slice(0, -KEPT_FILES)) rmSync(join(folder, name), { force: true })
}

/** The text of a file after an offset; empty if there is no file. */
function readFrom(path: string, offset: number, onRead: (length: number) => void): string {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  }
  try {
    const bytes = Buffer.alloc(Math.max(0, fstatSync(file).size - offset))
    const length = readSync(file, bytes, 0, bytes.length, offset)
    onRead(length)
    return bytes.toString('utf8', 0, length)
  } finally {
    closeSync(file)
  }
}
