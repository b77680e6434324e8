import { chmodSync, lstatSync, readdirSync, renameSync, rmdirSync, statSync, type Stats, unlinkSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { gripFolder } from '../grip.ts'
import { fromRaw, toRaw } from '../raw-name.ts'

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
  for (const one of [free ?? last, `${start}.set-aside-${randomBytes(4).toString('hex')}`]) {
    if (attempt(() => renameSync(toRaw(`${at}/${name}`), toRaw(`${at}/${one}`)))) return one
    openToOwner(at)
  }
  return undefined
}

/** A command may take from us the right to list or to change a folder, which it has only as our folder's owner. */
function openToOwner(at: string): void {
  attempt(() => {
    const mode = statSync(at).mode
    if ((mode & 0o700) !== 0o700) chmodSync(at, (mode | 0o700) & 0o7777)
  })
}

/** The names in a folder below another one, although a command may have kept us from listing it. */
export function namesBelow(folder: string, steps: readonly string[] = []): string[] {
  const path = [folder, ...steps].join('/')
  if (!statsOf(path)?.isDirectory()) return []
  const names = list(path)
  if (names === undefined) inFolderOf(folder, [...steps, '.'], openToOwner)
  return names ?? namesIn(path)
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
        openToOwner(folder.at)
        for (const child of namesIn(folder.at)) removeTree(folder.at, child)
      } finally {
        folder.release()
      }
    }
    attempt(() => rmdirSync(toRaw(`${at}/${name}`)))
  } else attempt(() => unlinkSync(toRaw(`${at}/${name}`)))
}

/** What is at a path, no link followed; nothing if there is nothing. */
export function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(toRaw(path), { throwIfNoEntry: false })
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
  return list(folder) ?? []
}

/** A name that is no text is read again as bytes, which is slower. */
function list(folder: string): string[] | undefined {
  try {
    const names = readdirSync(toRaw(folder), 'utf8')
    if (!names.some((name) => name.includes('\uFFFD'))) return names
    return readdirSync(toRaw(folder), 'buffer').map(fromRaw)
  } catch {
    return undefined
  }
}
