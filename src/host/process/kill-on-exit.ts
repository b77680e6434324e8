import { randomBytes } from 'node:crypto'
import { type ProcessGroup, killGroup } from './process-group.ts'
import { type PathWatch, type WatchedPaths, type Watchdog, createWatchdog } from './watchdog.ts'

/** The variable by which processes of ours are known, wherever they went. */
const MARKER_VARIABLE = 'DRAGOMAN_COMMAND'
const instanceId = `${Date.now()}-${randomBytes(4).toString('hex')}`

/** A name for a command or a program of ours, and the environment that carries it. */
export function createProcessMarker(kind: 'command' | 'companion'): {
  name: string
  marker: string
  env: Record<string, string>
} {
  const name = `${instanceId}-${kind}-${randomBytes(4).toString('hex')}`
  return { name, marker: `${MARKER_VARIABLE}=${name}`, env: { [MARKER_VARIABLE]: name } }
}

/** Processes of ours that have not ended; they end with us, however we end. */
const runningGroups = new Set<ProcessGroup>()
let watchdog: Watchdog | undefined

/** Something is about to be started outside of a box. */
export function ensureWatchdog(): void {
  getWatchdog().start()
}

/** Something is about to be started in a box, which must not leave anything at these paths, however we end. */
export function watchProtectedPaths(paths: WatchedPaths): PathWatch {
  return getWatchdog().watch(paths)
}

function getWatchdog(): Watchdog {
  return (watchdog ??= createWatchdog(`${MARKER_VARIABLE}=${instanceId}-`))
}

/** Takes care that a group of processes does not outlive us. */
export function killOnExit(group: ProcessGroup): void {
  if (runningGroups.size === 0 && !process.listeners('exit').includes(killRunningGroups))
    process.on('exit', killRunningGroups)
  runningGroups.add(group)
  watchdog?.add(group.id)
}

/** The group has ended. */
export function cancelKillOnExit(group: ProcessGroup): void {
  if (runningGroups.delete(group)) watchdog?.remove(group.id)
}

function killRunningGroups(): void {
  for (const group of runningGroups) killGroup(group)
}
