import {
  close,
  closeSync,
  fsync,
  fsyncSync,
  mkdirSync,
  open,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname, relative, sep } from 'node:path'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'

/** One write of the system may write only some of the bytes. */
export function writeAllBytes(handle: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(handle, bytes, at)
}

/** Writes a file that only its owner can read, and waits until its content is on the disk. */
export function writeDurableFile(path: string, flag: 'w' | 'wx', write: (handle: number) => void): void {
  const handle = openSync(path, flag, 0o600)
  try {
    write(handle)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Copies a file into another one, from its start. */
export function copyBytes(from: number, to: number): void {
  const chunk = Buffer.allocUnsafe(2 ** 18)
  for (let at = 0; ;) {
    const read = readSync(from, chunk, 0, chunk.length, at)
    if (read === 0) return
    writeAllBytes(to, chunk.subarray(0, read))
    at += read
  }
}

/** Replaces a file by a copy. Whoever has the former one open cannot write to this one. */
export function replaceByCopy(path: string): void {
  const temporaryFile = `${path}.${process.pid}.copy`
  const from = openSync(path, 'r')
  try {
    writeDurableFile(temporaryFile, 'w', (handle) => copyBytes(from, handle))
    renameSync(temporaryFile, path)
  } catch (error) {
    rmSync(temporaryFile, { force: true })
    throw error
  } finally {
    closeSync(from)
  }
  fsyncFolder(dirname(path))
}

/** Creates a folder that only its owner can read, and its parents. Returns the folders that got a new entry. */
export function createPrivateFolder(folder: string): string[] {
  const first = mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (first === undefined) return []
  const depth = relative(dirname(first), folder).split(sep).length
  const above: string[] = []
  for (let one = dirname(folder); above.length < depth; one = dirname(one)) above.push(one)
  return above
}

/** Writes the names in a folder to the disk. Not every file system can, and the files are complete either way. */
export function fsyncFolder(folder: string): void {
  tryOrUndefined(() => {
    const handle = openSync(folder, 'r')
    try {
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
  })
}

export function fsyncFolderAsync(folder: string): Promise<void> {
  return new Promise((resolve) => {
    open(folder, 'r', (unopened, handle) => {
      if (unopened) resolve()
      else fsync(handle, () => close(handle, () => resolve()))
    })
  })
}
