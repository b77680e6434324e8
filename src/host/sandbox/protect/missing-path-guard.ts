import { readlinkSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { isProcessAlive } from '../../process/process-group.ts'
import { readThreadActivity } from './thread-activity.ts'
import type { ApprovedWrites } from './approved-writes.ts'
import { createFolderWatcher } from '../../files/folder-watcher.ts'
import { type FolderListing, createFolderListing } from './folder-listing.ts'
import { listFoldersTo, isPathOccupied, type MissingPath, type ProtectedLink } from './missing-path.ts'
import { isQuarantineName, quarantine, QUARANTINE_SUFFIXES, statNoFollow } from './no-follow-files.ts'
import { tryFileOperation, withParentFolder } from './no-follow-files.ts'
import { foldNameCase, createProtectedNamePattern } from './protected-path-rules.ts'

/** A protected path that appeared while a command ran, and its new name; a link was restored. */
export interface QuarantinedPath {
  readonly path: string
  readonly newPath?: string
}

interface MissingPathGuardOptions {
  /** Patterns of protected names at the top of folders. */
  readonly names: ReadonlyMap<string, readonly string[]>
  /** Deeper paths, whether they exist or not. */
  readonly missing: readonly MissingPath[]
  readonly links: readonly ProtectedLink[]
  /** More paths, which depend on what the command does. */
  readonly others?: () => readonly MissingPath[]
  readonly approved: ApprovedWrites
  /** Somebody other than the command created this path, or it is gone. */
  readonly onKnown: (path: string, isKnown: boolean) => void
}

export interface MissingPathGuard {
  /** Watched paths that existed before. */
  readonly present: readonly string[]
  /** The command runs below this process. `stop` ends it. */
  markStarted(sandboxPid: number | undefined, stop: () => void): void
  /** What was renamed since the last call. */
  readonly found: () => QuarantinedPath[]
  /** The same, after a scan. */
  readonly check: () => QuarantinedPath[]
  /** The path that the command kept creating, so that it was stopped. */
  readonly repeated: () => string | undefined
  close(): void
}

/**
 * Renames protected paths as soon as a command creates them. A mount would need something to be mounted on, which the
 * person and every program would see. What somebody else creates meanwhile stays, if that can be told: an approved tool
 * reports it, or no thread of the command has run since before the last scan.
 */
export function guardMissingPaths(options: MissingPathGuardOptions): MissingPathGuard {
  const { names, missing: settled, links, others = () => [], approved, onKnown } = options
  const since = Date.now()
  let missing = settled
  const tops = [...names].map(([folder, patterns]) => ({
    folder,
    patterns,
    any: createProtectedNamePattern(patterns),
    firsts: new Set(
      [...missing, ...links].flatMap((one) => (one.folder === folder ? [foldNameCase(one.segments[0] ?? '')] : [])),
    ),
  }))
  /** Links that somebody else changed, and when that was noticed. */
  const excusedLinks = new Map<string, number>()
  const guardedLinks = new Map(links.map((link) => [join(link.folder, ...link.segments), link]))
  const found: QuarantinedPath[] = []
  /** Legitimate files by path: they existed before, or somebody other than the command created them. */
  const known = new Map<string, KnownFile>()
  /** What the command created and could not be renamed; its presence later is not somebody else's doing. */
  const unmovablePaths = new Set<string>()
  const counts = new Map<string, number>()
  let sandboxPid: number | undefined
  let stop = (): void => undefined
  let activity: string | undefined
  let repeated: string | undefined
  let endedAt: number | undefined
  let isClosed = false

  /** One listing finds all names at the top of a folder. */
  function* findNewNames(folderListing: FolderListing): Generator<MissingPath & { readonly rule: string }> {
    for (const { folder, patterns, any } of tops)
      for (const name of folderListing.names(folder)) {
        if (isQuarantineName(name) || !any.test(name)) continue
        const rule = patterns.find((pattern) => createProtectedNamePattern([pattern]).test(name)) ?? name
        yield { folder, segments: [name], rule: join(folder, rule) }
      }
  }

  function* findCandidates(folderListing: FolderListing): Generator<MissingPath & { readonly rule: string }> {
    yield* findNewNames(folderListing)
    for (const one of missing)
      for (const spelledPath of listSpelledPaths(one, folderListing))
        if (isPathOccupied(spelledPath)) yield { ...spelledPath, rule: join(one.folder, ...one.segments) }
  }

  /** Folders on the way are watched as soon as they exist, and before their content is checked. */
  function watchFolders(folderListing: FolderListing): void {
    for (let depth = 0; depth < MAX_DEPTH; depth++) {
      const folders = [
        ...missing.flatMap((one) => listSpelledPaths(one, folderListing)),
        ...guardedLinks.values(),
      ].flatMap(listFoldersTo)
      if (!watcher.update([...names.keys(), ...folders])) return
    }
  }

  function scan(): void {
    if (isClosed) return
    if (sandboxPid !== undefined && !isProcessAlive(sandboxPid)) endedAt ??= Date.now()
    // Read before the scan: what happens later is found by the next scan, and must not seem older than this.
    const now = sandboxPid === undefined ? undefined : readThreadActivity(sandboxPid)
    forgetReplaced()
    missing = [...settled, ...others()]
    const folderListing = createFolderListing()
    watchFolders(folderListing)
    const isUnknown = ({ folder, segments }: MissingPath) => !known.has(join(folder, ...segments))
    const present = [...findCandidates(folderListing.refresh())].filter(isUnknown)
    const isChanged = (link: ProtectedLink) => withParentFolder(link.folder, link.segments, hasOtherTarget(link.target))
    const changed = [...guardedLinks].filter(([, link]) => isChanged(link))
    const isSomething = present.length > 0 || changed.length > 0
    const isByOthers =
      isSomething && sandboxPid !== undefined && activity !== undefined && readThreadActivity(sandboxPid) === activity
    activity = now
    for (const one of present) {
      const path = join(one.folder, ...one.segments)
      if (!unmovablePaths.has(path) && (isByOthers || approved.wasApproved(path, since))) acceptAsKnown(path)
      else quarantineNew(one)
    }
    for (const [path, { folder, segments, target }] of changed) {
      const excusedAt = excusedLinks.get(path)
      if (excusedAt !== undefined && !approved.wasQuarantined(path, excusedAt - QUARANTINE_SLACK_MS)) continue
      excusedLinks.delete(path)
      if (isByOthers || approved.wasApproved(path, since)) excusedLinks.set(path, Date.now())
      else {
        approved.addQuarantined(path)
        if (withParentFolder(folder, segments, (at, name) => restoreLink(at, name, target))) report(path, { path })
      }
    }
    // What appears after the last process has surely ended is not its doing.
    if (endedAt !== undefined && Date.now() - endedAt > LAST_WRITES_MS) close()
  }

  function acceptAsKnown(path: string): void {
    const one = readKnownFile(path)
    if (one === undefined) return
    known.set(path, one)
    onKnown(path, true)
  }

  /**
   * A file of another command existed only until that one's sandbox renamed it; what is there now is something else. An
   * editor that saves a file replaces it too, but then nothing was renamed.
   */
  function forgetReplaced(): void {
    for (const [path, { ino, changed, since: from }] of known) {
      const now = statNoFollow(path)
      const isSame = now?.ino === ino && now.ctimeMs === changed
      const isCopy = (one: string): boolean => now?.ino !== ino && statNoFollow(`${path}${one}`)?.ino === ino
      if (isSame) continue
      if (now && !QUARANTINE_SUFFIXES.some(isCopy) && !approved.wasQuarantined(path, from - QUARANTINE_SLACK_MS)) {
        known.set(path, { ino: now.ino, changed: now.ctimeMs, since: from })
        continue
      }
      known.delete(path)
      onKnown(path, false)
    }
  }

  /** Renames what is at a path, or the first thing on the way to it that is not a folder. */
  function quarantineNew({ folder, segments, isHarmless, rule }: MissingPath & { readonly rule: string }): void {
    for (let count = 1; count <= segments.length; count++) {
      const partialPath = segments.slice(0, count)
      const path = join(folder, ...partialPath)
      if (guardedLinks.has(path)) return
      const result = withParentFolder(folder, partialPath, (at, name) => {
        const stats = statNoFollow(`${at}/${name}`)
        if (!stats) return 'missing'
        if (count < segments.length && stats.isDirectory()) return 'on the way'
        if (count === segments.length && isHarmless?.(at, name)) return 'missing'
        // Before the rename: the sandboxes of other commands must not miss it.
        for (const one of new Set([path, join(folder, ...segments)])) approved.addQuarantined(one)
        const now = quarantine(at, name)
        return now === undefined ? 'stuck' : { newPath: join(folder, ...partialPath.slice(0, -1), now) }
      })
      if (result === 'stuck') unmovablePaths.add(join(folder, ...segments))
      if (typeof result === 'object') return report(rule, { path, ...result })
      if (result !== 'on the way') return
    }
  }

  /** A command that keeps recreating what was renamed is stopped. */
  function report(rule: string, one: QuarantinedPath): void {
    if (!found.some(({ path, newPath }) => path === one.path && newPath === one.newPath)) found.push(one)
    for (const key of new Set([rule, one.path])) counts.set(key, (counts.get(key) ?? 0) + 1)
    const isTooOften =
      (counts.get(one.path) ?? 0) >= MAX_REPEATS_PER_PATH || (counts.get(rule) ?? 0) >= MAX_REPEATS_PER_PATTERN
    if (!isTooOften || repeated !== undefined) return
    repeated = one.path
    stop()
  }

  let changeTimer: NodeJS.Timeout | undefined
  let pollTimer: NodeJS.Timeout | undefined
  const watcher = createFolderWatcher((folder, name) => {
    const top = tops.find((one) => one.folder === folder)
    if (top && name !== null && !top.any.test(name) && !top.firsts.has(foldNameCase(name))) return
    changeTimer ??= setTimeout(() => {
      changeTimer = undefined
      tryFileOperation(scan)
    }, CHANGE_DELAY_MS).unref()
  })

  /** The more a scan costs, the rarer it is: scans take less than one percent of the time. */
  function scanAndReschedule(): void {
    const before = process.cpuUsage()
    tryFileOperation(scan)
    const { user, system } = process.cpuUsage(before)
    const delay = ((user + system) / 1000) * 150
    const boundedDelay = Math.min(Math.max(delay, MIN_POLL_INTERVAL_MS), MAX_POLL_INTERVAL_MS)
    if (!isClosed) pollTimer = setTimeout(scanAndReschedule, boundedDelay).unref()
  }

  function close(): void {
    isClosed = true
    clearTimeout(pollTimer)
    clearTimeout(changeTimer)
    watcher.close()
  }

  missing = [...settled, ...others()]
  const first = createFolderListing()
  for (const { folder, segments } of findCandidates(first)) {
    const path = join(folder, ...segments)
    known.set(path, readKnownFile(path) ?? { ino: 0, changed: 0, since })
  }
  watchFolders(first)
  pollTimer = setTimeout(scanAndReschedule, MIN_POLL_INTERVAL_MS).unref()

  return {
    present: [...known.keys()],
    markStarted(pid, stopCommand) {
      sandboxPid = pid
      stop = stopCommand
    },
    found: () => found.splice(0),
    check() {
      tryFileOperation(scan)
      return found.splice(0)
    },
    repeated: () => repeated,
    close,
  }
}

/** The command is stopped when one path is renamed for the third time … */
const MAX_REPEATS_PER_PATH = 3
/** … or this many paths that match one pattern. */
const MAX_REPEATS_PER_PATTERN = 10
const CHANGE_DELAY_MS = 5
const MIN_POLL_INTERVAL_MS = 200
const MAX_POLL_INTERVAL_MS = 2000
/** Another sandbox records a rename before it happens; the path may be seen in between. */
const QUARANTINE_SLACK_MS = 1000
/** A process that is being killed may still finish a write. */
const LAST_WRITES_MS = 1000
const MAX_DEPTH = 5

/** A legitimate file, and its state at a time. */
interface KnownFile {
  readonly ino: number
  readonly changed: number
  readonly since: number
}

function readKnownFile(path: string): KnownFile | undefined {
  const since = Date.now()
  const stats = statNoFollow(path)
  return stats && { ino: stats.ino, changed: stats.ctimeMs, since }
}

/** Mostly none: the first segment does not exist. */
function listSpelledPaths(one: MissingPath, folderListing: FolderListing): MissingPath[] {
  return folderListing.spellings(one.folder, one.segments).map((segments) => ({ ...one, segments }))
}

function hasOtherTarget(target: string): (at: string, name: string) => boolean {
  return (at, name) => {
    const now = statNoFollow(`${at}/${name}`)
    return !now?.isSymbolicLink() || readlinkSync(`${at}/${name}`) !== target
  }
}

function restoreLink(at: string, name: string, target: string): boolean {
  if (statNoFollow(`${at}/${name}`)) quarantine(at, name)
  return tryFileOperation(() => symlinkSync(target, `${at}/${name}`))
}
