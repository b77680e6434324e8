import { mkdirSync, readdirSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROTECTED_PATHS } from '../../../model/security/protected-paths.ts'
import { resolvePath } from '../../files/resolve-path.ts'
import { attempt } from './no-follow-files.ts'
import { listProtectedPrefixes, type ProtectedPathRule, toPathRules } from './path-rules.ts'
import { sha256Hex } from '../../files/sha256.ts'

/**
 * Which protected paths were written by somebody who was allowed to, and when. Commands of other sessions may run in the same
 * folder, and their sandboxes must not take such a file for the work of the command. So each write leaves a small file in a
 * folder of ours that no command sees, and that is only read when something unexpected was found. What was set aside is noted
 * there too: two commands could else each make what the sandbox of the other takes for somebody else's work.
 */
export interface ApprovedWrites {
  /** A path is about to be written or removed; nothing is kept of it if it is not protected. */
  add(path: string, rules?: readonly ProtectedPathRule[]): void
  /** Was it written since a time? */
  wasApproved(path: string, since: number): boolean
  /** A path is about to be set aside, because a command made it. */
  addQuarantined(path: string): void
  /** Was it set aside since a time, by the sandbox of any command? */
  wasQuarantined(path: string, since: number): boolean
}

/** Those of all processes that share a folder of ours; those of this process alone if there is none. */
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
      attempt(() => addEntries(listProtectedPrefixes(resolvePath(path), rules)))
    },
    wasApproved: hasEntry,
    addQuarantined(path) {
      attempt(() => addEntries([quarantineKey(path)]))
    },
    wasQuarantined: (path, since) => hasEntry(quarantineKey(path), since),
  }
}

const processEntries = new Map<string, number>()

/** No path begins like this. */
function quarantineKey(path: string): string {
  return `set-aside:${path}`
}

/** The time stands in the name: whoever reads it never meets a file that is only half written. */
function entryFileName(path: string, time?: number): string {
  return `${sha256Hex(path).slice(0, 32)}-${time ?? ''}`
}

function entryTime(name: string): number {
  return Number(name.slice(name.indexOf('-') + 1))
}

const DAY_MS = 24 * 3600 * 1000

function removeExpired(folder: string, now: number): void {
  for (const name of listEntryNames(folder))
    if (now - entryTime(name) > DAY_MS) attempt(() => unlinkSync(join(folder, name)))
}

function listEntryNames(folder: string | undefined): string[] {
  try {
    return folder === undefined ? [] : readdirSync(folder)
  } catch {
    return []
  }
}
