import { lstatSync, readdirSync, renameSync, rmdirSync, type Stats, unlinkSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { gripFolder } from '../grip.ts'

/**
 * Work on folders that a command can change while we look. A folder is held by a descriptor before a name in it is used, and
 * no step of a path is followed through a link, so nothing outside can be reached in exchange.
 */

/** Uses the last step of a path in the folder that holds it; undefined if a step before it is missing or no folder. */
export function inFolderOf<T>(
  folder: string,
  steps: readonly string[],
  use: (at: string, name: string) => T,
): T | undefined {
  const name = steps.at(-1)
  if (name === undefined) return undefined
  const held: { release(): void }[] = []
  try {
    let at = folder
    for (const step of [undefined, ...steps.slice(0, -1)]) {
      const next = openFolder(step === undefined ? at : `${at}/${step}`)
      if (next === undefined) return undefined
      held.push(next)
      at = next.at
    }
    return use(at, name)
  } finally {
    for (const one of held) one.release()
  }
}

/** Renames something so that nothing reads it any more; gives the new name. Whoever made it may want it back. */
export function setAside(at: string, name: string): string | undefined {
  for (const suffix of ['set-aside', `set-aside-${randomBytes(4).toString('hex')}`]) {
    try {
      renameSync(`${at}/${name}`, `${at}/${name}.${suffix}`)
      return `${name}.${suffix}`
    } catch {
      // A folder that is not empty has this name already.
    }
  }
  return undefined
}

/** Removes a file, a link or a folder with all that is in it, also while somebody else writes there. */
export function removeTree(at: string, name: string): void {
  if (statsOf(`${at}/${name}`)?.isDirectory()) {
    const folder = openFolder(`${at}/${name}`)
    if (folder !== undefined) {
      try {
        for (const child of readdirSync(folder.at)) removeTree(folder.at, child)
      } finally {
        folder.release()
      }
    }
    attempt(() => rmdirSync(`${at}/${name}`))
  } else attempt(() => unlinkSync(`${at}/${name}`))
}

/** What is at a path, no link followed; nothing if there is nothing. */
export function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** What we cannot touch, a command of ours cannot touch either. */
export function attempt(work: () => void): boolean {
  try {
    work()
    return true
  } catch {
    return false
  }
}

function openFolder(path: string): ReturnType<typeof gripFolder> | undefined {
  try {
    return gripFolder(path)
  } catch {
    return undefined
  }
}
