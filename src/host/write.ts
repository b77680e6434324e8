import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Grip, whereIs } from './grip.ts'
import { errorCode, HostProblem } from './problem.ts'
import { type Reached, reach } from './reach.ts'
import { replaceFile } from './replace.ts'
import type { Roots } from './roots.ts'

/**
 * Writes a file whole or not at all. Its mode and, as far as the system lets us, its owner stay. A link is written through;
 * folders that are missing are made.
 */
export function writeFile(roots: Roots, path: string, bytes: Uint8Array, mode?: number): void {
  reach(roots, path, { need: 'write' }, (place) => {
    const { found } = place
    if (found?.stats.isDirectory()) throw new HostProblem('is-folder', `The path is a folder, not a file: ${path}`)
    if (found && !found.stats.isFile()) throw new HostProblem('not-file', `Not an ordinary file: ${path}`)
    if (found && (found.stats.mode & 0o222) === 0) throw new HostProblem('read-only', `The file is read-only: ${path}`)
    const { folder, name } = makeFolders(place)
    const stay = (): void => judgeAgain(roots, folder, dirname(place.path))
    stay()
    const kept = found && { owner: found.stats, mode: found.stats.mode & 0o7777 }
    replaceFile(folder.at, name, bytes, { ...kept, ...(mode !== undefined && { mode }), ready: stay })
    stay()
  })
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
