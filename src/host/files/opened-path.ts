import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute } from 'node:path'
import { findHiddenCharacter } from '../../model/security/hidden-characters.ts'
import { type PathHandle, openPathHandle, readCurrentPath } from './path-handle.ts'
import { getErrnoCode, HostError, toHostError } from '../host-error.ts'
import { decodeSurrogateEscape, encodeSurrogateEscape } from './surrogate-escape.ts'
import { type AllowedRoot, type AllowedRoots, splitPath } from './allowed-roots.ts'

/** The result of walking a path. The handles are open until the use of it ends. */
export interface OpenedPath {
  /** With all links resolved. */
  readonly path: string
  readonly entry: PathHandle | undefined
  /** The folder that contains it, or the last one that exists; undefined for an allowed folder itself. */
  readonly folder: PathHandle | undefined
  /** Its name in that folder, and the names that would have to be created. */
  readonly names: readonly string[]
  /** Opens another handle until the use ends. */
  readonly hold: (at: string) => PathHandle
  /** Keeps a handle open beyond the use; the caller releases it. */
  readonly keep: (handle: PathHandle) => PathHandle
}

/** `noFollow` opens a link in the last place itself. */
export interface OpenPathOptions {
  readonly need: 'read' | 'write'
  readonly noFollow?: true
}

/**
 * Walks to a path step by step, holding each folder while the next name is looked up in it. Links are followed by hand, and
 * their targets are checked like given paths. So no exchange of names on the way can lead out.
 */
export function withOpenedPath<T>(
  roots: AllowedRoots,
  path: string,
  need: OpenPathOptions,
  use: (reached: OpenedPath) => T,
): T {
  validatePath(path)
  const handles = new Set<PathHandle>()
  const hold = (at: string): PathHandle => {
    const handle = openPathHandle(at)
    handles.add(handle)
    return handle
  }
  try {
    const walked = walkPath(roots, path, need, hold)
    roots.check(walked.path, need.need)
    const keep = (handle: PathHandle): PathHandle => {
      handles.delete(handle)
      return handle
    }
    return use({ ...walked, hold, keep })
  } catch (error) {
    throw toHostError(error, path)
  } finally {
    for (const handle of handles) handle.release()
  }
}

function walkPath(
  roots: AllowedRoots,
  path: string,
  { need, noFollow }: OpenPathOptions,
  hold: (at: string) => PathHandle,
): Omit<OpenedPath, 'hold' | 'keep'> {
  let { root, todo: pending } = locateRoot(roots, path)
  let ancestors = [openRoot(root, hold)]
  let names: string[] = []
  let links = 0
  const jump = (to: string): void => {
    ;({ root, todo: pending } = locateRoot(roots, to))
    ancestors = [openRoot(root, hold)]
    names = []
  }
  const currentPath = (more: readonly string[] = []): string => joinPath(root.real, [...names, ...more])

  for (;;) {
    const name = pending.shift()
    if (name === undefined) break
    if (name === '..') {
      if (names.length === 0) jump(joinPath(dirname(root.real), pending))
      else {
        names.pop()
        ancestors.pop()
      }
      continue
    }
    const folder = ancestors.at(-1) as PathHandle
    if (!folder.stats.isDirectory()) throw new HostError('not-folder', `Not a folder: ${currentPath()}`)
    const next = openEntry(`${folder.at}/${name}`, hold)
    if (next === undefined) {
      if (pending.includes('..')) throw new HostError('not-found', `File not found: ${currentPath([name])}`)
      if (need === 'write') rejectHiddenCharacters([...names, name, ...pending])
      return { path: currentPath([name, ...pending]), entry: undefined, folder, names: [name, ...pending] }
    }
    if (!next.stats.isSymbolicLink() || (noFollow && pending.length === 0)) {
      names.push(name)
      ancestors.push(next)
      continue
    }
    // The approved path had no links, so this one is new.
    if (root.isPinned && root.onlyPath) throw movedError(currentPath([name]))
    if (++links > MAX_SYMLINKS) throw new HostError('link-loop', `Too many links, or a loop of links: ${path}`)
    const target = decodeSurrogateEscape(readlinkSync(encodeSurrogateEscape(`${folder.at}/${name}`), 'buffer'))
    if (isAbsolute(target)) jump(joinPath(target, pending))
    else pending.unshift(...splitPath(target))
  }
  if (need === 'write' && !noFollow) rejectHiddenCharacters(names)
  const folder = ancestors.at(-2)
  return { path: currentPath(), entry: ancestors.at(-1), folder, names: names.slice(-1) }
}

/** As many as Linux follows. */
const MAX_SYMLINKS = 40

function locateRoot(roots: AllowedRoots, path: string): { root: AllowedRoot; todo: string[] } {
  const { root, segments } = roots.locate(path)
  return { root, todo: [...segments] }
}

function openRoot(root: AllowedRoot, hold: (at: string) => PathHandle): PathHandle {
  const folder = hold(root.real)
  if (root.isPinned && (readCurrentPath(folder) ?? realpathSync(root.real)) !== root.real) throw movedError(root.real)
  if (folder.stats.isDirectory()) return folder
  throw new HostError('not-folder', `No longer a folder: ${root.real}`)
}

/** Names that a terminal would show as other names are not written; they may be removed. */
function rejectHiddenCharacters(names: readonly string[]): void {
  for (const name of names) {
    const hidden = findHiddenCharacter(name, { allowLines: false, allowRawBytes: true })
    if (hidden !== undefined)
      throw new HostError('bad-path', `A name in the path contains ${hidden}: ${JSON.stringify(name)}`)
  }
}

function movedError(path: string): HostError {
  return new HostError('moved', `The path changed after it was checked, so it was not opened: ${path}`)
}

function openEntry(at: string, hold: (at: string) => PathHandle): PathHandle | undefined {
  // An error costs more than this check.
  if (!existsNoFollow(at)) return undefined
  try {
    return hold(at)
  } catch (error) {
    if (getErrnoCode(error) === 'ENOENT') return undefined
    throw error
  }
}

function existsNoFollow(at: string): boolean {
  return lstatSync(encodeSurrogateEscape(at), { throwIfNoEntry: false }) !== undefined
}

function joinPath(start: string, segments: readonly string[]): string {
  return [start === '/' ? '' : start, ...segments].join('/') || '/'
}

function validatePath(path: string): void {
  if (!isAbsolute(path)) throw new HostError('bad-path', `The path must be absolute: ${path}`)
  if (path.includes('\0')) throw new HostError('bad-path', 'The path contains a zero byte.')
  if (Buffer.byteLength(path) > 4096) throw new HostError('bad-path', 'The path is too long.')
}
