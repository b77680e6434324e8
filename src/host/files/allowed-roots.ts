import { lstatSync, mkdirSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import type { ApprovedFile } from '../../model/security/approved-file.ts'
import { HostError } from '../host-error.ts'
import { findRealPath } from './resolve-path.ts'

/** What a host may access. The lists are read for every operation, so a removed folder is out at once. */
export interface AllowedPaths {
  readonly folders: readonly string[]
  readonly readFolders?: readonly string[]
  /** Single files to read and write, outside of those folders. */
  readonly extraFiles?: readonly string[]
  /** Paths outside of those folders that were approved for a call. */
  readonly access?: readonly ApprovedFile[]
}

/** An allowed folder, or one file in a folder that is not allowed. */
export interface AllowedRoot {
  /** With all links resolved. */
  readonly real: string
  readonly writable: boolean
  /** The only allowed path in it; nothing below that. */
  readonly onlyPath?: readonly string[]
  /** It must still be where it was checked: a link in its place, or above it, leads elsewhere. */
  readonly isPinned?: true
}

export interface RootedPath {
  readonly root: AllowedRoot
  readonly segments: readonly string[]
}

export interface AllowedRoots {
  /** Finds the allowed folder by the text of the path; each step is checked when it is made. */
  locate(path: string): RootedPath
  /** Throws if the real path is not allowed. */
  check(real: string, need: 'read' | 'write'): void
}

/** The real path of a folder is resolved once: a link cannot move it later. */
export function createAllowedRoots(allowed: AllowedPaths): AllowedRoots {
  const knownRoots = new Map<string, KnownRoot>()

  const granted = (allowed.access ?? []).map(accessRoot)

  function listRoots(): KnownRoot[] {
    const roots = [...granted]
    addRoots(roots, allowed.folders, 'rw', (name) => folderRoot(name, true))
    addRoots(roots, allowed.readFolders ?? [], 'r', (name) => folderRoot(name, false))
    addRoots(roots, allowed.extraFiles ?? [], 'own', fileRoot)
    return roots
  }

  function addRoots(
    roots: KnownRoot[],
    names: readonly string[],
    kind: string,
    make: (name: string) => KnownRoot | undefined,
  ): void {
    for (const name of names) {
      const key = `${kind} ${name}`
      const found = knownRoots.get(key) ?? make(name)
      if (!found) continue
      knownRoots.set(key, found)
      roots.push(found)
    }
  }

  return {
    locate(path) {
      const segments = splitPath(path)
      let best: RootedPath | undefined
      let depth = -1
      for (const { root, names } of listRoots()) {
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
      for (const { root, names, isResolveOnly } of listRoots()) {
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

/** An allowed root with the segments of its path, as given and real. */
interface KnownRoot {
  readonly root: AllowedRoot
  readonly names: readonly [given: readonly string[], real: readonly string[]]
  /** It resolves paths, but allows nothing. */
  readonly isResolveOnly?: boolean
}

function folderRoot(name: string, writable: boolean): KnownRoot | undefined {
  const real = findRealPath(name)
  if (real === undefined) return undefined
  return { root: { real, writable }, names: [splitPath(resolve(name)), splitPath(real)] }
}

function fileRoot(file: string): KnownRoot | undefined {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const real = findRealPath(dirname(file))
  if (real === undefined) return undefined
  const onlyPath = basename(file)
  return {
    root: { real, writable: true, onlyPath: [onlyPath] },
    names: [splitPath(resolve(file)), [...splitPath(real), onlyPath]],
  }
}

/** What was approved: a folder with everything below it for reading, or a single file. */
function accessRoot({ requestedPath, realPath, need, isOutside }: ApprovedFile): KnownRoot {
  const names: KnownRoot['names'] = [splitPath(requestedPath), splitPath(realPath)]
  const isResolveOnly = !isOutside
  if (need === 'read' && isFolder(realPath))
    return { root: { real: realPath, writable: false, isPinned: true }, names, isResolveOnly }
  const onlyPath = [basename(realPath)]
  let folder = dirname(realPath)
  for (; !isFolder(folder) && folder !== '/'; folder = dirname(folder)) onlyPath.unshift(basename(folder))
  return { root: { real: folder, writable: need === 'write', onlyPath, isPinned: true }, names, isResolveOnly }
}

/** Not a link to one: approved paths contain no links. */
function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

function coversPath(root: AllowedRoot, name: readonly string[], segments: readonly string[]): boolean {
  if (root.onlyPath === undefined ? name.length > segments.length : name.length !== segments.length) return false
  return name.every((segment, at) => segment === segments[at])
}

/** Keeps `..`: where it leads depends on the disk. */
export function splitPath(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '' && segment !== '.')
}

function outsideError(path: string, folders: readonly string[]): HostError {
  const where = folders.length === 0 ? 'No folder is allowed' : `The allowed folders are ${folders.join(', ')}`
  return new HostError('outside', `The path is outside the workspace: ${path}. ${where}.`)
}
