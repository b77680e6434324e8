import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROTECTED_PATHS } from '../../model/protected.ts'
import { resolvePath } from '../resolve.ts'
import { attempt } from './no-follow.ts'
import { protectedPrefixes, type Rule, rulesOf } from './rules.ts'

/**
 * Which protected paths were written by somebody who was allowed to, and when. Commands of other sessions may run in the same
 * folder, and their sandboxes must not take such a file for the work of the command. So each write leaves a small file in a
 * folder of ours that no command sees, and that is only read when something unexpected was found. What was set aside is noted
 * there too: two commands could else each make what the sandbox of the other takes for somebody else's work.
 */
export interface ApprovedWrites {
  /** A path is about to be written or removed; nothing is kept of it if it is not protected. */
  add(path: string, rules?: readonly Rule[]): void
  /** Was it written since a time? */
  has(path: string, since: number): boolean
  /** A path is about to be set aside, because a command made it. */
  addSetAside(path: string): void
  /** Was it set aside since a time, by the sandbox of any command? */
  wasSetAside(path: string, since: number): boolean
}

/** Those of all processes that share a folder of ours; those of this process alone if there is none. */
export function approvedWrites(shared: string | undefined): ApprovedWrites {
  const folder = shared === undefined ? undefined : join(shared, 'approved')
  const note = (keys: readonly string[]): void => {
    const now = Date.now()
    for (const one of keys) ofThisProcess.set(one, now)
    if (folder === undefined || keys.length === 0) return
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    removeOld(folder, now)
    for (const one of keys) writeFileSync(join(folder, nameFor(one, now)), '', { mode: 0o600 })
  }
  const has = (key: string, since: number): boolean => {
    if ((ofThisProcess.get(key) ?? -1) >= since) return true
    const start = nameFor(key)
    return namesIn(folder).some((name) => name.startsWith(start) && timeOf(name) >= since)
  }
  return {
    add(path, rules = rulesOf(PROTECTED_PATHS)) {
      attempt(() => note(protectedPrefixes(resolvePath(path), rules)))
    },
    has,
    addSetAside(path) {
      attempt(() => note([setAsideKey(path)]))
    },
    wasSetAside: (path, since) => has(setAsideKey(path), since),
  }
}

const ofThisProcess = new Map<string, number>()

/** No path begins like this. */
function setAsideKey(path: string): string {
  return `set-aside:${path}`
}

/** The time stands in the name: whoever reads it never meets a file that is only half written. */
function nameFor(path: string, time?: number): string {
  return `${createHash('sha256').update(path).digest('hex').slice(0, 32)}-${time ?? ''}`
}

function timeOf(name: string): number {
  return Number(name.slice(name.indexOf('-') + 1))
}

const DAY = 24 * 3600 * 1000

function removeOld(folder: string, now: number): void {
  for (const name of namesIn(folder)) if (now - timeOf(name) > DAY) attempt(() => unlinkSync(join(folder, name)))
}

function namesIn(folder: string | undefined): string[] {
  try {
    return folder === undefined ? [] : readdirSync(folder)
  } catch {
    return []
  }
}
