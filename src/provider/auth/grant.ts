import { isObject, type JsonObject } from '../../model/json.ts'
import type { Row } from '../row.ts'
import type { Granted } from '../target.ts'
import { googleCredential, type Means, projectOf, type RefreshStore } from './google.ts'

/** What a person signed in with, as it is stored: a key, or a credential of Google's, with the project that pays. */
export type Grant =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'google'; readonly credential: JsonObject; readonly project?: string }

/** Where grants are stored, by row. */
export interface Keys {
  get(row: string): Grant | undefined
  set(row: string, grant: Grant): void
  /** Was there one to remove? */
  remove(row: string): boolean
  rows(): readonly string[]
  /** The refresh token of a row, for those who use it up. */
  refresh?(row: string): RefreshStore
}

/** What a stored grant is good for. */
export function grantedBy(grant: Grant, row: Row, means: Means): Granted | { readonly problem: string } {
  if (grant.kind === 'key') return { key: { style: row.auth, read: () => grant.key } }
  const key = googleCredential(grant.credential, means)
  if ('problem' in key) return key
  const project = grant.project ?? projectOf(grant.credential)
  return { key, ...(project !== undefined && { project }) }
}

/** Reads a grant that was stored; undefined where it is none. */
export function grantFrom(json: unknown): Grant | undefined {
  if (!isObject(json)) return undefined
  const { kind, key, credential, project } = json
  if (kind === 'key' && typeof key === 'string' && key !== '') return { kind, key }
  if (kind !== 'google' || !isObject(credential)) return undefined
  return { kind, credential: credential as JsonObject, ...(typeof project === 'string' && { project }) }
}

/** The secrets of a grant, to be kept out of everything. */
export function secretsOf(grant: Grant): string[] {
  if (grant.kind === 'key') return [grant.key]
  return ['client_secret', 'refresh_token', 'private_key'].flatMap((name) => {
    const value = grant.credential[name]
    return typeof value === 'string' ? [value] : []
  })
}
