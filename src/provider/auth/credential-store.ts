import { isObject, stringOrEmpty, tryParseJson } from '../../model/json.ts'
import { type StoredCredential, parseStoredCredential, type CredentialStore } from './stored-credential.ts'

/** The private file with the credentials. */
export interface CredentialFile {
  readonly path: string
  /** Undefined if there is none. Throws if it cannot be read. */
  read(): string | undefined
  /** Replaces the content. `text` is called while other processes are kept out. */
  update(text: () => string): void
  /** Does work such as a request; `name` keeps out others that do the same. */
  runExclusively<T>(name: string, work: () => Promise<T>): Promise<T>
  createError(message: string): Error
}

/** Credentials in a private file, which is read on first use. */
export function createCredentialStore(file: CredentialFile): CredentialStore {
  let cachedGrants: Credentials | undefined
  const all = () => (cachedGrants ??= readCredentials(file))
  const change = (next: (now: Credentials) => Credentials): void => {
    file.update(() => {
      cachedGrants = next(readCredentials(file))
      return `${JSON.stringify(cachedGrants, undefined, 2)}\n`
    })
  }
  return {
    get: (row) => (Object.hasOwn(all(), row) ? all()[row] : undefined),
    set: (row, grant) => change((now) => ({ ...now, [row]: grant })),
    remove(row) {
      if (!Object.hasOwn(readCredentials(file), row)) return false
      change(({ [row]: _gone, ...rest }) => rest)
      return true
    },
    listProviders: () => Object.keys(all()),
    getRefreshTokenStore: (row) => ({
      read: () => findRefreshToken(readCredentials(file)[row]),
      replace: (old, next) =>
        change((now) => {
          const grant = now[row]
          if (grant?.kind !== 'google' || findRefreshToken(grant) !== old) return now
          return { ...now, [row]: { ...grant, credential: { ...grant.credential, refresh_token: next } } }
        }),
      runExclusively: (work) => file.runExclusively(row.replace(/[^\w.-]/g, '_'), work),
    }),
  }
}

type Credentials = Readonly<Record<string, StoredCredential>>

function findRefreshToken(grant: StoredCredential | undefined): string | undefined {
  return grant?.kind === 'google' ? stringOrEmpty(grant.credential['refresh_token']) || undefined : undefined
}

function readCredentials(file: CredentialFile): Credentials {
  let json
  try {
    // The parser's message is not shown: it may quote the file.
    json = tryParseJson(file.read() ?? '{}')
  } catch {
    json = undefined
  }
  if (!isObject(json))
    throw file.createError(`the stored keys in ${file.path} cannot be read; remove the file and sign in again`)
  const grants = Object.entries(json).map(([row, one]) => [row, parseStoredCredential(one)] as const)
  return Object.fromEntries(grants.filter((pair): pair is [string, StoredCredential] => pair[1] !== undefined))
}
