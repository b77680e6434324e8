import { closeSync, constants, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { lazy } from '../../model/lazy.ts'
import { createFolderWatcher } from './folder-watcher.ts'

/** Says which entries of folders may have changed, so that not all of them must be looked at. */
export interface ChangeTracker {
  /** The paths that may have changed since the last call; undefined if the system cannot tell. */
  takeChanged(): Promise<ReadonlySet<string> | undefined>
  close(): void
}

/** More events than this in a row may have overflowed the queue of the system, which loses the rest. */
const MAX_EVENTS = 4000
const BARRIER_TIMEOUT_MS = 500

/**
 * Watches folders, not what is below them. The system reports changes in their order: when it has reported a write to a
 * file of ours in the folder `scratch`, it has reported all changes before it. Undefined if a folder cannot be watched.
 */
export function trackChanges(folders: readonly string[], scratch: string): ChangeTracker | undefined {
  const barrierFolder = join(scratch, `changes-${process.pid}-${(trackerCount += 1)}`)
  mkdirSync(barrierFolder, { recursive: true, mode: 0o700 })
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  const barrier = openSync(join(barrierFolder, 'barrier'), flags, 0o600)
  let changed = new Set<string>()
  let events = 0
  let isCertain = true
  let onBarrier = (): void => undefined
  const watcher = createFolderWatcher((folder, name) => {
    if (folder === barrierFolder) return onBarrier()
    events++
    if (name === null) isCertain = false
    else changed.add(join(folder, name))
  })
  const close = lazy(() => {
    watcher.close()
    closeSync(barrier)
    rmSync(barrierFolder, { recursive: true, force: true })
  })
  const all = [barrierFolder, ...folders]
  watcher.update(all)
  if (!all.every(watcher.isWatched)) {
    close()
    return undefined
  }

  const awaitBarrier = (): Promise<boolean> =>
    new Promise((done) => {
      const timeout = setTimeout(() => done(false), BARRIER_TIMEOUT_MS)
      onBarrier = () => {
        clearTimeout(timeout)
        done(true)
      }
      writeSync(barrier, '.', 0)
    })

  return {
    async takeChanged() {
      isCertain = (await awaitBarrier()) && isCertain && events < MAX_EVENTS
      const taken = isCertain ? changed : undefined
      changed = new Set()
      events = 0
      isCertain = true
      return taken
    },
    close,
  }
}

let trackerCount = 0
