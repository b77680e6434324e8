import { randomBytes } from 'node:crypto'
import { isObject, type JsonObject, objectOrEmpty, tryParseJson, stringOrEmpty } from '../../../model/json.ts'
import { type McpServerAddress, explainBlockedUrl } from './server-address.ts'
import type { McpOAuthConfig } from '../client/server-config.ts'
import { createServerFetch } from './server-fetch.ts'
import type { FetchLike, OAuthClientProvider } from './sdk.ts'
import type { KeyValueStore } from '../client/key-value-store.ts'
import { defined } from '../../../model/defined.ts'

export class SignInRequiredError extends Error {
  constructor() {
    super('sign-in is required')
  }
}

export interface McpSignInTarget {
  readonly name: string
  readonly url: URL
  readonly oauth?: McpOAuthConfig
  readonly tokens: KeyValueStore
}

export function toServerAddress({ url, oauth }: Pick<McpSignInTarget, 'url' | 'oauth'>): McpServerAddress {
  return { url, ...(oauth?.hosts && { hosts: oauth.hosts }) }
}

/** Renews stored tokens, without a browser: one process at a time, as many refresh tokens can be used only once. */
export function createStoredSignIn(target: McpSignInTarget): {
  readonly authProvider: OAuthClientProvider
  readonly fetch: FetchLike
} {
  const refused = new Set<string>()
  let usedClient: string | undefined
  let usedToken: string | undefined
  const baseProvider = createAuthProvider(target, {
    redirectUrl: 'http://127.0.0.1/oauth2callback',
    redirectToAuthorization(url) {
      // The next sign-in asks for this scope.
      const scope = url.searchParams.get('scope')
      if (scope !== null) updateStoredAuth(target, (now) => ({ ...now, scope }))
      throw new SignInRequiredError()
    },
  })
  const authProvider: OAuthClientProvider = {
    ...baseProvider,
    async clientInformation(context) {
      const client = await baseProvider.clientInformation(context)
      // Without a sign-in no client is registered.
      if (!client) throw new SignInRequiredError()
      usedClient = client.client_id
      return client
    },
    tokens(context) {
      const { tokens } = readCredentials(target)
      // Without a context it is for a request to the server.
      if (context === undefined) usedToken = tokens?.access_token
      return tokens
    },
    // Renewed tokens are stored already; here they come again with their issuer.
    saveTokens: (tokens) =>
      updateStoredAuth(target, (now) =>
        hasToken(now, 'access_token', tokens.access_token) ? mergeTokens(now, tokens) : now,
      ),
    invalidateCredentials(what) {
      updateStoredAuth(target, (now) => {
        const { tokens, client, ...rest } = now
        const dropsTokens = what !== 'client' && isObject(tokens) && refused.has(stringOrEmpty(tokens['refresh_token']))
        const dropsClient = what !== 'tokens' && isObject(client) && client['client_id'] === usedClient
        return { ...rest, ...(tokens && !dropsTokens && { tokens }), ...(client && !dropsClient && { client }) }
      })
    },
  }
  return { authProvider, fetch: createRenewingFetch(target, refused, () => usedToken) }
}

/** One process at a time sends a request that renews tokens. */
function createRenewingFetch(
  target: McpSignInTarget,
  refused: Set<string>,
  usedToken: () => string | undefined,
): FetchLike {
  const send = createServerFetch(toServerAddress(target))
  return (url, init) => {
    const old = parseRefreshToken(init?.body)
    if (old === undefined) return send(url, init)
    return target.tokens.withLock(getStoreKey(target), async () => {
      const before = findRenewedTokens(target, old, usedToken())
      if (before) return Response.json(before)
      const response = await send(url, init)
      const text = await response.text()
      if (response.ok) {
        const tokens = parseTokens(text)
        if (tokens)
          updateStoredAuth(target, (now) => (hasToken(now, 'refresh_token', old) ? mergeTokens(now, tokens) : now))
      } else {
        // Somebody may have renewed it on another machine with the same home folder.
        const after = findRenewedTokens(target, old, undefined)
        if (after) return Response.json(after)
        refused.add(old)
      }
      const { status, headers } = response
      return new Response(text, { status, headers })
    })
  }
}

function parseRefreshToken(body: unknown): string | undefined {
  if (typeof body !== 'string' && !(body instanceof URLSearchParams)) return undefined
  const fields = new URLSearchParams(body)
  return fields.get('grant_type') === 'refresh_token' ? (fields.get('refresh_token') ?? undefined) : undefined
}

function parseTokens(text: string): JsonObject | undefined {
  const json = tryParseJson(text)
  return isObject(json) && typeof json['access_token'] === 'string' ? (json as JsonObject) : undefined
}

/** The stored tokens, if they are newer than this refresh token, or than the token of the failed request. */
function findRenewedTokens(target: McpSignInTarget, old: string, used: string | undefined): JsonObject | undefined {
  const { tokens } = readStoredAuth(target)
  // The user has signed out meanwhile.
  if (!isObject(tokens)) throw new SignInRequiredError()
  const isSame = tokens['refresh_token'] === old && (used === undefined || tokens['access_token'] === used)
  return isSame ? undefined : tokens
}

function hasToken({ tokens }: JsonObject, kind: 'access_token' | 'refresh_token', token: string): boolean {
  return isObject(tokens) && tokens[kind] === token
}

/** A response without a refresh token means that the old one stays valid. */
function mergeTokens(now: JsonObject, tokens: JsonObject | OAuthTokens): JsonObject {
  const before = isObject(now['tokens']) ? now['tokens'] : {}
  return { ...now, tokens: { ...before, ...(tokens as JsonObject) } }
}

