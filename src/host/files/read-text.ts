import { readFileSync } from 'node:fs'
import { getErrnoCode } from '../host-error.ts'

/** The text of a file of the user; undefined if there is none. Throws if it cannot be read. */
export function readTextIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(getErrnoCode(error))) return undefined
    throw error
  }
}
