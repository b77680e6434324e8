import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, stringOrEmpty, tryParseJson } from '../../model/json.ts'
import { type StoredCredential, parseStoredCredential, type CredentialStore } from '../../provider/index.ts'
import { UserError, EXIT_CODE } from '../user-error.ts'
import { updatePrivateFile, withFileLock } from '../paths/private-file.ts'
import { getDataFolder } from '../paths/folders.ts'

/** Credentials in a private file, which is read on first use. */
export function openCredentialFile(path: string = join(getDataFolder(), 'keys.json')): CredentialStore {
  let cachedGrants: Credentials | undefined
  const all = () => (cachedGrants ??= readKeyFile(path))
  const change = (next: (now: Credentials) => Credentials): void => {
    updatePrivateFile(path, () => {
      cachedGrants = next(readKeyFile(path))
      return `${JSON.stringify(cachedGrants, undefined, 2)}\n`
    })
  }
  return {
    get: (row) => (Object.hasOwn(all(), row) ? all()[row] : undefined),
    set: (row, grant) => change((now) => ({ ...now, [row]: grant })),
    remove(row) {
      if (!Object.hasOwn(readKeyFile(path), row)) return false
      change(({ [row]: _gone, ...rest }) => rest)
      return true
    },
    listProviders: () => Object.keys(all()),
    getRefreshTokenStore: (row) => ({
      read: () => findRefreshToken(readKeyFile(path)[row]),
      replace: (old, next) =>
        change((now) => {
          const grant = now[row]
          if (grant?.kind !== 'google' || findRefreshToken(grant) !== old) return now
          return { ...now, [row]: { ...grant, credential: { ...grant.credential, refresh_token: next } } }
        }),
      runExclusively: (work) => withFileLock(`${path}.${row.replace(/[^\w.-]/g, '_')}`, work),
    }),
  }
}

type Credentials = Readonly<Record<string, StoredCredential>>

function findRefreshToken(grant: StoredCredential | undefined): string | undefined {
  return grant?.kind === 'google' ? stringOrEmpty(grant.credential['refresh_token']) || undefined : undefined
}

function readKeyFile(path: string): Credentials {
  let text
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return {}
    throw unreadableKeysError(path)
  }
  // The parser's message is not shown: it may quote the file.
  const json = tryParseJson(text)
  if (!isObject(json)) throw unreadableKeysError(path)
  const grants = Object.entries(json).map(([row, one]) => [row, parseStoredCredential(one)] as const)
  return Object.fromEntries(grants.filter((pair): pair is [string, StoredCredential] => pair[1] !== undefined))
}

function unreadableKeysError(path: string): UserError {
  return new UserError(`the stored keys in ${path} cannot be read; remove the file and sign in again`, EXIT_CODE.config)
}
