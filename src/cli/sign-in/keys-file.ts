import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, stringOf } from '../../model/json.ts'
import { type Grant, grantFrom, type Keys } from '../../provider/auth/grant.ts'
import { Complaint, EXIT } from '../exit.ts'
import { changeOwnFile, withOwnLock } from '../own/file.ts'
import { dataFolder } from '../own/places.ts'

/** Keys in a file that only this person can read. It is read once, and only when somebody asks. */
export function keysFile(path: string = join(dataFolder(), 'keys.json')): Keys {
  let known: Readonly<Record<string, Grant>> | undefined
  const all = () => (known ??= readKeys(path))
  const change = (next: (now: Readonly<Record<string, Grant>>) => Readonly<Record<string, Grant>>): void => {
    changeOwnFile(path, () => {
      known = next(readKeys(path))
      return `${JSON.stringify(known, undefined, 2)}\n`
    })
  }
  return {
    get: (row) => (Object.hasOwn(all(), row) ? all()[row] : undefined),
    set: (row, grant) => change((now) => ({ ...now, [row]: grant })),
    remove(row) {
      if (!Object.hasOwn(readKeys(path), row)) return false
      change(({ [row]: _gone, ...rest }) => rest)
      return true
    },
    rows: () => Object.keys(all()),
    refresh: (row) => ({
      read: () => refreshTokenOf(readKeys(path)[row]),
      replace: (old, next) =>
        change((now) => {
          const grant = now[row]
          if (grant?.kind !== 'google' || refreshTokenOf(grant) !== old) return now
          return { ...now, [row]: { ...grant, credential: { ...grant.credential, refresh_token: next } } }
        }),
      exclusively: (work) => withOwnLock(`${path}.${row.replace(/[^\w.-]/g, '_')}`, work),
    }),
  }
}

function refreshTokenOf(grant: Grant | undefined): string | undefined {
  return grant?.kind === 'google' ? stringOf(grant.credential['refresh_token']) || undefined : undefined
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
