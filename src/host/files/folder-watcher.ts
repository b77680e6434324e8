import { type FSWatcher, lstatSync, watch } from 'node:fs'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'
import { encodeSurrogateEscape } from './surrogate-escape.ts'

/** Reports each folder in which a name appears, disappears or changes; nothing where the system cannot watch. */
export function createFolderWatcher(onChange: (folder: string, name: string | null) => void) {
  const watched = new Map<string, { readonly ino: number; readonly watcher: FSWatcher }>()
  const unwatch = (path: string): void => {
    watched.get(path)?.watcher.close()
    watched.delete(path)
  }
  const add = (path: string): boolean => {
    const ino = tryOrUndefined(() => lstatSync(encodeSurrogateEscape(path), { throwIfNoEntry: false }))?.ino
    if (ino === undefined || watched.get(path)?.ino === ino) return false
    unwatch(path)
    const watcher = tryOrUndefined(() => watch(path, { persistent: false }, (_, name) => onChange(path, name)))
    watcher?.on('error', () => undefined)
    if (watcher) watched.set(path, { ino, watcher })
    return watcher !== undefined
  }
  return {
    /** Watches exactly these folders; returns whether one of them is new. */
    update(folders: Iterable<string>): boolean {
      const wanted = new Set(folders)
      for (const path of watched.keys()) if (!wanted.has(path)) unwatch(path)
      return [...wanted].map(add).some(Boolean)
    },
    isWatched: (path: string): boolean => watched.has(path),
    close: (): void => [...watched.keys()].forEach(unwatch),
  }
}
