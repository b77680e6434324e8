import { createSign } from 'node:crypto'
import { isObject, type JsonObject, stringOf } from '../../model/json.ts'
import { type Credential, isLoopback } from '../target.ts'
import type { Post } from '../transport.ts'
import { type Answered, fetchJson, form } from './fetch-json.ts'
import { keptToken, type Token, tokenIn } from './token.ts'

/** What fetching a token needs. */
export interface Means {
  readonly post: Post
  /** Milliseconds since 1970. */
  readonly now?: () => number
  /** Where the refresh token is kept, if it is ours to replace. */
  readonly refresh?: RefreshStore
}

/** Where a refresh token is kept. Some servers replace it each time it is used, so only one process at a time uses it. */
export interface RefreshStore {
  /** The token as it is kept now; another process may have replaced it. */
  read(): string | undefined
  replace(old: string, next: string): void
  exclusively<T>(work: () => Promise<T>): Promise<T>
}

/**
 * The credential of a file of Google's: of a person (`authorized_user`), of a service account, or of somebody who may
 * act as one (`impersonated_service_account`). Gives a sentence where it is of another kind.
 */
export function googleCredential(file: JsonObject, means: Means): Credential | { readonly problem: string } {
  const source = sourceOf(file, means)
  if ('problem' in source) return source
  const quota = stringOf(file['quota_project_id'])
  return {
    style: 'bearer',
    ...keptToken(source.fetch, means.now),
    ...(quota !== '' && file['type'] !== 'service_account' && { headers: { 'x-goog-user-project': quota } }),
  }
}

/** The project that a credential file names. */
export function projectOf(file: JsonObject): string | undefined {
  return stringOf(file['project_id']) || stringOf(file['quota_project_id']) || undefined
}

/** The credential of the machine itself, from the server that Google's machines have beside them. */
export function metadataCredential(host: string, { post, now = Date.now }: Means): Credential {
  const url = new URL(`http://${host}/computeMetadata/v1/instance/service-accounts/default/token`)
  const fetch = async (): Promise<Token> => {
    const letter = { url, method: 'GET', headers: { 'metadata-flavor': 'Google' }, body: [] } as const
    const answered = await fetchJson(post, letter)
    // Anybody may sit at this address; Google's server says who it is.
    if (answered.headers['metadata-flavor'] !== 'Google') throw new Error(`${host} is no metadata server of Google's.`)
    return tokenIn(answered, now())
  }
  return { style: 'bearer', ...keptToken(fetch, now) }
}

/** Where a person's or a service account's token comes from, if the file does not say. */
export const TOKEN_URL = 'https://oauth2.googleapis.com/token'

/** What we ask to be allowed. */
export const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'

interface Source {
  readonly fetch: () => Promise<Token>
}

type Reader = (file: JsonObject, means: Means) => Source | { readonly problem: string }

const READERS: Readonly<Record<string, Reader>> = {
  authorized_user: person,
  service_account: serviceAccount,
  impersonated_service_account: impersonated,
}

function sourceOf(file: JsonObject, means: Means): ReturnType<Reader> {
  const kind = stringOf(file['type'])
  const read = Object.hasOwn(READERS, kind) ? READERS[kind] : undefined
  if (read) return read(file, means)
  const what = kind === '' ? 'It says no type' : `Its type, ${kind}, is not spoken`
  return {
    problem: `${what}; set GOOGLE_CLOUD_ACCESS_TOKEN to what gcloud auth print-access-token prints, or use a service account.`,
  }
}

function person(file: JsonObject, { post, now = Date.now, refresh }: Means): ReturnType<Reader> {
  const fields = texts(file, ['client_id', 'client_secret', 'refresh_token'])
  if (typeof fields === 'string') return { problem: fields }
  const url = tokenUrl(file)
  if (url === undefined) return INSECURE
  const ask = async (token: string): Promise<Answered> => {
    const answered = await fetchJson(post, form(url, { ...fields, refresh_token: token, grant_type: 'refresh_token' }))
    const next = stringOf(answered.json['refresh_token'])
    if (answered.status === 200 && next !== '' && next !== token) refresh?.replace(token, next)
    return answered
  }
  const renew = async (): Promise<Token> => {
    const token = refresh?.read() ?? fields.refresh_token
    const answered = await ask(token)
    // A token that was refused may have been replaced by a process that knows nothing of our lock.
    const kept = answered.status === 200 ? token : (refresh?.read() ?? token)
    return tokenIn(kept === token ? answered : await ask(kept), now())
  }
  return { fetch: () => (refresh ? refresh.exclusively(renew) : renew()) }
}

function serviceAccount(file: JsonObject, { post, now = Date.now }: Means): ReturnType<Reader> {
  const fields = texts(file, ['client_email', 'private_key'])
  if (typeof fields === 'string') return { problem: fields }
  const url = tokenUrl(file)
  if (url === undefined) return INSECURE
  const fetch = async (): Promise<Token> => {
    const at = Math.floor(now() / 1000)
    const id = stringOf(file['private_key_id'])
    const head = { alg: 'RS256', typ: 'JWT', ...(id !== '' && { kid: id }) }
    const claims = { iss: fields.client_email, scope: SCOPE, aud: url, exp: at + 3600, iat: at }
    const assertion = jwt(head, claims, fields.private_key)
    const grant = { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }
    return tokenIn(await fetchJson(post, form(url, grant)), now())
  }
  return { fetch }
}

/** Somebody's credential is changed into one of a service account. */
function impersonated(file: JsonObject, means: Means): ReturnType<Reader> {
  const { post, now = Date.now } = means
  const address = stringOf(file['service_account_impersonation_url'])
  if (!isSafe(address)) return INSECURE
  const inner = isObject(file['source_credentials']) ? file['source_credentials'] : {}
  // One step; a chain that goes round would never end.
  const source = inner['type'] === 'impersonated_service_account' ? undefined : sourceOf(inner, means)
  if (!source) return { problem: 'Its source_credentials are impersonated themselves, which is not spoken.' }
  if ('problem' in source) return source
  const fetch = async (): Promise<Token> => {
    const { value } = await source.fetch()
    const body = { delegates: file['delegates'] ?? [], scope: [SCOPE], lifetime: '3600s' }
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${value}` }
    const answered = await fetchJson(post, { url: new URL(address), headers, body: [JSON.stringify(body)] })
    const token = stringOf(answered.json['accessToken'])
    if (token === '') throw new Error(`the service account cannot be impersonated: Google answered ${answered.status}.`)
    const expires = Date.parse(stringOf(answered.json['expireTime']))
    return { value: token, expires: Number.isNaN(expires) ? now() + 3_600_000 : expires }
  }
  return { fetch }
}

function jwt(head: object, claims: object, privateKey: string): string {
  const text = [head, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  try {
    return `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey, 'base64url')}`
  } catch {
    // What OpenSSL says about it may quote the key.
    throw new Error('its private_key cannot be read; make a new key file.')
  }
}

function texts<K extends string>(file: JsonObject, names: readonly K[]): Record<K, string> | string {
  const missing = names.find((name) => stringOf(file[name]) === '')
  if (missing !== undefined) return `It has no ${missing}.`
  return Object.fromEntries(names.map((name) => [name, stringOf(file[name])])) as Record<K, string>
}

function tokenUrl(file: JsonObject): string | undefined {
  const url = stringOf(file['token_uri']) || TOKEN_URL
  return isSafe(url) ? url : undefined
}

/** A secret goes only where nobody can listen. */
export function isSafe(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

const INSECURE = { problem: 'The address in it is no https URL.' }
