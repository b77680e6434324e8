import { createSign } from 'node:crypto'
import { isObject, type JsonObject, stringOrEmpty } from '../../model/json.ts'
import { type Credential, isLoopback } from '../endpoint.ts'
import type { HttpClient } from '../http/http-client.ts'
import { type JsonResponse, fetchJson, createFormRequest } from '../http/fetch-json.ts'
import { createAccessTokenCache, type AccessToken, parseAccessToken } from './access-token.ts'

export interface AccessTokenDependencies {
  readonly httpClient: HttpClient
  /** Milliseconds since 1970. */
  readonly now?: () => number
  /** Absent if the refresh token is not ours to replace. */
  readonly refreshTokenStore?: RefreshTokenStore
}

/** Where a refresh token is stored. Some servers replace it at each use, so only one process at a time may use it. */
export interface RefreshTokenStore {
  /** The token as it is stored now; another process may have replaced it. */
  read(): string | undefined
  replace(old: string, next: string): void
  runExclusively<T>(work: () => Promise<T>): Promise<T>
}

/** Accepts the files of a user (`authorized_user`), a service account, or an impersonated service account. */
export function createGoogleCredential(
  file: JsonObject,
  dependencies: AccessTokenDependencies,
): Credential | { readonly problem: string } {
  const source = createTokenSource(file, dependencies)
  if ('problem' in source) return source
  const quota = stringOrEmpty(file['quota_project_id'])
  return {
    style: 'bearer',
    ...createAccessTokenCache(source.fetchToken, dependencies.now),
    ...(quota !== '' && file['type'] !== 'service_account' && { headers: { 'x-goog-user-project': quota } }),
  }
}

export function getProjectId(file: JsonObject): string | undefined {
  return stringOrEmpty(file['project_id']) || stringOrEmpty(file['quota_project_id']) || undefined
}

/** The credential of a machine on Google Cloud, from its metadata server. */
export function createMetadataCredential(
  host: string,
  { httpClient, now = Date.now }: AccessTokenDependencies,
): Credential {
  const url = new URL(`http://${host}/computeMetadata/v1/instance/service-accounts/default/token`)
  const fetch = async (): Promise<AccessToken> => {
    const request = { url, method: 'GET', headers: { 'metadata-flavor': 'Google' }, body: [] } as const
    const answer = await fetchJson(httpClient, request)
    // Anything may listen at this address; Google's server identifies itself.
    if (answer.headers['metadata-flavor'] !== 'Google') throw new Error(`${host} is not a metadata server of Google.`)
    return parseAccessToken(answer, now())
  }
  return { style: 'bearer', ...createAccessTokenCache(fetch, now) }
}

export const GOOGLE_TOKEN_URL = 'https://oauth2.googleapis.com/token'

export const CLOUD_PLATFORM_SCOPE = 'https://www.googleapis.com/auth/cloud-platform'

interface TokenSource {
  readonly fetchToken: () => Promise<AccessToken>
}

type CredentialReader = (
  file: JsonObject,
  dependencies: AccessTokenDependencies,
) => TokenSource | { readonly problem: string }

const CREDENTIAL_READERS: Readonly<Record<string, CredentialReader>> = {
  authorized_user: createUserSource,
  service_account: createServiceAccountSource,
  impersonated_service_account: createImpersonatedSource,
}

function createTokenSource(file: JsonObject, dependencies: AccessTokenDependencies): ReturnType<CredentialReader> {
  const kind = stringOrEmpty(file['type'])
  const read = Object.hasOwn(CREDENTIAL_READERS, kind) ? CREDENTIAL_READERS[kind] : undefined
  if (read) return read(file, dependencies)
  const what = kind === '' ? 'It has no type' : `Its type, ${kind}, is not supported`
  return {
    problem: `${what}; set GOOGLE_CLOUD_ACCESS_TOKEN to what gcloud auth print-access-token prints, or use a service account.`,
  }
}