/** Shows the user a URL and waits for their consent. The old sign-in is kept until then. */
export async function signInToMcpServer(target: McpSignInTarget, showUrl: (url: string) => void): Promise<void> {
  const { auth, computeScopeUnion } = await import('./sdk.ts')
  const { startRedirectServer } = await import('../../../provider/sign-in.ts')
  const address = toServerAddress(target)
  const send = createServerFetch(address)
  const state = randomBytes(16).toString('hex')
  const redirect = await startRedirectServer(state)
  let verifier = ''
  // The redirect URL differs each time, so a client that registered itself registers again.
  let client: OAuthClientInformation | undefined
  let tokens: OAuthTokens | undefined
  // The discovery that the user agreed to is not repeated: another result could send the code elsewhere.
  let discovery: OAuthDiscovery | undefined
  try {
    const baseProvider = createAuthProvider(target, {
      redirectUrl: redirect.url,
      async redirectToAuthorization(url) {
        const why = await explainBlockedUrl(url.href, address)
        if (why !== undefined)
          throw new Error(`the server named a URL that is not opened: ${url.href.slice(0, 200)}. ${why}`)
        showUrl(url.href)
      },
    })
    const one: OAuthClientProvider = {
      ...baseProvider,
      state: () => state,
      clientInformation: (context) =>
        client ?? (target.oauth?.clientId === undefined ? undefined : baseProvider.clientInformation(context)),
      saveClientInformation: (made) => void (client = made),
      tokens: () => tokens,
      saveTokens: (given) => void (tokens = given),
      saveCodeVerifier: (text) => void (verifier = text),
      codeVerifier: () => verifier,
      saveDiscoveryState: (found) => void (discovery = found),
      discoveryState: () => discovery,
      invalidateCredentials: () => undefined,
    }
    const challenge = await fetchAuthChallenge(target.url, send)
    const storedScope = stringOrEmpty(readStoredAuth(target)['scope']) || undefined
    const scope = target.oauth?.scopes?.join(' ') ?? computeScopeUnion(storedScope, challenge.scope)
    const { resourceMetadataUrl } = challenge
    const options = { serverUrl: target.url, fetchFn: send, ...defined({ scope, resourceMetadataUrl }) }
    if ((await auth(one, options)) !== 'AUTHORIZED') {
      const { code, issuer } = await redirect.result
      await auth(one, { ...options, authorizationCode: code, ...defined({ iss: issuer }) })
    }
    const made = { ...(client && { client }), ...(tokens && { tokens }) } as unknown as JsonObject
    updateStoredAuth(target, ({ client: _client, tokens: _tokens, ...rest }) => ({ ...rest, ...made }))
  } finally {
    redirect.close()
  }
}

/** The challenge of the server: where its metadata is, and which scope it wants. */
async function fetchAuthChallenge(
  url: URL,
  send: FetchLike,
): Promise<{ readonly resourceMetadataUrl?: URL; readonly scope?: string }> {
  const { extractWWWAuthenticateParams } = await import('./sdk.ts')
  try {
    const response = await send(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'ping' }),
      signal: AbortSignal.timeout(10_000),
    })
    await response.body?.cancel()
    return response.status === 401 ? extractWWWAuthenticateParams(response) : {}
  } catch {
    return {}
  }
}

/** Returns whether there was a sign-in. */
export function signOutOfMcpServer(target: Pick<McpSignInTarget, 'name' | 'url' | 'tokens'>): boolean {
  const wasSignedIn = readStoredAuth(target)['tokens'] !== undefined
  target.tokens.set(getStoreKey(target), {})
  return wasSignedIn
}

function createAuthProvider(
  target: McpSignInTarget,
  redirect: Pick<OAuthClientProvider, 'redirectToAuthorization'> & { readonly redirectUrl: string },
): OAuthClientProvider {
  const { oauth } = target
  const fixed = oauth?.clientId === undefined ? undefined : { client_id: oauth.clientId }
  const secret = oauth?.clientSecret === undefined ? {} : { client_secret: oauth.clientSecret }
  return {
    ...redirect,
    clientMetadata: {
      client_name: 'Dragoman',
      redirect_uris: [redirect.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: oauth?.clientSecret === undefined ? 'none' : 'client_secret_post',
      ...(oauth?.scopes && { scope: oauth.scopes.join(' ') }),
    },
    clientInformation: () => (fixed ? { ...fixed, ...secret } : readCredentials(target).client),
    tokens: () => readCredentials(target).tokens,
    saveTokens: () => undefined,
    saveCodeVerifier: () => undefined,
    codeVerifier: () => '',
  }
}

/** The key contains the URL: a token is never sent to another server of the same name. */
function readStoredAuth({ name, url, tokens }: Pick<McpSignInTarget, 'name' | 'url' | 'tokens'>): JsonObject {
  return objectOrEmpty(tokens.get(getStoreKey({ name, url }))) as JsonObject
}

/** The same as the types of the SDK, which validates them. */
function readCredentials(target: McpSignInTarget): {
  readonly client?: OAuthClientInformation
  readonly tokens?: OAuthTokens
} {
  return readStoredAuth(target)
}

type OAuthClientInformation = NonNullable<Awaited<ReturnType<OAuthClientProvider['clientInformation']>>>
type OAuthDiscovery = Parameters<NonNullable<OAuthClientProvider['saveDiscoveryState']>>[0]
type OAuthTokens = NonNullable<Awaited<ReturnType<OAuthClientProvider['tokens']>>>

function updateStoredAuth(target: McpSignInTarget, next: (now: JsonObject) => JsonObject): void {
  target.tokens.update(getStoreKey(target), (now) => next(objectOrEmpty(now) as JsonObject))
}

function getStoreKey({ name, url }: Pick<McpSignInTarget, 'name' | 'url'>): string {
  return `${name} ${url.href}`
}
