import { randomBytes } from 'node:crypto'
import { type Group, stopNow } from './group.ts'
import { type PathWatch, type WatchedPaths, type Watchdog, watchdogFor } from './watchdog.ts'

/** The variable by which processes of ours are known, wherever they went. */
const VARIABLE = 'DRAGOMAN_COMMAND'
const ours = `${Date.now()}-${randomBytes(4).toString('hex')}`

/** A name for a command or a program of ours, and the environment that carries it. */
export function newMark(kind: 'command' | 'companion'): { name: string; mark: string; env: Record<string, string> } {
  const name = `${ours}-${kind}-${randomBytes(4).toString('hex')}`
  return { name, mark: `${VARIABLE}=${name}`, env: { [VARIABLE]: name } }
}

/** Processes of ours that have not ended; they end with us, however we end. */
const unfinished = new Set<Group>()
let watchdog: Watchdog | undefined

/** Something is about to be started outside of a box. */
export function expectUnboxed(): void {
  theWatchdog().start()
}

/** Something is about to be started in a box, which must not leave anything at these paths, however we end. */
export function expectBoxed(paths: WatchedPaths): PathWatch {
  return theWatchdog().watch(paths)
}

function theWatchdog(): Watchdog {
  return (watchdog ??= watchdogFor(`${VARIABLE}=${ours}-`))
}

/** Takes care that a group of processes does not outlive us. */
export function endWithUs(group: Group): void {
  if (unfinished.size === 0 && !process.listeners('exit').includes(endAll)) process.on('exit', endAll)
  unfinished.add(group)
  watchdog?.add(group.id)
}

/** The group has ended. */
export function letGo(group: Group): void {
  if (unfinished.delete(group)) watchdog?.remove(group.id)
}

function endAll(): void {
  for (const group of unfinished) stopNow(group)
}
