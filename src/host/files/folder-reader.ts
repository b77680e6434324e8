import { lstatSync, readdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { isInsideFolder } from '../../model/inside-folder.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'
import { readRegularFile } from './regular-file.ts'

export interface FolderEntry {
  readonly name: string
  readonly type: 'file' | 'folder' | 'link' | 'other'
  /** Of a file. */
  readonly bytes?: number
}

/** Reads what is in a folder for somebody who must not see anything else, whatever links there are in it. */
export interface FolderReader {
  /** The files of a folder below; undefined if there is no such folder. */
  list(path: string): readonly FolderEntry[] | undefined
  read(path: string): Uint8Array | 'too-large' | undefined
}

export function createFolderReader(folder: string, maxBytes = 64 * 2 ** 20): FolderReader {
  return {
    list(path) {
      const inside = join(folder, path)
      return tryOrUndefined(() => {
        const real = realpathSync.native(inside)
        if (path.includes('\0') || !isInsideOrSame(real, realpathSync.native(folder))) return undefined
        return readdirSync(real)
          .sort()
          .slice(0, MAX_FILES)
          .flatMap((name) => tryOrUndefined(() => [describeFile(join(real, name), name)]) ?? [])
      })
    },
    read(path) {
      if (path.includes('\0')) return undefined
      const read = readRegularFile(join(folder, path), { within: folder, maxBytes })
      if ('problem' in read) return undefined
      return read.isCut ? 'too-large' : read.bytes
    },
  }
}

const MAX_FILES = 10_000

function isInsideOrSame(path: string, folder: string): boolean {
  return path === folder || isInsideFolder(path, folder)
}

function describeFile(path: string, name: string): FolderEntry {
  const stat = lstatSync(path)
  if (stat.isSymbolicLink()) return { name, type: 'link' }
  if (stat.isDirectory()) return { name, type: 'folder' }
  return stat.isFile() ? { name, type: 'file', bytes: stat.size } : { name, type: 'other' }
}
