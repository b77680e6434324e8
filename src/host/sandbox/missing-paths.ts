import { readlinkSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive } from '../group.ts'
import { activityBelow } from './activity.ts'
import type { ApprovedWrites } from './approved-writes.ts'
import { folderWatch } from './folder-watch.ts'
import { attempt, inFolderOf, isSetAside, namesIn, setAside, statsOf } from './no-follow.ts'
import { nameMatcher } from './rules.ts'

/** A protected path that is missing, or that must stay the link that it is. */
export interface MissingPath {
  readonly folder: string
  readonly steps: readonly string[]
  /** What may be made there all the same. */
  readonly isHarmless?: (at: string, name: string) => boolean
}

/** A protected link, which cannot be mounted, and where it leads. */
export interface ProtectedLink extends MissingPath {
  readonly target: string
}

/** Something protected that appeared while a command ran, and what it is called now; a link was put back. */
export interface SetAside {
  readonly path: string
  readonly now?: string
}

/** What to watch. */
export interface MissingPathsOptions {
  /** Patterns of protected names at the top of folders. */
  readonly names: ReadonlyMap<string, readonly string[]>
  readonly missing: readonly MissingPath[]
  readonly links: readonly ProtectedLink[]
  readonly approved: ApprovedWrites
  /** Somebody else than the command has made this path. */
  readonly onAccept: (path: string) => void
}

/** Keeps a command from making what is missing. */
export interface MissingPaths {
  /** The command runs below a process. `stop` ends it. */
  begun(lid: number | undefined, stop: () => void): void
  /** What was set aside since it was last asked. */
  found(): SetAside[]
  /** The same, after a look. */
  check(): SetAside[]
  /** The path that the command went on making, so that it was stopped. */
  repeated(): string | undefined
  close(): void
}

/**
 * Sets aside what a command makes of protected paths that are missing, as soon as it appears. A mount would need something to be
 * mounted on, which the person and every program would see. What somebody else makes meanwhile stays, where that can be told:
 * a tool that was allowed to says so, and no thread of the command has run since before the last look.
 */
