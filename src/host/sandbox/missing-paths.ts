import { readlinkSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive } from '../group.ts'
import { activityBelow } from './activity.ts'
import type { ApprovedWrites } from './approved-writes.ts'
import { folderWatch } from './folder-watch.ts'
import { type Listing, listing } from './listing.ts'
import { foldersTo, isPresent, type MissingPath, type ProtectedLink } from './missing-path.ts'
import { attempt, COPIES, inFolderOf, isSetAside, setAside, statsOf } from './no-follow.ts'
import { foldName, nameMatcher } from './rules.ts'

/** Something protected that appeared while a command ran, and what it is called now; a link was put back. */
export interface SetAside {
  readonly path: string
  readonly now?: string
}

/** What to watch. */
export interface MissingPathsOptions {
  /** Patterns of protected names at the top of folders. */
  readonly names: ReadonlyMap<string, readonly string[]>
  /** Deeper paths, be they there or not. */
  readonly missing: readonly MissingPath[]
  readonly links: readonly ProtectedLink[]
  /** More of them, which depend on what the command does. */
  readonly others?: () => readonly MissingPath[]
  readonly approved: ApprovedWrites
  /** Somebody else than the command has made this path, or what was there is gone. */
  readonly onKnown: (path: string, isKnown: boolean) => void
}

/** Keeps a command from making what is missing. */
export interface MissingPaths {
  /** What was there before, although it was to be watched. */
  readonly present: readonly string[]
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
export function keepMissing({
  names,
  missing: settled,
  links,
  others = () => [],
  approved,
  onKnown,
}: MissingPathsOptions): MissingPaths {
  const since = Date.now()
  let missing = settled
  const tops = [...names].map(([folder, patterns]) => ({
    folder,
    patterns: patterns.map((pattern) => ({ pattern, matcher: nameMatcher([pattern]) })),
    any: nameMatcher(patterns),
    firsts: new Set(
      [...missing, ...links].flatMap((one) => (one.folder === folder ? [foldName(one.steps[0] ?? '')] : [])),
    ),
  }))
  /** Links that somebody else has changed, and when that was seen. */
  const excused = new Map<string, number>()
  const guarded = new Map(links.map((link) => [join(link.folder, ...link.steps), link]))
  const found: SetAside[] = []
  /** What is there by right, by path: it was there before, or somebody else than the command has made it. */
  const known = new Map<string, Known>()
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
  function* newNames(listed: Listing): Generator<MissingPath & { readonly rule: string }> {
    for (const { folder, patterns, any } of tops)
      for (const name of listed.names(folder)) {
        if (isSetAside(name) || !any.test(name)) continue
        const rule = patterns.find(({ matcher }) => matcher.test(name))?.pattern ?? name
        yield { folder, steps: [name], rule: join(folder, rule) }
      }
  }

  function* candidates(listed: Listing): Generator<MissingPath & { readonly rule: string }> {
    yield* newNames(listed)
    for (const one of missing)
      for (const spelled of spellingsOf(one, listed))
        if (isPresent(spelled)) yield { ...spelled, rule: join(one.folder, ...one.steps) }
  }

  /** Folders on the way are watched as soon as they are there, and before it is looked what is in them. */
  function watchFolders(listed: Listing): void {
    for (let depth = 0; depth < MAX_DEPTH; depth++) {
      const folders = [...missing.flatMap((one) => spellingsOf(one, listed)), ...guarded.values()].flatMap(foldersTo)
      if (!watcher.update([...names.keys(), ...folders])) return
    }
  }

  function look(): void {
    if (isOver) return
    if (lid !== undefined && !isAlive(lid)) endedAt ??= Date.now()
    // Before anything is looked at: what comes later is found by the next look, and must not seem older than this.
    const now = lid === undefined ? undefined : activityBelow(lid)
    forgetGone()
    missing = [...settled, ...others()]
    const listed = listing()
    watchFolders(listed)
    const present = [...candidates(listed.again())].filter((one) => !known.has(join(one.folder, ...one.steps)))
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
      const excusedAt = excused.get(path)
      if (excusedAt !== undefined && !approved.wasSetAside(path, excusedAt - MOMENT)) continue
      excused.delete(path)
      if (isOthers || approved.has(path, since)) excused.set(path, Date.now())
      else {
        approved.addSetAside(path)
        if (inFolderOf(folder, steps, (at, name) => putBack(at, name, target))) tell(path, { path })
      }
    }
    // What appears when its last process has surely ended is not its doing.
    if (endedAt !== undefined && Date.now() - endedAt > LAST_WRITES) close()
  }

