import { randomBytes } from 'node:crypto'
import { type ProcessGroup, killGroup } from './process-group.ts'
import { type PathWatch, type WatchedPaths, type Watchdog, createWatchdog } from './watchdog.ts'

/** Marks our processes, even those that leave their group. */
const MARKER_VARIABLE = 'DRAGOMAN_COMMAND'
const instanceId = `${Date.now()}-${randomBytes(4).toString('hex')}`

export function createProcessMarker(kind: 'command' | 'companion') {
  const name = `${instanceId}-${kind}-${randomBytes(4).toString('hex')}`
  return { name, marker: `${MARKER_VARIABLE}=${name}`, env: { [MARKER_VARIABLE]: name } }
}

/** Could a process of ours have made this marker? */
export function isProcessMarker(text: string): boolean {
  return new RegExp(`^${MARKER_VARIABLE}=\\d+-[\\da-f]+-\\w+-[\\da-f]+$`).test(text)
}

/** Groups that have not ended; they are killed with us, however we end. */
const runningGroups = new Set<ProcessGroup>()
let watchdog: Watchdog | undefined

/** Called before something is started outside of a sandbox. */
export function ensureWatchdog(): void {
  getWatchdog().start()
}

/** Called before something is started in a sandbox, which must leave nothing at these paths, however we end. */
export function watchProtectedPaths(paths: WatchedPaths): PathWatch {
  return getWatchdog().watch(paths)
}

function getWatchdog(): Watchdog {
  return (watchdog ??= createWatchdog(`${MARKER_VARIABLE}=${instanceId}-`))
}

export function killOnExit(group: ProcessGroup): void {
  if (runningGroups.size === 0 && !process.listeners('exit').includes(killRunningGroups))
    process.on('exit', killRunningGroups)
  runningGroups.add(group)
  watchdog?.add(group.id)
}

export function cancelKillOnExit(group: ProcessGroup): void {
  if (runningGroups.delete(group)) watchdog?.remove(group.id)
}

/** It goes on when we end. */
export function keepAfterExit(group: ProcessGroup): void {
  cancelKillOnExit(group)
  watchdog?.keep(group.marker)
}

function killRunningGroups(): void {
  for (const group of runningGroups) killGroup(group)
}
