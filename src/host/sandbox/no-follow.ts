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

/**
 * Renames something so that nothing reads it any more; gives the new name. Whoever made it may want it back, so the first copies
 * are kept; after those the last one is replaced, or a command could fill the folder with them.
 */
export function setAside(at: string, name: string): string | undefined {
  // No name is longer than 255 bytes.
  const start = Buffer.byteLength(name) > 230 ? name.slice(0, 50) : name
  const names = COPIES.map((suffix) => `${start}${suffix}`)
  const free = names.find((one) => !statsOf(`${at}/${one}`))
  const last = names.at(-1) ?? ''
  if (free === undefined) removeTree(at, last)
  // A command that still runs may be quicker than we are, and take the name.
  for (const one of [free ?? last, `${start}.set-aside-${randomBytes(4).toString('hex')}`])
    if (attempt(() => renameSync(`${at}/${name}`, `${at}/${one}`))) return one
  return undefined
}

/** What the names of things end with that were set aside. */
export const COPIES = ['.set-aside', '.set-aside-2', '.set-aside-3'] as const

/** Is this the name of something that was set aside? */
export function isSetAside(name: string): boolean {
  return /\.set-aside(?:-[0-9a-f]{1,8})?$/.test(name)
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

/** The names in a folder; none if it cannot be read. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
