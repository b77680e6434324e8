import { close, closeSync, fsync, fsyncSync, open, openSync, writeSync } from 'node:fs'

/** Writes all bytes: the system may take fewer at a time than it is given. */
export function writeWhole(handle: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(handle, bytes, at)
}

/** Puts the names in a folder on the disk. Not every disk can do this for a folder, and the files are whole either way. */
export function syncFolder(folder: string): void {
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
export function folderSynced(folder: string): Promise<void> {
  return new Promise((resolve) => {
    open(folder, 'r', (unopened, handle) => {
      if (unopened) resolve()
      else fsync(handle, () => close(handle, () => resolve()))
    })
  })
}
