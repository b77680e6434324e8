import { findUserCredentials, openCredentialFile } from '../../agent/user-files/credential-file.ts'
import type { CredentialSources, CredentialStore, Environment } from '../../provider/index.ts'
import { createConfigError } from '../paths/private-file.ts'

/** The stored keys; a file that cannot be used is an error of the settings. */
export function openStoredKeys(): CredentialStore {
  return openCredentialFile(undefined, createConfigError)
}

export function createCredentialSources(
  env: Environment = process.env,
  keys: CredentialStore = openStoredKeys(),
): CredentialSources {
  return findUserCredentials(env, keys)
}
