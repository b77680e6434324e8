import { chmodSync, lstatSync, readdirSync, renameSync, rmdirSync, statSync, type Stats, unlinkSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { tryOpenFolderHandle } from '../../files/path-handle.ts'
import { decodeSurrogateEscape, encodeSurrogateEscape } from '../../files/surrogate-escape.ts'
import { tryOrUndefined } from '../../../model/try-or-undefined.ts'

/**
 * Access to folders that a command can change meanwhile. A folder is held by a descriptor before a name in it is used, and
 * no segment of a path is followed through a link, so nothing outside can be reached.
 */

/** Calls `use` with the last segment of a path in its parent folder; undefined if a folder on the way is missing. */
export function withParentFolder<T>(
  folder: string,
  segments: readonly string[],
  use: (at: string, name: string) => T,
): T | undefined {
  const name = segments.at(-1)
  if (name === undefined) return undefined
  const handles: { release(): void }[] = []
  try {
    let at = folder
    for (const segment of [undefined, ...segments.slice(0, -1)]) {
      const next = tryOpenFolderHandle(segment === undefined ? at : `${at}/${segment}`)
      if (next === undefined) return undefined
      handles.push(next)
      at = next.at
    }
    return use(at, name)
  } finally {
    for (const one of handles) one.release()
  }
}

/**
 * Renames something so that nothing reads it; returns the new name. Its author may want it back, so the first copies are
 * kept; then the last one is replaced, or a command could fill the folder.
 */
export function quarantine(at: string, name: string): string | undefined {
  // Names are limited to 255 bytes.
  const start = Buffer.byteLength(name) > 230 ? name.slice(0, 50) : name
  const names = QUARANTINE_SUFFIXES.map((suffix) => `${start}${suffix}`)
  const freeName = names.find((one) => !statNoFollow(`${at}/${one}`))
  const last = names.at(-1) ?? ''
  if (freeName === undefined) removeTree(at, last)
  // A running command may be faster and take the name.
  for (const one of [freeName ?? last, `${start}.set-aside-${randomBytes(4).toString('hex')}`]) {
    const [from, to] = [encodeSurrogateEscape(`${at}/${name}`), encodeSurrogateEscape(`${at}/${one}`)]
    if (tryFileOperation(() => renameSync(from, to))) return one
    restoreOwnerAccess(at)
  }
  return undefined
}

/** A command may remove our own permissions on a folder, because it runs as its owner. */
function restoreOwnerAccess(at: string): void {
  tryFileOperation(() => {
    const mode = statSync(at).mode
    if ((mode & 0o700) !== 0o700) chmodSync(at, (mode | 0o700) & 0o7777)
  })
}

/** Restores access if a command has made the folder unreadable. */
export function listNamesBelow(folder: string, segments: readonly string[] = []): string[] {
  const path = [folder, ...segments].join('/')
  if (!statNoFollow(path)?.isDirectory()) return []
  const names = readNames(path)
  if (names === undefined) withParentFolder(folder, [...segments, '.'], restoreOwnerAccess)
  return names ?? listNames(path)
}

export const QUARANTINE_SUFFIXES = ['.set-aside', '.set-aside-2', '.set-aside-3'] as const

export function isQuarantineName(name: string): boolean {
  return /\.set-aside(?:-[0-9a-f]{1,8})?$/.test(name)
}

/** Removes a file, a link or a whole folder, even while somebody writes there. */
export function removeTree(at: string, name: string): void {
  if (statNoFollow(`${at}/${name}`)?.isDirectory()) {
    const folder = tryOpenFolderHandle(`${at}/${name}`)
    if (folder !== undefined) {
      try {
        restoreOwnerAccess(folder.at)
        for (const child of listNames(folder.at)) removeTree(folder.at, child)
      } finally {
        folder.release()
      }
    }
    tryFileOperation(() => rmdirSync(encodeSurrogateEscape(`${at}/${name}`)))
  } else tryFileOperation(() => unlinkSync(encodeSurrogateEscape(`${at}/${name}`)))
}

/** Without following links; undefined if nothing is there. */
export function statNoFollow(path: string): Stats | undefined {
  return tryOrUndefined(() => lstatSync(encodeSurrogateEscape(path), { throwIfNoEntry: false }))
}

/** Returns whether it worked. What we cannot change, a command cannot change either. */
export function tryFileOperation(work: () => void): boolean {
  try {
    work()
    return true
  } catch {
    return false
  }
}

export function listNames(folder: string): string[] {
  return readNames(folder) ?? []
}

/** Names that are not UTF-8 are read again as bytes, which is slower. */
function readNames(folder: string): string[] | undefined {
  return tryOrUndefined(() => {
    const names = readdirSync(encodeSurrogateEscape(folder), 'utf8')
    if (!names.some((name) => name.includes('\uFFFD'))) return names
    return readdirSync(encodeSurrogateEscape(folder), 'buffer').map(decodeSurrogateEscape)
  })
}
