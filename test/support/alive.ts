import assert from 'node:assert/strict'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

/** Waits until no process works in a folder any more; it must come to that. */
export async function noneAliveIn(folder: string, ms = 60_000): Promise<void> {
  let alive = aliveIn(folder)
  for (const end = Date.now() + ms; alive.length > 0 && Date.now() < end; alive = aliveIn(folder)) await pause(20)
  // Not listed again: a shell for the next command may start at any time.
  assert.deepEqual(alive, [], 'processes are left')
}

/** The command lines of the processes that work in a folder; nothing where the system does not tell. */
export function aliveIn(folder: string): string[] {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? describe(name, folder) : []))
  } catch {
    return []
  }
}

function describe(pid: string, folder: string): string[] {
  try {
    if (!readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)) return []
    // One that has ended, and was not collected, is not alive.
    if (/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))) return []
    return [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')}`]
  } catch {
    return []
  }
}

/** Waits for something to be so. */
export async function until(condition: () => boolean, ms = 60_000): Promise<void> {
  let isSo = condition()
  for (const end = Date.now() + ms; !isSo && Date.now() < end; isSo = condition()) await pause(10)
  assert.ok(isSo, 'it did not come to that')
}