function createUserSource(
  file: JsonObject,
  { httpClient, now = Date.now, refreshTokenStore }: AccessTokenDependencies,
): ReturnType<CredentialReader> {
  const fields = readStrings(file, ['client_id', 'client_secret', 'refresh_token'])
  if (typeof fields === 'string') return { problem: fields }
  const url = getTokenUrl(file)
  if (url === undefined) return INSECURE_URL_PROBLEM
  const refreshWith = async (token: string): Promise<JsonResponse> => {
    const answer = await fetchJson(
      httpClient,
      createFormRequest(url, { ...fields, refresh_token: token, grant_type: 'refresh_token' }),
    )
    const next = stringOrEmpty(answer.json['refresh_token'])
    if (answer.status === 200 && next !== '' && next !== token) refreshTokenStore?.replace(token, next)
    return answer
  }
  const renew = async (): Promise<AccessToken> => {
    const token = refreshTokenStore?.read() ?? fields.refresh_token
    const answer = await refreshWith(token)
    // The rejected token may have been replaced by a process that does not use our lock.
    const stored = answer.status === 200 ? token : (refreshTokenStore?.read() ?? token)
    return parseAccessToken(stored === token ? answer : await refreshWith(stored), now())
  }
  return { fetchToken: () => (refreshTokenStore ? refreshTokenStore.runExclusively(renew) : renew()) }
}

function createServiceAccountSource(
  file: JsonObject,
  { httpClient, now = Date.now }: AccessTokenDependencies,
): ReturnType<CredentialReader> {
  const fields = readStrings(file, ['client_email', 'private_key'])
  if (typeof fields === 'string') return { problem: fields }
  const url = getTokenUrl(file)
  if (url === undefined) return INSECURE_URL_PROBLEM
  const fetch = async (): Promise<AccessToken> => {
    const at = Math.floor(now() / 1000)
    const id = stringOrEmpty(file['private_key_id'])
    const head = { alg: 'RS256', typ: 'JWT', ...(id !== '' && { kid: id }) }
    const claims = { iss: fields.client_email, scope: CLOUD_PLATFORM_SCOPE, aud: url, exp: at + 3600, iat: at }
    const assertion = createJwt(head, claims, fields.private_key)
    const grant = { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }
    return parseAccessToken(await fetchJson(httpClient, createFormRequest(url, grant)), now())
  }
  return { fetchToken: fetch }
}

/** Exchanges another credential for one of a service account. */
function createImpersonatedSource(
  file: JsonObject,
  dependencies: AccessTokenDependencies,
): ReturnType<CredentialReader> {
  const { httpClient, now = Date.now } = dependencies
  const address = stringOrEmpty(file['service_account_impersonation_url'])
  if (!isSecureUrl(address)) return INSECURE_URL_PROBLEM
  const inner = isObject(file['source_credentials']) ? file['source_credentials'] : {}
  // Only one step: a cyclic chain would never end.
  const source = inner['type'] === 'impersonated_service_account' ? undefined : createTokenSource(inner, dependencies)
  if (!source) return { problem: 'Its source_credentials are impersonated themselves, which is not supported.' }
  if ('problem' in source) return source
  const fetch = async (): Promise<AccessToken> => {
    const { value } = await source.fetchToken()
    const body = { delegates: file['delegates'] ?? [], scope: [CLOUD_PLATFORM_SCOPE], lifetime: '3600s' }
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${value}` }
    const answer = await fetchJson(httpClient, { url: new URL(address), headers, body: [JSON.stringify(body)] })
    const token = stringOrEmpty(answer.json['accessToken'])
    if (token === '') throw new Error(`impersonating the service account failed: Google answered ${answer.status}.`)
    const expires = Date.parse(stringOrEmpty(answer.json['expireTime']))
    return { value: token, expiresAt: Number.isNaN(expires) ? now() + 3_600_000 : expires }
  }
  return { fetchToken: fetch }
}

function createJwt(head: object, claims: object, privateKey: string): string {
  const text = [head, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  try {
    return `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey, 'base64url')}`
  } catch {
    // OpenSSL's message may quote the key.
    throw new Error('its private_key is invalid; create a new key file.')
  }
}

function readStrings<K extends string>(file: JsonObject, names: readonly K[]): Record<K, string> | string {
  const missing = names.find((name) => stringOrEmpty(file[name]) === '')
  if (missing !== undefined) return `It has no ${missing}.`
  return Object.fromEntries(names.map((name) => [name, stringOrEmpty(file[name])])) as Record<K, string>
}

function getTokenUrl(file: JsonObject): string | undefined {
  const url = stringOrEmpty(file['token_uri']) || GOOGLE_TOKEN_URL
  return isSecureUrl(url) ? url : undefined
}

/** Secrets are only sent over https, or to this machine. */
export function isSecureUrl(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

const INSECURE_URL_PROBLEM = { problem: 'It contains a URL that is not https.' }
