import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { setImmediate as nextTick } from 'node:timers/promises'
import { type FolderHandle, type PathHandle, tryOpenFolderHandle } from './path-handle.ts'
import type { FileInfo, Files, FolderEntry, VisitedFolder } from '../host.ts'
import { decodeSurrogateEscape, encodeSurrogateEscape } from './surrogate-escape.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'

/**
 * Walks a folder and those below it that `visit` names. Each folder is held while its entries are looked up, so that no
 * exchange of names can lead the walk astray. The first handle is released at the end, like all others.
 */
export async function walkFolders(
  top: FolderHandle,
  path: string,
  visit: Parameters<Files['walk']>[1],
  signal: AbortSignal | undefined,
): Promise<void> {
  const levels: WalkLevel[] = []
  try {
    let seen = 0
    for (let here: NextFolder | undefined = { folder: top, path }; here; here = openNextFolder(levels)) {
      const level: WalkLevel = { folder: here.folder, view: createVisitedFolder(here), names: NO_NAMES, next: 0 }
      levels.push(level)
      // All of this is synchronous, so other tasks get their turn now and then.
      if (++seen % 500 === 0) await nextTick()
      signal?.throwIfAborted()
      const names = visit(level.view)
      level.names = names instanceof Promise ? await names : names
    }
  } finally {
    for (const { folder } of levels) folder.release()
  }
}

interface NextFolder {
  readonly folder: FolderHandle
  readonly path: string
  readonly parent?: VisitedFolder
}

interface WalkLevel {
  readonly folder: FolderHandle
  readonly view: VisitedFolder
  names: readonly string[]
  next: number
}

const NO_NAMES: readonly string[] = []

const MAX_DEPTH = 200

function openNextFolder(levels: WalkLevel[]): NextFolder | undefined {
  for (let level = levels.at(-1); level; level = levels.at(-1)) {
    const name = levels.length > MAX_DEPTH ? undefined : level.names[level.next++]
    if (name === undefined) {
      levels.pop()
      level.folder.release()
      continue
    }
    const folder = tryOpenFolderHandle(`${level.folder.at}/${name}`)
    const { view } = level
    if (folder) return { folder, path: view.path === '/' ? `/${name}` : `${view.path}/${name}`, parent: view }
  }
  return undefined
}

function createVisitedFolder({ folder, path, parent }: NextFolder): VisitedFolder {
  return {
    path,
    parent,
    entries: tryListEntries(folder),
    // By its plain name, which takes half the time: an exchange of names could only change the order.
    modifiedAt: (name) => readModifiedTime(`${path}/${name}`),
  }
}

function readModifiedTime(path: string): number {
  return tryOrUndefined(() => lstatSync(encodeSurrogateEscape(path)).mtimeMs) ?? 0
}

function tryListEntries(folder: FolderHandle): FolderEntry[] {
  return tryOrUndefined(() => listEntries(folder)) ?? []
}

export function listEntries({ at }: Pick<PathHandle, 'at'>): FolderEntry[] {
  const entries: FolderEntry[] = []
  let isText = true
  for (const entry of readdirSync(at, { withFileTypes: true })) {
    const { name } = entry
    if (name.includes('\uFFFD')) isText = false
    entries.push({ name, kind: toFileKind(entry) })
  }
  if (isText) return entries
  // Some name is not UTF-8. Reading all as bytes is slower.
  const rawEntries = readdirSync(at, { withFileTypes: true, encoding: 'buffer' })
  return rawEntries.map((entry) => ({ name: decodeSurrogateEscape(entry.name), kind: toFileKind(entry) }))
}

export function toFileInfo(stats: Stats): FileInfo {
  const { size, mtimeMs, mode, dev, ino, nlink } = stats
  const id = `${dev}:${ino}`
  return { kind: toFileKind(stats), size, modifiedAt: mtimeMs, mode: mode & 0o7777, id, linkCount: nlink }
}

export function toFileKind(one: Pick<Stats, 'isFile' | 'isDirectory' | 'isSymbolicLink'>): FileInfo['kind'] {
  if (one.isFile()) return 'file'
  if (one.isDirectory()) return 'folder'
  return one.isSymbolicLink() ? 'link' : 'other'
}
