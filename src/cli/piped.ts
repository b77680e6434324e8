import { fstatSync, readFileSync } from 'node:fs'
import { isatty } from 'node:tty'
import { Complaint } from './exit.ts'

/**
 * All that is piped in, however slowly it comes. A terminal and /dev/null are no pipe; and `process.stdin` is not touched,
 * because that would make the read give up where it should wait.
 */
export function readPiped(): string {
  if (isatty(0)) return ''
  try {
    const kind = fstatSync(0)
    return kind.isFIFO() || kind.isFile() || kind.isSocket() ? readFileSync(0, 'utf8').trim() : ''
  } catch (error) {
    throw new Complaint(`standard input cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}
