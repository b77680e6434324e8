import { type FSWatcher, watch } from 'node:fs'
import { tryFileOperation, statNoFollow } from './no-follow-files.ts'

/** Reports each folder in which a name appears or disappears; nothing where the system cannot watch. */
export function createFolderWatcher(onChange: (folder: string, name: string | null) => void) {
  const watched = new Map<string, { readonly ino: number; readonly watcher: FSWatcher }>()
  const unwatch = (path: string): void => {
    watched.get(path)?.watcher.close()
    watched.delete(path)
  }
  const add = (path: string): boolean => {
    const ino = statNoFollow(path)?.ino
    if (ino === undefined || watched.get(path)?.ino === ino) return false
    unwatch(path)
    return tryFileOperation(() => {
      const watcher = watch(path, { persistent: false }, (_, name) => onChange(path, name))
      watcher.on('error', () => undefined)
      watched.set(path, { ino, watcher })
    })
  }
  return {
    /** Watches exactly these folders; returns whether one of them is new. */
    update(folders: Iterable<string>): boolean {
      const wanted = new Set(folders)
      for (const path of watched.keys()) if (!wanted.has(path)) unwatch(path)
      return [...wanted].map(add).some(Boolean)
    },
    close: (): void => [...watched.keys()].forEach(unwatch),
  }
}
