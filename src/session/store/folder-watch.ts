import { type FSWatcher, statSync, watch } from 'node:fs'
import { join } from 'node:path'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'

/** Tells when files of a folder change. */
export interface FolderWatch {
  /** Calls back after the file with this name may have changed, until it is stopped. */
  readonly watch: (name: string, onChange: () => void) => { readonly stop: () => void }
}

/** One watcher of the system for all files of the folder, and a slow poll for file systems that do not report changes. */
export function createFolderWatch(folder: string): FolderWatch {
  const files = new Map<string, { listeners: Set<() => void>; seen: string }>()
  let watcher: FSWatcher | undefined
  let timer: NodeJS.Timeout | undefined

  const describe = (name: string): string => {
    const found = tryOrUndefined(() => statSync(join(folder, name)))
    return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : ''
  }

  function poll(): void {
    for (const [name, file] of files) {
      const seen = describe(name)
      if (seen === file.seen) continue
      file.seen = seen
      for (const onChange of file.listeners) onChange()
    }
    // The folder may have been created or replaced since.
    if (!watcher) startWatcher()
  }

  function startWatcher(): void {
    watcher = tryOrUndefined(() => watch(folder, { persistent: false }))
    watcher?.on('change', (_, name) => {
      const file = typeof name === 'string' ? files.get(name) : undefined
      if (file) for (const onChange of file.listeners) onChange()
      else if (typeof name !== 'string') poll()
    })
    watcher?.on('error', stopWatcher)
  }

  function stopWatcher(): void {
    watcher?.close()
    watcher = undefined
  }

  return {
    watch(name, onChange) {
      const file = files.get(name) ?? { listeners: new Set(), seen: describe(name) }
      file.listeners.add(onChange)
      files.set(name, file)
      if (!watcher) startWatcher()
      timer ??= setInterval(poll, POLL_MS)
      return {
        stop() {
          file.listeners.delete(onChange)
          if (file.listeners.size === 0) files.delete(name)
          if (files.size > 0) return
          stopWatcher()
          clearInterval(timer)
          timer = undefined
        },
      }
    },
  }
}

const POLL_MS = 2000
