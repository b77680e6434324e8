import { lstatSync, mkdirSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import type { FileAccess } from '../host.ts'
import { HostError } from '../host-error.ts'
import { realPathOrUndefined } from './resolve-path.ts'

/** What a host may touch. The lists are read again for every operation, so a folder that is taken out is out at once. */
export interface AllowedPaths {
  /** Folders to read and write in. */
  readonly folders: readonly string[]
  /** Folders only to read in. */
  readonly readFolders?: readonly string[]
  /** Single files to read and write, outside of those folders. */
  readonly extraFiles?: readonly string[]
  /** Paths outside of those folders that a person, a rule or a mode has let a call open. */
  readonly access?: readonly FileAccess[]
}

/** An allowed folder, or one file in a folder that is not allowed. */
export interface AllowedRoot {
  /** The folder, all links followed. */
  readonly real: string
  readonly writable: boolean
  /** The one path in it that is allowed, and nothing below that. */
  readonly onlyPath?: readonly string[]
  /** It must still be where it was judged: a link in its place, or above it, leads elsewhere. */
  readonly isPinned?: true
}

/** Where a path begins: the allowed folder, and the steps from there. */
export interface RootedPath {
  readonly root: AllowedRoot
  readonly segments: readonly string[]
}

/** The allowed folders as they are now. */
export interface AllowedRoots {
  /** Finds the allowed folder that a path begins in; text alone decides here, the steps are judged as they are made. */
  locate(path: string): RootedPath
  /** Refuses a real path that is not allowed for this. */
  check(real: string, need: 'read' | 'write'): void
}

/** Knows the allowed folders. What a folder's name means is settled when it is first seen: a link cannot move it later. */
export function createAllowedRoots(allowed: AllowedPaths): AllowedRoots {
  const knownRoots = new Map<string, KnownRoot>()

  const granted = (allowed.access ?? []).map(accessRoot)

  function* allRoots(): Generator<KnownRoot> {
    yield* granted
    yield* rootsFor(allowed.folders, 'rw', (name) => folderRoot(name, true))
    yield* rootsFor(allowed.readFolders ?? [], 'r', (name) => folderRoot(name, false))
    yield* rootsFor(allowed.extraFiles ?? [], 'own', fileRoot)
  }

  function* rootsFor(
    names: readonly string[],
    kind: string,
    make: (name: string) => KnownRoot | undefined,
  ): Generator<KnownRoot> {
    for (const name of names) {
      const key = `${kind} ${name}`
      const found = knownRoots.get(key) ?? make(name)
      if (!found) continue
      knownRoots.set(key, found)
      yield found
    }
  }

  return {
    locate(path) {
      const segments = splitPath(path)
      let best: RootedPath | undefined
      let depth = -1
      for (const { root, names } of allRoots()) {
        for (const name of names) {
          if (name.length <= depth || !coversPath(root, name, segments)) continue
          depth = name.length
          best = { root, segments: root.onlyPath ?? segments.slice(depth) }
        }
      }
      if (best) return best
      throw outsideError(path, allowed.folders)
    },
    check(real, need) {
      const segments = splitPath(real)
      let best: AllowedRoot | undefined
      let depth = -1
      for (const { root, names, isResolveOnly } of allRoots()) {
        const name = names[1]
        if (isResolveOnly || name.length <= depth || !coversPath(root, name, segments)) continue
        depth = name.length
        best = root
      }
      if (!best) throw outsideError(real, allowed.folders)
      if (need === 'write' && !best.writable) throw new HostError('read-only', `Only reading is allowed here: ${real}`)
    },
  }
}

/** An allowed place with the steps of its name as given, and as it really is. */
interface KnownRoot {
  readonly root: AllowedRoot
  readonly names: readonly [given: readonly string[], real: readonly string[]]
  /** It says what a path means, but allows nothing. */
  readonly isResolveOnly?: boolean
}

function folderRoot(name: string, writable: boolean): KnownRoot | undefined {
  const real = realPathOrUndefined(name)
  if (real === undefined) return undefined
  return { root: { real, writable }, names: [splitPath(resolve(name)), splitPath(real)] }
}

function fileRoot(file: string): KnownRoot | undefined {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const real = realPathOrUndefined(dirname(file))
  if (real === undefined) return undefined
  const onlyPath = basename(file)
  return {
    root: { real, writable: true, onlyPath: [onlyPath] },
    names: [splitPath(resolve(file)), [...splitPath(real), onlyPath]],
  }
}

/** What was judged: a folder with all below it may be read, a file alone, and only a file may be written. */
function accessRoot({ requestedPath, realPath, need, isOutside }: FileAccess): KnownRoot {
  const names: KnownRoot['names'] = [splitPath(requestedPath), splitPath(realPath)]
  const isResolveOnly = !isOutside
  if (need === 'read' && isFolder(realPath))
    return { root: { real: realPath, writable: false, isPinned: true }, names, isResolveOnly }
  const onlyPath = [basename(realPath)]
  let folder = dirname(realPath)
  for (; !isFolder(folder) && folder !== '/'; folder = dirname(folder)) onlyPath.unshift(basename(folder))
  return { root: { real: folder, writable: need === 'write', onlyPath, isPinned: true }, names, isResolveOnly }
}

/** Not a link to one: what was judged has no links in it. */
function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

function coversPath(root: AllowedRoot, name: readonly string[], segments: readonly string[]): boolean {
  if (root.onlyPath === undefined ? name.length > segments.length : name.length !== segments.length) return false
  return name.every((segment, at) => segment === segments[at])
}

/** The steps of an absolute path. `..` stays: where it leads is for the disk to say. */
export function splitPath(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '' && segment !== '.')
}

function outsideError(path: string, folders: readonly string[]): HostError {
  const where = folders.length === 0 ? 'No folder is allowed' : `The allowed folders are ${folders.join(', ')}`
  return new HostError('outside', `The path leads out of the workspace: ${path}. ${where}.`)
}