export function keepMissing({ names, missing, links, approved, onAccept }: MissingPathsOptions): MissingPaths {
  const since = Date.now()
  const tops = [...names].map(([folder, patterns]) => ({
    folder,
    patterns: patterns.map((pattern) => ({ pattern, matcher: nameMatcher([pattern]) })),
    any: nameMatcher(patterns),
    before: new Set(namesIn(folder)),
    firsts: new Set([...missing, ...links].flatMap((one) => (one.folder === folder ? [one.steps[0]] : []))),
  }))
  const guarded = new Map(links.map((link) => [join(link.folder, ...link.steps), link]))
  const found: SetAside[] = []
  const accepted = new Set<string>()
  /** What the command made and could not be set aside: that it is still there later is nobody else's doing. */
  const stuck = new Set<string>()
  const counts = new Map<string, number>()
  let lid: number | undefined
  let stop = (): void => undefined
  let activity: string | undefined
  let repeated: string | undefined
  let endedAt: number | undefined
  let isOver = false

  /** Names at the top of a folder are found in one look at it. */
  function* newNames(): Generator<MissingPath & { readonly rule: string }> {
    for (const { folder, patterns, any, before } of tops)
      for (const name of namesIn(folder)) {
        if (before.has(name) || isSetAside(name) || !any.test(name)) continue
        const rule = patterns.find(({ matcher }) => matcher.test(name))?.pattern ?? name
        yield { folder, steps: [name], rule: join(folder, rule) }
      }
  }

  function* candidates(): Generator<MissingPath & { readonly rule: string }> {
    yield* newNames()
    for (const one of missing) if (isPresent(one)) yield { ...one, rule: join(one.folder, ...one.steps) }
  }

  /** Folders on the way are watched as soon as they are there, and before it is looked what is in them. */
  function watchFolders(): void {
    for (let depth = 0; depth < MAX_DEPTH; depth++) {
      const folders = [...missing, ...guarded.values()].flatMap(foldersTo)
      if (!watcher.update([...names.keys(), ...folders])) return
    }
  }

  function look(): void {
    if (isOver) return
    watchFolders()
    if (lid !== undefined && !isAlive(lid)) endedAt ??= Date.now()
    const now = lid === undefined ? undefined : activityBelow(lid)
    const present = [...candidates()].filter((one) => !accepted.has(join(one.folder, ...one.steps)))
    const changed = [...guarded].filter(([, link]) => inFolderOf(link.folder, link.steps, differs(link.target)))
    const isSomething = present.length > 0 || changed.length > 0
    const isOthers = isSomething && lid !== undefined && activity !== undefined && activityBelow(lid) === activity
    activity = now
    for (const one of present) {
      const path = join(one.folder, ...one.steps)
      if (!stuck.has(path) && (isOthers || approved.has(path, since))) accept(path)
      else removeNew(one)
    }
    for (const [path, { folder, steps, target }] of changed) {
      if (isOthers || approved.has(path, since)) guarded.delete(path)
      else if (inFolderOf(folder, steps, (at, name) => putBack(at, name, target))) tell(path, { path })
    }
    // What appears when its last process has surely ended is not its doing.
    if (endedAt !== undefined && Date.now() - endedAt > LAST_WRITES) close()
  }

  function accept(path: string): void {
    accepted.add(path)
    onAccept(path)
  }

  /** Sets aside what is at a path, or the first link on the way to it. */
  function removeNew({ folder, steps, isHarmless, rule }: MissingPath & { readonly rule: string }): void {
    for (let count = 1; count <= steps.length; count++) {
      const way = steps.slice(0, count)
      const path = join(folder, ...way)
      if (guarded.has(path)) return
      const result = inFolderOf(folder, way, (at, name) => {
        const stats = statsOf(`${at}/${name}`)
        if (!stats) return 'missing'
        if (count < steps.length && !stats.isSymbolicLink()) return 'on the way'
        if (count === steps.length && isHarmless?.(at, name)) return 'missing'
        const now = setAside(at, name)
        return now === undefined ? 'stuck' : { now: join(folder, ...way.slice(0, -1), now) }
      })
      if (result === 'stuck') stuck.add(join(folder, ...steps))
      if (typeof result === 'object') return tell(rule, { path, ...result })
      if (result !== 'on the way') return
    }
  }

  /** A command that goes on although it was undone is not let go on for ever. */
  function tell(rule: string, one: SetAside): void {
    if (!found.some(({ path, now }) => path === one.path && now === one.now)) found.push(one)
    const count = (counts.get(rule) ?? 0) + 1
    counts.set(rule, count)
    if (count < MOST || repeated !== undefined) return
    repeated = one.path
    stop()
  }

  let due: NodeJS.Timeout | undefined
  let tick: NodeJS.Timeout | undefined
  const watcher = folderWatch((folder, name) => {
    const top = tops.find((one) => one.folder === folder)
    if (top && name !== null && !top.any.test(name) && !top.firsts.has(name)) return
    due ??= setTimeout(() => {
      due = undefined
      attempt(look)
    }, SOON).unref()
  })

  /** The more a look costs, the rarer it is: it takes less than a hundredth of the time. */
  function lookAgain(): void {
    const begun = performance.now()
    attempt(look)
    if (!isOver)
      tick = setTimeout(lookAgain, Math.min(Math.max((performance.now() - begun) * 150, OFTEN), RARE)).unref()
  }

  function close(): void {
    isOver = true
    clearTimeout(tick)
    clearTimeout(due)
    watcher.close()
  }

  watchFolders()
  tick = setTimeout(lookAgain, OFTEN).unref()

  return {
    begun(pid, end) {
      lid = pid
      stop = end
    },
    found: () => found.splice(0),
    check() {
      attempt(look)
      return found.splice(0)
    },
    repeated: () => repeated,
    close,
  }
}

/** The third time that a command makes something that was set aside it is stopped. */
const MOST = 3
const SOON = 5
const OFTEN = 200
const RARE = 2000
/** A process that is being ended may still finish what it has begun. */
const LAST_WRITES = 1000
const MAX_DEPTH = 5

/** The folders on the way to a path that are there, and the one at it if it may be there. */
function foldersTo({ folder, steps, isHarmless }: MissingPath): string[] {
  const folders: string[] = []
  for (let count = 1; count < steps.length + (isHarmless ? 1 : 0); count++) {
    const path = join(folder, ...steps.slice(0, count))
    if (!statsOf(path)?.isDirectory()) break
    folders.push(path)
  }
  return folders
}

/** Is something at a path that may not be there, or a link on the way to it? */
function isPresent({ folder, steps, isHarmless }: MissingPath): boolean {
  for (let count = 1; count <= steps.length; count++) {
    const stats = statsOf(join(folder, ...steps.slice(0, count)))
    if (!stats) return false
    if (count === steps.length) return !isHarmless || inFolderOf(folder, steps, isHarmless) === false
    if (stats.isSymbolicLink()) return true
  }
  return false
}

function differs(target: string): (at: string, name: string) => boolean {
  return (at, name) => {
    const now = statsOf(`${at}/${name}`)
    return !now?.isSymbolicLink() || readlinkSync(`${at}/${name}`) !== target
  }
}

function putBack(at: string, name: string, target: string): boolean {
  if (statsOf(`${at}/${name}`)) setAside(at, name)
  return attempt(() => symlinkSync(target, `${at}/${name}`))
}
