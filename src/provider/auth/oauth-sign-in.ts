import { createHash, randomBytes } from 'node:crypto'
import { isObject, type JsonObject, stringOrEmpty } from '../../model/json.ts'
import type { HttpClient } from '../http/http-client.ts'
import { fetchJson, createFormRequest } from '../http/fetch-json.ts'
import { isSecureUrl, CLOUD_PLATFORM_SCOPE, GOOGLE_TOKEN_URL } from './google-credentials.ts'
import { startRedirectServer, type OAuthRedirect } from './redirect-server.ts'
import { parseAccessToken } from './access-token.ts'

/** The user's own OAuth client, from Google's console. */
export interface OAuthClient {
  readonly id: string
  readonly secret: string
  readonly authUrl: string
  readonly tokenUrl: string
}

export function parseOAuthClient(json: JsonObject): OAuthClient | { readonly problem: string } {
  const inner = json['installed'] ?? json['web']
  if (!isObject(inner)) return { problem: 'it is not an OAuth client file: it has no "installed"' }
  const id = stringOrEmpty(inner['client_id'])
  const secret = stringOrEmpty(inner['client_secret'])
  if (id === '' || secret === '') return { problem: 'it has no client_id or no client_secret' }
  const authUrl = stringOrEmpty(inner['auth_uri']) || 'https://accounts.google.com/o/oauth2/v2/auth'
  const tokenUrl = stringOrEmpty(inner['token_uri']) || GOOGLE_TOKEN_URL
  if (!isSecureUrl(authUrl) || !isSecureUrl(tokenUrl)) return { problem: 'it contains a URL that is not https' }
  return { id, secret, authUrl, tokenUrl }
}

/** The code is bound to this process by `state` and PKCE. Returns a credential as gcloud stores it, or throws. */
export async function signInWithBrowser(
  client: OAuthClient,
  httpClient: HttpClient,
  show: (url: string) => void,
): Promise<JsonObject> {
  const verifier = randomBytes(32).toString('base64url')
  const state = randomBytes(32).toString('hex')
  const redirect = await startRedirectServer(state)
  try {
    show(buildConsentUrl(client, redirect, state, verifier))
    const code = await redirect.code
    const fields = {
      grant_type: 'authorization_code',
      code,
      client_id: client.id,
      client_secret: client.secret,
      redirect_uri: redirect.url,
      code_verifier: verifier,
    }
    const answer = await fetchJson(httpClient, createFormRequest(client.tokenUrl, fields))
    parseAccessToken(answer, 0)
    const refresh = stringOrEmpty(answer.json['refresh_token'])
    if (refresh === '')
      throw new Error('Google sent no refresh token; revoke the access of this client and sign in again.')
    return {
      type: 'authorized_user',
      client_id: client.id,
      client_secret: client.secret,
      refresh_token: refresh,
      token_uri: client.tokenUrl,
    }
  } finally {
    redirect.close()
  }
}

function buildConsentUrl(client: OAuthClient, redirect: OAuthRedirect, state: string, verifier: string): string {
  const url = new URL(client.authUrl)
  const fields = {
    response_type: 'code',
    client_id: client.id,
    redirect_uri: redirect.url,
    scope: CLOUD_PLATFORM_SCOPE,
    access_type: 'offline',
    prompt: 'consent',
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, value)
  return url.href
}
