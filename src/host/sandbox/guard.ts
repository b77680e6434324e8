import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  utimesSync,
} from 'node:fs'
import type { Stats } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isBelow } from './below.ts'
import { WORKTREE_PROTECTED, worktreeOf } from './worktree.ts'

/** How protected paths are held while a command runs. */
export interface Guard {
  /** Folders on the way to protected paths. They are mounted onto themselves, because what is mounted cannot be renamed. */
  readonly anchors: readonly string[]
  /** What is only to be read. */
  readonly fixed: readonly string[]
  /** Puts back what could not be mounted and was changed; says what that was. */
  check(): string[]
  /** Takes away what stood in for what is missing. */
  release(): void
}

/**
 * Guards paths inside folders. A path that is missing is stood in for by an empty folder for as long as the command runs:
 * git does not see it, and to remove it can never remove anything that somebody put there.
 */
export function guard(
  folders: readonly string[],
  protect: (folder: string) => readonly string[],
  neverNew: readonly string[],
): Guard {
  const anchors = new Set<string>()
  const fixed = new Set<string>()
  const links = new Map<string, string>()
  const held: string[] = []

  function settle(folder: string, steps: readonly string[], depth = 0): void {
    let at = folder
    for (const [index, step] of steps.entries()) {
      const path = join(at, step)
      const isLast = index === steps.length - 1
      const stats = statsOf(path)
      if (!stats || isStandIn(path, stats)) {
        if (!standIn(path)) return
        held.push(path)
        fixed.add(path)
        return
      }
      if (stats.isSymbolicLink()) {
        const target = resolve(at, readlinkSync(path))
        links.set(path, readlinkSync(path))
        const inside = folders.find((one) => isBelow(target, one))
        if (inside !== undefined && depth < MAX_LINKS)
          settle(inside, [...target.slice(inside.length + 1).split('/'), ...steps.slice(index + 1)], depth + 1)
        return
      }
      // A file where a folder should be is what decides: `.git` of a worktree, for one.
      if (isLast || !stats.isDirectory()) return void fixed.add(path)
      anchors.add(path)
      at = path
    }
  }

  const absent: string[] = []
  for (const folder of folders) {
    const spellings = spellingsIn(folder)
    for (const path of protect(folder)) {
      const [first = '', ...deeper] = path.split('/')
      for (const name of new Set([first, ...spellings(first)])) tryTo(() => settle(folder, [name, ...deeper]))
    }
    for (const path of neverNew) {
      if (statsOf(join(folder, path))) tryTo(() => settle(folder, path.split('/')))
      else absent.push(join(folder, path))
    }
    const own = worktreeOf(folder)?.own
    if (own !== undefined) for (const name of WORKTREE_PROTECTED) tryTo(() => settle(own, [name]))
  }
  return {
    anchors: [...anchors].sort(),
    fixed: [...fixed].sort(),
    check: () => [
      ...absent.filter((path) => setAside(path)),
      ...[...links].filter(([path, target]) => putBack(path, target)).map(([path]) => path),
    ],
    release() {
      for (const path of held) letGo(path)
      held.length = 0
    },
  }
}

/** The names in a folder that differ from one only in capital letters: elsewhere, on another disk, they are the same. */
function spellingsIn(folder: string): (name: string) => string[] {
  const found = new Map<string, string[]>()
  tryTo(() => {
    for (const name of readdirSync(folder))
      found.set(name.toLowerCase(), [...(found.get(name.toLowerCase()) ?? []), name])
  })
  return (name) => found.get(name.toLowerCase()) ?? []
}

/** A tool is about to write here, and was allowed to: what stands in for the path makes room. */
export function makeRoom(path: string): void {
  for (let at = path; at !== dirname(at); at = dirname(at)) if (standIns.delete(at)) tryTo(() => rmdirSync(at))
}

/** Which folders are ours, and only stand in for something. */
export function standingIn(): ReadonlyMap<string, number> {
  return standIns
}

/** Takes away what stands in for no command any more. */
export function tidy(): void {
  for (const [path, users] of standIns) if (users === 0 && standIns.delete(path)) tryTo(() => rmdirSync(path))
}

const MAX_LINKS = 5

/** What stands in at the moment, and for how many commands. */
const standIns = new Map<string, number>()

/** Tells our folders from those of others, even after we were killed before we could take them away. */
const MARK = Date.UTC(1987, 6, 5, 4, 3, 2) / 1000

function standIn(path: string): boolean {
  return tryTo(() => {
    try {
      mkdirSync(path, 0o555)
    } catch (error) {
      // Another command needs it too, or did when it was killed.
      if (!isStandIn(path, lstatSync(path))) throw error
    }
    utimesSync(path, MARK, MARK)
    standIns.set(path, (standIns.get(path) ?? 0) + 1)
  })
}

function isStandIn(path: string, stats: Stats): boolean {
  return stats.isDirectory() && stats.mtimeMs === MARK * 1000 && readdirSync(path).length === 0
}

/** It stays for a moment: the next command may need it, and to remove it takes long while the box is being taken apart. */
function letGo(path: string): void {
  const users = standIns.get(path)
  if (users === undefined) return
  standIns.set(path, users - 1)
  if (users === 1) setTimeout(tidy, MOMENT).unref()
}

const MOMENT = 250

/** Whoever made it may want it back; under this name nothing runs it. */
function setAside(path: string): boolean {
  if (statsOf(path) === undefined) return false
  return tryTo(() => renameSync(path, `${path}.set-aside`))
}

function putBack(path: string, target: string): boolean {
  const now = statsOf(path)
  if (now?.isSymbolicLink() && readlinkSync(path) === target) return false
  setAside(path)
  return tryTo(() => symlinkSync(target, path))
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch {
    return undefined
  }
}

/** What we cannot touch, a command of ours cannot touch either. */
function tryTo(work: () => void): boolean {
  try {
    work()
    return true
  } catch {
    return false
  }
}
