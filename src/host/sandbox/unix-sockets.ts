import { lstatSync, readFileSync } from 'node:fs'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'

/**
 * Unix sockets of the machine. A read-only mount does not prevent connections to a socket file, and a system call filter
 * cannot see which socket is meant; so the files are covered.
 */

export function listSocketFiles(): string[] {
  return [...new Set(listUnixSockets().filter((name) => name.startsWith('/')))]
}

/** Does a program listen on an abstract socket? These belong to the network namespace, and no mount covers them. */
export function hasAbstractSockets(): boolean {
  return listUnixSockets().some((name) => name.startsWith('@'))
}

export function isSocketFile(path: string): boolean {
  return tryOrUndefined(() => lstatSync(path).isSocket()) ?? false
}

/** The last column of the table: a path, or `@` and a name. Most sockets have none. */
function listUnixSockets(): string[] {
  const table = tryOrUndefined(() => readFileSync('/proc/net/unix', 'utf8')) ?? ''
  const lines = table.split('\n').slice(1)
  return lines.flatMap((line) => /^(?:\S+\s+){7}(.+)$/.exec(line)?.[1] ?? [])
}
