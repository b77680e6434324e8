import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isObject } from '../model/json.ts'
import { type Grant, grantFrom, type Keys } from '../provider/auth/grant.ts'
import { Complaint, EXIT } from './exit.ts'
import { dataFolder } from './places.ts'

/** Keys in a file that only this person can read. It is read once, and only when somebody asks. */
export function keysFile(path: string = join(dataFolder(), 'keys.json')): Keys {
  let known: Readonly<Record<string, Grant>> | undefined
  const all = () => (known ??= readKeys(path))
  const write = (next: Readonly<Record<string, Grant>>): void => {
    known = next
    writeKeys(path, next)
  }
  return {
    get: (row) => (Object.hasOwn(all(), row) ? all()[row] : undefined),
    set: (row, grant) => write({ ...readKeys(path), [row]: grant }),
    remove(row) {
      const { [row]: gone, ...rest } = readKeys(path)
      if (gone) write(rest)
      return gone !== undefined
    },
    rows: () => Object.keys(all()),
  }
}

function readKeys(path: string): Record<string, Grant> {
  let text
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return {}
    throw unreadable(path)
  }
  try {
    const json: unknown = JSON.parse(text)
    if (!isObject(json)) throw new Error('no object')
    const grants = Object.entries(json).map(([row, one]) => [row, grantFrom(one)] as const)
    return Object.fromEntries(grants.filter((pair): pair is [string, Grant] => pair[1] !== undefined))
  } catch {
    // What a parser says may quote the file.
    throw unreadable(path)
  }
}

function unreadable(path: string): Complaint {
  return new Complaint(`the stored keys in ${path} cannot be read; remove the file and sign in again`, EXIT.config)
}

/** Writes beside the file and then puts it in its place, so that nobody ever sees half of it. */
function writeKeys(path: string, grants: Readonly<Record<string, Grant>>): void {
  const fresh = `${path}.${process.pid}`
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    rmSync(fresh, { force: true })
    writeFileSync(fresh, `${JSON.stringify(grants, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' })
    renameSync(fresh, path)
  } catch (error) {
    rmSync(fresh, { force: true })
    const why = error instanceof Error && 'code' in error ? String(error.code) : 'no reason is known'
    throw new Complaint(`the keys cannot be stored in ${path} (${why})`, EXIT.config)
  }
}
