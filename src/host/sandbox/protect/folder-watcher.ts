import { type FSWatcher, watch } from 'node:fs'
import { attempt, statNoFollow } from './no-follow-files.ts'

export interface FolderWatcher {
  /** Watches exactly these folders; returns whether one of them is new. */
  update(folders: Iterable<string>): boolean
  close(): void
}

/** Reports each folder in which a name appears or disappears; nothing where the system cannot watch. */
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
