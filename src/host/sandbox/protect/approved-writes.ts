import { mkdirSync, readdirSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROTECTED_PATHS } from '../../../model/security/protected-paths.ts'
import { resolvePath } from '../../files/resolve-path.ts'
import { tryFileOperation } from './no-follow-files.ts'
import { listProtectedPrefixes, type ProtectedPathRule, toPathRules } from './protected-path-rules.ts'
import { sha256Hex } from '../../files/sha256.ts'
import { tryOrUndefined } from '../../../model/try-or-undefined.ts'

/**
 * Protected paths that were written with approval, and when. The sandboxes of other sessions in the same folder must not
 * attribute such a file to their command. So each write leaves a small file in a folder of ours that no command sees; it is
 * read only when something unexpected was found. Renamed paths are recorded there too: otherwise each of two commands could
 * create what the sandbox of the other takes for somebody else's work.
 */
export interface ApprovedWrites {
  /** Called before a path is written or removed; ignored if the path is not protected. */
  add(path: string, rules?: readonly ProtectedPathRule[]): void
  wasApproved(path: string, since: number): boolean
  /** Called before a path that a command created is renamed. */
  addQuarantined(path: string): void
  /** By the sandbox of any command. */
  wasQuarantined(path: string, since: number): boolean
}

/** Shared by all processes that use the folder; without it, only within this process. */
export function createApprovedWrites(shared: string | undefined): ApprovedWrites {
  const folder = shared === undefined ? undefined : join(shared, 'approved')
  const addEntries = (keys: readonly string[]): void => {
    const now = Date.now()
    for (const one of keys) processEntries.set(one, now)
    if (folder === undefined || keys.length === 0) return
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    removeExpired(folder, now)
    for (const one of keys) writeFileSync(join(folder, entryFileName(one, now)), '', { mode: 0o600 })
  }
  const hasEntry = (key: string, since: number): boolean => {
    if ((processEntries.get(key) ?? -1) >= since) return true
    const start = entryFileName(key)
    return listEntryNames(folder).some((name) => name.startsWith(start) && entryTime(name) >= since)
  }
  return {
    add(path, rules = toPathRules(PROTECTED_PATHS)) {
      tryFileOperation(() => addEntries(listProtectedPrefixes(resolvePath(path), rules)))
    },
    wasApproved: hasEntry,
    addQuarantined(path) {
      tryFileOperation(() => addEntries([quarantineKey(path)]))
    },
    wasQuarantined: (path, since) => hasEntry(quarantineKey(path), since),
  }
}

const processEntries = new Map<string, number>()

/** No path begins with this. */
function quarantineKey(path: string): string {
  return `set-aside:${path}`
}

/** The time is in the name, so that no reader sees a file that is half written. */
function entryFileName(path: string, time?: number): string {
  return `${sha256Hex(path).slice(0, 32)}-${time ?? ''}`
}

function entryTime(name: string): number {
  return Number(name.slice(name.indexOf('-') + 1))
}

const DAY_MS = 24 * 3600 * 1000

function removeExpired(folder: string, now: number): void {
  for (const name of listEntryNames(folder))
    if (now - entryTime(name) > DAY_MS) tryFileOperation(() => unlinkSync(join(folder, name)))
}

function listEntryNames(folder: string | undefined): string[] {
  return tryOrUndefined(() => (folder === undefined ? [] : readdirSync(folder))) ?? []
}
