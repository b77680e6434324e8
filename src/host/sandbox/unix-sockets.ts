import { lstatSync, readFileSync } from 'node:fs'

/**
 * Local sockets of the machine. A mount that is only read does not keep anybody from connecting to a socket file, and a filter
 * of system calls cannot see which socket is meant; so the files are covered.
 */

/** The paths of sockets that programs of this machine have opened. */
export function listSocketFiles(): string[] {
  return [...new Set(listUnixSockets().filter((name) => name.startsWith('/')))]
}

/** Does a program of this machine listen on a socket without a file? These belong to the network, and no mount covers them. */
export function hasAbstractSockets(): boolean {
  return listUnixSockets().some((name) => name.startsWith('@'))
}

/** Is there a socket at a path? */
export function isSocketFile(path: string): boolean {
  try {
    return lstatSync(path).isSocket()
  } catch {
    return false
  }
}

/** The last column of the system's table: a path, or `@` and a name. Most sockets have none. */
function listUnixSockets(): string[] {
  try {
    const table = readFileSync('/proc/net/unix', 'utf8').split('\n').slice(1)
    return table.flatMap((line) => /^(?:\S+\s+){7}(.+)$/.exec(line)?.[1] ?? [])
  } catch {
    return []
  }
}
