import { type ChildProcess, spawn } from 'node:child_process'
import { shell } from './shell.ts'

/**
 * A small process that outlives us by a moment. What runs outside of a sandbox has nothing that ends it if we are killed; so
 * this one reads from a pipe which groups of processes there are, and when the pipe ends, because we have ended in whatever
 * way, it ends those groups, and every process that carries our mark in its environment, with its group.
 */
export interface Watchdog {
  /** Starts it, so that it is there before there is anything to end. */
  start(): void
  add(group: number): void
  remove(group: number): void
}

/** The watchdog for processes with a mark. */
export function watchdogFor(mark: string): Watchdog {
  let child: ChildProcess | undefined
  const start = (): ChildProcess => (child ??= startWatchdog(mark))
  const tell = (text: string): void => void start().stdin?.write(`${text}\n`)
  return { start: () => void start(), add: (group) => tell(`+${group}`), remove: (group) => tell(`-${group}`) }
}

function startWatchdog(mark: string): ChildProcess {
  const args = ['--noprofile', '--norc', '-c', SCRIPT, 'dragoman-watchdog', mark]
  const env = { PATH: process.env['PATH'] ?? '/usr/bin:/bin' }
  const child = spawn(shell(), args, { cwd: '/', env, stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  child.on('error', () => undefined)
  child.stdin?.on('error', () => undefined)
  // It must not keep us from ending: it waits for just that.
  child.unref()
  if (child.stdin && 'unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref()
  return child
}

/** What forks while it is being ended is met in the next round. */
const SCRIPT = `
trap '' HUP INT TERM
while read -r line; do
  case $line in
    +*) groups[\${line#+}]=1 ;;
    -*) unset "groups[\${line#-}]" ;;
  esac
done
for round in 1 2 3; do
  for id in "\${!groups[@]}"; do kill -9 -- "-$id"; done
  [ -d /proc/self ] && for file in $(grep -slzF -- "$1" /proc/[0-9]*/environ); do
    id=\${file#/proc/}
    id=\${id%/environ}
    read -r stat < "/proc/$id/stat" && set -- "$1" \${stat##*)} && kill -9 -- "-$4"
    kill -9 "$id"
  done
  sleep 0.1
done`
