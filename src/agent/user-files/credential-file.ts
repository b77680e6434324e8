import { join } from 'node:path'
import { readTextIfPresent } from '../../host/files/read-text.ts'
import { getDataFolder, getHomeFolder } from '../../host/files/user-folders.ts'
import { createCredentialSources, createCredentialStore } from '../../provider/index.ts'
import type { CredentialSources, CredentialStore, Environment } from '../../provider/index.ts'
import { type CreateError, updatePrivateFile, withFileLock } from './private-file.ts'

/** What `dragoman login` stored. */
export function openCredentialFile(
  path: string = join(getDataFolder(), 'keys.json'),
  createError: CreateError = (message) => new Error(message),
): CredentialStore {
  return createCredentialStore({
    path,
    read: () => readTextIfPresent(path),
    update: (text) => updatePrivateFile(path, text, createError),
    runExclusively: (name, work) => withFileLock(`${path}.${name}`, work),
    createError,
  })
}

/** The sign-ins of this machine: stored keys, and Google's application default credentials. */
export function findUserCredentials(
  env: Environment = process.env,
  keys: CredentialStore = openCredentialFile(),
): CredentialSources {
  return createCredentialSources({ env, keys, home: getHomeFolder(), readText: readTextIfPresent })
}
