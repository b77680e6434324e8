import { type FSWatcher, watch } from 'node:fs'
import { attempt, statsOf } from './no-follow.ts'

/** Watches folders for new names. Which folders there are is settled anew with each update. */
export interface FolderWatch {
  /** Watches these folders, and no others; says whether one of them was not watched before. */
  update(folders: Iterable<string>): boolean
  close(): void
}

/** Tells of each folder in which a name came or went. Where the system cannot watch, nothing is told. */
export function folderWatch(onChange: (folder: string, name: string | null) => void): FolderWatch {
  const watched = new Map<string, { readonly ino: number; readonly watcher: FSWatcher }>()
  const forget = (path: string): void => {
    watched.get(path)?.watcher.close()
    watched.delete(path)
  }
  const add = (path: string): boolean => {
    const ino = statsOf(path)?.ino
    if (ino === undefined || watched.get(path)?.ino === ino) return false
    forget(path)
    return attempt(() => {
      const watcher = watch(path, { persistent: false }, (_, name) => onChange(path, name))
      watcher.on('error', () => undefined)
      watched.set(path, { ino, watcher })
    })
  }
  return {
    update(folders) {
      const wanted = new Set(folders)
      for (const path of watched.keys()) if (!wanted.has(path)) forget(path)
      return [...wanted].map(add).some(Boolean)
    },
    close: () => [...watched.keys()].forEach(forget),
  }
}
