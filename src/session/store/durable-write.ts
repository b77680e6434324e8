import { close, closeSync, fsync, fsyncSync, mkdirSync, open, openSync, writeSync } from 'node:fs'
import { dirname, relative, sep } from 'node:path'

/** Writes all bytes: the system may take fewer at a time than it is given. */
export function writeAllBytes(handle: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(handle, bytes, at)
}

/** Makes a folder that only this person can read, and those above it; gives the folders that got a new name in them. */
export function createPrivateFolder(folder: string): string[] {
  const first = mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (first === undefined) return []
  const depth = relative(dirname(first), folder).split(sep).length
  const above: string[] = []
  for (let one = dirname(folder); above.length < depth; one = dirname(one)) above.push(one)
  return above
}

/** Puts the names in a folder on the disk. Not every disk can do this for a folder, and the files are whole either way. */
export function fsyncFolder(folder: string): void {
  try {
    const handle = openSync(folder, 'r')
    try {
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
  } catch {
    // What the disk cannot do, it cannot do.
  }
}

/** The same, while the program goes on. */
export function fsyncFolderAsync(folder: string): Promise<void> {
  return new Promise((resolve) => {
    open(folder, 'r', (unopened, handle) => {
      if (unopened) resolve()
      else fsync(handle, () => close(handle, () => resolve()))
    })
  })
}
