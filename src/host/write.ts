import { closeSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Grip, grip, openHeld, whereIs } from './grip.ts'
import { errorCode, HostProblem } from './problem.ts'
import { type Reached, reach } from './reach.ts'
import { replaceFile } from './replace.ts'
import type { Roots } from './roots.ts'

/** How a file is written. */
export interface Writing {
  readonly mode?: number | undefined
  /** The name that the new file has until it is whole. */
  readonly temporary?: string
  /** What the file must hold when it is replaced: these bytes, or nothing because there is none. Anything will do without it. */
  readonly expected?: { readonly bytes: Uint8Array | undefined }
}

/**
 * Writes a file whole or not at all. Its mode and, as far as the system lets us, its owner stay. A link is written through;
 * folders that are missing are made.
 */
export function writeFile(roots: Roots, path: string, bytes: Uint8Array, how: Writing = {}): void {
  const { mode, temporary, expected } = how
  reach(roots, path, { need: 'write' }, (place) => {
    const { found } = place
    checkWritable(found, path)
    const { folder, name } = makeFolders(place)
    const stay = (): void => judgeAgain(roots, folder, dirname(place.path))
    stay()
    const kept = found && { owner: found.stats, mode: found.stats.mode & 0o7777 }
    replaceFile(folder.at, name, bytes, {
      ...kept,
      ...(mode !== undefined && { mode }),
      ...(temporary !== undefined && { fresh: temporary }),
      ready() {
        stay()
        // The disk was waited for since the file was read; this is the last moment to see that somebody else has written it.
        if (expected && !holds(`${folder.at}/${name}`, expected.bytes)) throw new HostProblem('changed', CHANGED + path)
      },
    })
    stay()
  })
}

/** What a model is told of a file that somebody else writes while we do. */
export const CHANGED = 'The file was changed by somebody else while it was being written; read it again, then repeat: '

/** Refuses what cannot be replaced by an ordinary file. */
export function checkWritable(found: Grip | undefined, path: string): void {
  if (found?.stats.isDirectory()) throw new HostProblem('is-folder', `The path is a folder, not a file: ${path}`)
  if (found && !found.stats.isFile()) throw new HostProblem('not-file', `Not an ordinary file: ${path}`)
  if (found && (found.stats.mode & 0o222) === 0) throw new HostProblem('read-only', `The file is read-only: ${path}`)
}

function holds(at: string, bytes: Uint8Array | undefined): boolean {
  let held: Grip
  try {
    held = grip(at)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return bytes === undefined
    throw error
  }
  try {
    if (!bytes || !held.stats.isFile() || held.stats.size !== bytes.length) return false
    const descriptor = openHeld(held)
    try {
      return readFileSync(descriptor).equals(bytes)
    } finally {
      closeSync(descriptor)
    }
  } finally {
    held.release()
  }
}

function makeFolders({ folder, names, hold, path }: Reached): { folder: Grip; name: string } {
  const [name = '', ...deeper] = names
  if (folder === undefined) throw new HostProblem('is-folder', `The path is a folder, not a file: ${path}`)
  if (!folder.stats.isDirectory()) throw new HostProblem('not-folder', `A part of the path is a file: ${path}`)
  let last = folder
  const all = [name, ...deeper]
  for (const step of all.slice(0, -1)) {
    try {
      mkdirSync(`${last.at}/${step}`)
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error
    }
    last = hold(`${last.at}/${step}`)
    if (!last.stats.isDirectory()) throw new HostProblem('moved', `A folder on the way was exchanged: ${path}`)
  }
  return { folder: last, name: all.at(-1) ?? '' }
}

/** A folder that was judged may have been moved away since, with us holding it. */
function judgeAgain(roots: Roots, folder: Grip, wanted: string): void {
  const now = whereIs(folder)
  if (now === undefined || now === wanted) return
  try {
    roots.judge(now, 'write')
  } catch {
    // An own file stands in a folder that is not allowed as such; there the place must be the same.
    throw new HostProblem('moved', `The folder was moved away: ${wanted}`)
  }
}