  function accept(path: string): void {
    const one = knownAt(path)
    if (one === undefined) return
    known.set(path, one)
    onKnown(path, true)
  }

  /**
   * What another command made was there for a moment, until that one's sandbox set it aside; whatever is there now is something
   * else. An editor that saves a file puts another in its place too, but nobody set that aside.
   */
  function forgetGone(): void {
    for (const [path, { ino, changed, since: from }] of known) {
      const now = statsOf(path)
      const isSame = now?.ino === ino && now.ctimeMs === changed
      const isCopy = (one: string): boolean => now?.ino !== ino && statsOf(`${path}${one}`)?.ino === ino
      if (isSame) continue
      if (now && !COPIES.some(isCopy) && !approved.wasSetAside(path, from - MOMENT)) {
        known.set(path, { ino: now.ino, changed: now.ctimeMs, since: from })
        continue
      }
      known.delete(path)
      onKnown(path, false)
    }
  }

  /** Sets aside what is at a path, or the first thing on the way to it that is no folder. */
  function removeNew({ folder, steps, isHarmless, rule }: MissingPath & { readonly rule: string }): void {
    for (let count = 1; count <= steps.length; count++) {
      const way = steps.slice(0, count)
      const path = join(folder, ...way)
      if (guarded.has(path)) return
      const result = inFolderOf(folder, way, (at, name) => {
        const stats = statsOf(`${at}/${name}`)
        if (!stats) return 'missing'
        if (count < steps.length && stats.isDirectory()) return 'on the way'
        if (count === steps.length && isHarmless?.(at, name)) return 'missing'
        // Before it is done: the sandboxes of other commands must not miss it.
        for (const one of new Set([path, join(folder, ...steps)])) approved.addSetAside(one)
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
    for (const key of new Set([rule, one.path])) counts.set(key, (counts.get(key) ?? 0) + 1)
    const isTooOften = (counts.get(one.path) ?? 0) >= MOST || (counts.get(rule) ?? 0) >= MOST_OF_PATTERN
    if (!isTooOften || repeated !== undefined) return
    repeated = one.path
    stop()
  }

  let due: NodeJS.Timeout | undefined
  let tick: NodeJS.Timeout | undefined
  const watcher = folderWatch((folder, name) => {
    const top = tops.find((one) => one.folder === folder)
    if (top && name !== null && !top.any.test(name) && !top.firsts.has(foldName(name))) return
    due ??= setTimeout(() => {
      due = undefined
      attempt(look)
    }, SOON).unref()
  })

  /** The more a look costs, the rarer it is: it takes less than a hundredth of the time. */
  function lookAgain(): void {
    const before = process.cpuUsage()
    attempt(look)
    const { user, system } = process.cpuUsage(before)
    const delay = ((user + system) / 1000) * 150
    if (!isOver) tick = setTimeout(lookAgain, Math.min(Math.max(delay, OFTEN), RARE)).unref()
  }

  function close(): void {
    isOver = true
    clearTimeout(tick)
    clearTimeout(due)
    watcher.close()
  }

  missing = [...settled, ...others()]
  const first = listing()
  for (const { folder, steps } of candidates(first)) {
    const path = join(folder, ...steps)
    known.set(path, knownAt(path) ?? { ino: 0, changed: 0, since })
  }
  watchFolders(first)
  tick = setTimeout(lookAgain, OFTEN).unref()

  return {
    present: [...known.keys()],
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

/** When a path is set aside for the third time, the command is stopped. */
const MOST = 3
/** Or when so many were set aside that are like one pattern. */
const MOST_OF_PATTERN = 10
const SOON = 5
const OFTEN = 200
const RARE = 2000
/** What another sandbox sets aside it notes first; it may have been seen between. */
const MOMENT = 1000
/** A process that is being ended may still finish what it has begun. */
const LAST_WRITES = 1000
const MAX_DEPTH = 5

/** What is there by right: which file, as it was at a time. */
interface Known {
  readonly ino: number
  readonly changed: number
  readonly since: number
}

function knownAt(path: string): Known | undefined {
  const since = Date.now()
  const stats = statsOf(path)
  return stats && { ino: stats.ino, changed: stats.ctimeMs, since }
}

/** For most paths there is none: their first step is missing. */
function spellingsOf(one: MissingPath, listed: Listing): MissingPath[] {
  return listed.spellings(one.folder, one.steps).map((steps) => ({ ...one, steps }))
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
