import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTick } from 'node:timers/promises'

interface FolderTree {
  readonly files: readonly string[]
  /** With the top, as an empty path. */
  readonly folders: readonly string[]
}

/** Folders that are read before other work gets its turn. */
const SLICE = 100

/** What is below a folder, by relative paths, without `excluded` folders; undefined if it is more than `max`. */
export async function listFolderTree(
  folder: string,
  max: number,
  isExcluded: (path: string, names: readonly string[]) => boolean = () => false,
): Promise<FolderTree | undefined> {
  const files: string[] = []
  const folders: string[] = []
  const open = ['']
  for (let current = open.pop(); current !== undefined; current = open.pop()) {
    if (folders.length % SLICE === SLICE - 1) await nextTick()
    const entries = readdirSync(join(folder, current), { withFileTypes: true })
    const names = entries.map(({ name }) => name)
    if (isExcluded(current, names)) continue
    folders.push(current)
    for (const entry of entries) {
      const path = current === '' ? entry.name : `${current}/${entry.name}`
      if (entry.isDirectory()) open.push(path)
      else if (entry.isFile()) files.push(path)
      if (files.length + open.length > max) return undefined
    }
  }
  return { files, folders }
}
