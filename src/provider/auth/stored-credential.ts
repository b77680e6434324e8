import { isObject, type JsonObject } from '../../model/json.ts'
import type { ProviderDefinition } from '../provider-definition.ts'
import type { GrantedCredential } from '../endpoint.ts'
import type { AccessTokenDependencies, RefreshTokenStore } from './google-credentials.ts'
import { createGoogleCredential, getProjectId } from './google-credentials.ts'
import { defined } from '../../model/defined.ts'

/** A credential as it is stored, with the cloud project that is billed. */
export type StoredCredential =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'google'; readonly credential: JsonObject; readonly project?: string }

/** Stored credentials, by provider. */
export interface CredentialStore {
  get(provider: string): StoredCredential | undefined
  set(provider: string, stored: StoredCredential): void
  /** Returns whether there was one. */
  remove(provider: string): boolean
  listProviders(): readonly string[]
  getRefreshTokenStore?(provider: string): RefreshTokenStore
}

export function toGrantedCredential(
  stored: StoredCredential,
  provider: ProviderDefinition,
  dependencies: AccessTokenDependencies,
): GrantedCredential | { readonly problem: string } {
  if (stored.kind === 'key') return { key: { style: provider.auth, read: () => stored.key } }
  const key = createGoogleCredential(stored.credential, dependencies)
  if ('problem' in key) return key
  const project = stored.project ?? getProjectId(stored.credential)
  return { key, ...defined({ project }) }
}

/** Undefined if it is not a stored credential. */
export function parseStoredCredential(json: unknown): StoredCredential | undefined {
  if (!isObject(json)) return undefined
  const { kind, key, credential, project } = json
  if (kind === 'key' && typeof key === 'string' && key !== '') return { kind, key }
  if (kind !== 'google' || !isObject(credential)) return undefined
  return { kind, credential: credential as JsonObject, ...(typeof project === 'string' && { project }) }
}

/** The secrets to redact. */
export function listCredentialSecrets(stored: StoredCredential): string[] {
  if (stored.kind === 'key') return [stored.key]
  return ['client_secret', 'refresh_token', 'private_key'].flatMap((name) => {
    const value = stored.credential[name]
    return typeof value === 'string' ? [value] : []
  })
}
