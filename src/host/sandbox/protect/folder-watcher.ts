import { type FSWatcher, watch } from 'node:fs'
import { attempt, statNoFollow } from './no-follow-files.ts'

/** Watches folders for new names. Which folders there are is settled anew with each update. */
export interface FolderWatcher {
  /** Watches these folders, and no others; says whether one of them was not watched before. */
  update(folders: Iterable<string>): boolean
  close(): void
}

/** Tells of each folder in which a name came or went. Where the system cannot watch, nothing is told. */
export function createFolderWatcher(onChange: (folder: string, name: string | null) => void): FolderWatcher {
  const watched = new Map<string, { readonly ino: number; readonly watcher: FSWatcher }>()
  const unwatch = (path: string): void => {
    watched.get(path)?.watcher.close()
    watched.delete(path)
  }
  const add = (path: string): boolean => {
    const ino = statNoFollow(path)?.ino
    if (ino === undefined || watched.get(path)?.ino === ino) return false
    unwatch(path)
    return attempt(() => {
      const watcher = watch(path, { persistent: false }, (_, name) => onChange(path, name))
      watcher.on('error', () => undefined)
      watched.set(path, { ino, watcher })
    })
  }
  return {
    update(folders) {
      const wanted = new Set(folders)
      for (const path of watched.keys()) if (!wanted.has(path)) unwatch(path)
      return [...wanted].map(add).some(Boolean)
    },
    close: () => [...watched.keys()].forEach(unwatch),
  }
}
