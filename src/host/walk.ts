import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { setImmediate as nextTick } from 'node:timers/promises'
import { type Grip, gripFolder } from './grip.ts'
import type { FileInfo, Files, FolderEntry, FolderView } from './host.ts'
import { fromRaw, toRaw } from './raw-name.ts'

/**
 * Shows a folder that is held, and those below it that are named. Each folder is held while what is in it is looked up, so
 * that no exchange of names can lead the walk astray. The first one is released at the end, like all others.
 */
export async function walkFrom(
  top: Held,
  path: string,
  visit: Parameters<Files['walk']>[1],
  signal: AbortSignal | undefined,
): Promise<void> {
  const trail: Level[] = []
  try {
    let seen = 0
    for (let here: Place | undefined = { folder: top, path }; here; here = nextOf(trail)) {
      const level: Level = { folder: here.folder, view: viewOf(here), names: NONE, next: 0 }
      trail.push(level)
      // Everything here is quick and synchronous, so others get their turn now and then.
      if (++seen % 500 === 0) await nextTick()
      signal?.throwIfAborted()
      const names = visit(level.view)
      level.names = names instanceof Promise ? await names : names
    }
  } finally {
    for (const { folder } of trail) folder.release()
  }
}

type Held = Pick<Grip, 'at' | 'release'>

interface Place {
  readonly folder: Held
  readonly path: string
  readonly above?: FolderView
}

/** A folder on the way, and what is still to be seen in it. */
interface Level {
  readonly folder: Held
  readonly view: FolderView
  names: readonly string[]
  next: number
}

const NONE: readonly string[] = []

const MAX_DEPTH = 200

/** Goes to the next folder, back up where one has no more of them. */
function nextOf(trail: Level[]): Place | undefined {
  for (let level = trail.at(-1); level; level = trail.at(-1)) {
    const name = trail.length > MAX_DEPTH ? undefined : level.names[level.next++]
    if (name === undefined) {
      trail.pop()
      level.folder.release()
      continue
    }
    const folder = folderOr(`${level.folder.at}/${name}`)
    const { view } = level
    if (folder) return { folder, path: view.path === '/' ? `/${name}` : `${view.path}/${name}`, above: view }
  }
  return undefined
}

/** A folder that is gone, closed to us, or a link by now is passed over. */
function folderOr(at: string): Held | undefined {
  try {
    return gripFolder(at)
  } catch {
    return undefined
  }
}

function viewOf({ folder, path, above }: Place): FolderView {
  return {
    path,
    above,
    entries: entriesOr(folder),
    // By its plain name, which takes half the time: whoever exchanges names could only change an order by it.
    changed(name) {
      try {
        return lstatSync(toRaw(`${path}/${name}`)).mtimeMs
      } catch {
        return 0
      }
    },
  }
}

function entriesOr(folder: Held): FolderEntry[] {
  try {
    return entriesOf(folder)
  } catch {
    return []
  }
}

/** What is in a folder that is held. */
export function entriesOf({ at }: Pick<Grip, 'at'>): FolderEntry[] {
  const entries: FolderEntry[] = []
  let isClean = true
  for (const entry of readdirSync(at, { withFileTypes: true })) {
    if (entry.name.includes('\uFFFD')) isClean = false
    entries.push({ name: entry.name, kind: kindOf(entry) })
  }
  return isClean ? entries : rawEntriesOf(at)
}

/** The same, where some name is no UTF-8; it takes longer. */
function rawEntriesOf(at: string): FolderEntry[] {
  const entries = readdirSync(at, { withFileTypes: true, encoding: 'buffer' })
  return entries.map((entry) => ({ name: fromRaw(entry.name), kind: kindOf(entry) }))
}

/** What the system knows of a file, in our words. */
export function infoOf(stats: Stats): FileInfo {
  const { size, mtimeMs: changed, mode, dev, ino, nlink: names } = stats
  return { kind: kindOf(stats), size, changed, mode: mode & 0o7777, id: `${dev}:${ino}`, names }
}

interface Kinds {
  isFile(): boolean
  isDirectory(): boolean
  isSymbolicLink(): boolean
}

function kindOf(one: Kinds): FileInfo['kind'] {
  if (one.isFile()) return 'file'
  if (one.isDirectory()) return 'folder'
  return one.isSymbolicLink() ? 'link' : 'other'
}
