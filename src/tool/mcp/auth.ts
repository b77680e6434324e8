import { randomBytes } from 'node:crypto'
import { isObject, type Json, type JsonObject, stringOf } from '../../model/json.ts'
import { type ServerAddress, whyNotOpened } from './address.ts'
import type { McpOAuthConfig } from './config.ts'
import { serverFetch } from './fetch.ts'
import type { FetchLike, OAuthClientProvider } from './sdk.ts'
import type { Shelf } from './shelf.ts'

/** The person must sign in to the server first. */
export class SignInNeeded extends Error {
  constructor() {
    super('it wants you to sign in')
  }
}

/** A server to sign in to. */
export interface Door {
  readonly name: string
  readonly url: URL
  readonly oauth?: McpOAuthConfig
  /** Where tokens are kept. */
  readonly tokens: Shelf
}

/** Where a server is, for those who judge what it names. */
export function addressOf({ url, oauth }: Pick<Door, 'url' | 'oauth'>): ServerAddress {
  return { url, ...(oauth?.hosts && { hosts: oauth.hosts }) }
}

/** What signs requests to a server, and what they are sent with. */
export interface KeptSignIn {
  readonly authProvider: OAuthClientProvider
  readonly fetch: FetchLike
}

/**
 * Signs requests with what is kept, and renews it; it never sends anybody to a browser. Many servers give out each
 * refresh token for one use. So over all processes of the person one renews at a time, the others take what it got, and
 * nobody removes tokens but those that were refused.
 */
export function keptSignIn(door: Door): KeptSignIn {
  const refused = new Set<string>()
  let usedClient: string | undefined
  let usedToken: string | undefined
  const basic = provider(door, {
    redirectUrl: 'http://127.0.0.1/oauth2callback',
    redirectToAuthorization(url) {
      // The next sign-in asks for what was asked for here.
      const scope = url.searchParams.get('scope')
      if (scope !== null) keep(door, (now) => ({ ...now, scope }))
      throw new SignInNeeded()
    },
  })
  const authProvider: OAuthClientProvider = {
    ...basic,
    async clientInformation(context) {
      const client = await basic.clientInformation(context)
      // Who never signed in is not registered behind the person's back.
      if (!client) throw new SignInNeeded()
      usedClient = client.client_id
      return client
    },
    tokens(context) {
      const { tokens } = signedIn(door)
      // Without a context it is wanted for a request to the server.
      if (context === undefined) usedToken = tokens?.access_token
      return tokens
    },
    // What was renewed is kept already; here it comes again, marked with who gave it out.
    saveTokens: (tokens) => keep(door, (now) => (isSameToken(now, tokens) ? withTokens(now, tokens) : now)),
    invalidateCredentials(what) {
      keep(door, (now) => {
        const { tokens, client, ...rest } = now
        const dropsTokens = what !== 'client' && isObject(tokens) && refused.has(stringOf(tokens['refresh_token']))
        const dropsClient = what !== 'tokens' && isObject(client) && client['client_id'] === usedClient
        return { ...rest, ...(tokens && !dropsTokens && { tokens }), ...(client && !dropsClient && { client }) }
      })
    },
  }
  return { authProvider, fetch: renewingFetch(door, refused, () => usedToken) }
}

/** Sends requests to a server; one that renews tokens is made by one process at a time. */
function renewingFetch(door: Door, refused: Set<string>, usedToken: () => string | undefined): FetchLike {
  const send = serverFetch(addressOf(door))
  return (url, init) => {
    const old = refreshTokenIn(init?.body)
    if (old === undefined) return send(url, init)
    return door.tokens.exclusively(keyOf(door), async () => {
      const before = renewedSince(door, old, usedToken())
      if (before) return Response.json(before)
      const response = await send(url, init)
      const text = await response.text()
      if (response.ok) {
        const tokens = tokensIn(text)
        if (tokens) keep(door, (now) => (isRefreshToken(now, old) ? withTokens(now, tokens) : now))
      } else {
        // Somebody may have renewed it all the same, on another machine with the same home folder.
        const after = renewedSince(door, old, undefined)
        if (after) return Response.json(after)
        refused.add(old)
      }
      const { status, headers } = response
      return new Response(text, { status, headers })
    })
  }
}

function refreshTokenIn(body: unknown): string | undefined {
  if (typeof body !== 'string' && !(body instanceof URLSearchParams)) return undefined
  const fields = new URLSearchParams(body)
  return fields.get('grant_type') === 'refresh_token' ? (fields.get('refresh_token') ?? undefined) : undefined
}

function tokensIn(text: string): JsonObject | undefined {
  try {
    const json: unknown = JSON.parse(text)
    return isObject(json) && typeof json['access_token'] === 'string' ? (json as JsonObject) : undefined
  } catch {
    return undefined
  }
}

/** The tokens that are kept, if they are newer than this refresh token, or than the token that a request was signed with. */
function renewedSince(door: Door, old: string, used: string | undefined): JsonObject | undefined {
  const { tokens } = entry(door)
  // Whoever has signed out meanwhile wants no new tokens.
  if (!isObject(tokens)) throw new SignInNeeded()
  const isSame = tokens['refresh_token'] === old && (used === undefined || tokens['access_token'] === used)
  return isSame ? undefined : tokens
}

function isRefreshToken({ tokens }: JsonObject, token: string): boolean {
  return isObject(tokens) && tokens['refresh_token'] === token
}

function isSameToken({ tokens }: JsonObject, given: Tokens): boolean {
  return isObject(tokens) && tokens['access_token'] === given.access_token
}

/** An answer without a refresh token means that the old one stays good. */
function withTokens(now: JsonObject, tokens: JsonObject | Tokens): JsonObject {
  const before = isObject(now['tokens']) ? now['tokens'] : {}
  return { ...now, tokens: { ...before, ...(tokens as JsonObject) } }
}

/** Signs in anew: shows the person an address, and waits until they have agreed there. What was kept stays until then. */
export async function signIn(door: Door, show: (url: string) => void): Promise<void> {
  const { auth, computeScopeUnion } = await import('./sdk.ts')
  const { awaitRedirect } = await import('../../provider/auth/redirect.ts')
  const address = addressOf(door)
  const send = serverFetch(address)
  const state = randomBytes(16).toString('hex')
  const redirect = await awaitRedirect(state)
  let verifier = ''
  // The address to come back to is another one each time, so a client that registered itself does so again.
  let client: Client | undefined
  let tokens: Tokens | undefined
  // What the person agreed to is not asked for again: another answer could lead the code elsewhere.
  let discovery: Discovery | undefined
  try {
    const basic = provider(door, {
      redirectUrl: redirect.url,
      async redirectToAuthorization(url) {
        const why = await whyNotOpened(url.href, address)
        if (why !== undefined)
          throw new Error(`it names an address that is not opened: ${url.href.slice(0, 200)}. ${why}`)
        show(url.href)
      },
    })
    const one: OAuthClientProvider = {
      ...basic,
      state: () => state,
      clientInformation: (context) =>
        client ?? (door.oauth?.clientId === undefined ? undefined : basic.clientInformation(context)),
      saveClientInformation: (made) => void (client = made),
      tokens: () => tokens,
      saveTokens: (given) => void (tokens = given),
      saveCodeVerifier: (text) => void (verifier = text),
      codeVerifier: () => verifier,
      saveDiscoveryState: (found) => void (discovery = found),
      discoveryState: () => discovery,
      invalidateCredentials: () => undefined,
    }
    const wanted = await challengeOf(door.url, send)
    const asked = stringOf(entry(door)['scope']) || undefined
    const scope = door.oauth?.scopes?.join(' ') ?? computeScopeUnion(asked, wanted.scope)
    const { resourceMetadataUrl } = wanted
    const options = {
      serverUrl: door.url,
      fetchFn: send,
      ...(scope !== undefined && { scope }),
      ...(resourceMetadataUrl && { resourceMetadataUrl }),
    }
    if ((await auth(one, options)) !== 'AUTHORIZED') {
      const { code, issuer } = await redirect.answer
      await auth(one, { ...options, authorizationCode: code, ...(issuer !== undefined && { iss: issuer }) })
    }
    const made = { ...(client && { client }), ...(tokens && { tokens }) } as unknown as JsonObject
    keep(door, ({ client: _client, tokens: _tokens, ...rest }) => ({ ...rest, ...made }))
  } finally {
    redirect.close()
  }
}

/** What the server says to somebody who has not signed in: where its rules are, and what it wants to be asked for. */
async function challengeOf(
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

/** Forgets a sign-in; was there one? */
export function signOut(door: Pick<Door, 'name' | 'url' | 'tokens'>): boolean {
  const had = entry(door)['tokens'] !== undefined
  door.tokens.set(keyOf(door), {})
  return had
}

type Steps = Pick<OAuthClientProvider, 'redirectToAuthorization'> & { readonly redirectUrl: string }

function provider(door: Door, { redirectUrl, redirectToAuthorization }: Steps): OAuthClientProvider {
  const { oauth } = door
  const fixed = oauth?.clientId === undefined ? undefined : { client_id: oauth.clientId }
  const secret = oauth?.clientSecret === undefined ? {} : { client_secret: oauth.clientSecret }
  return {
    redirectUrl,
    redirectToAuthorization,
    clientMetadata: {
      client_name: 'Dragoman',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: oauth?.clientSecret === undefined ? 'none' : 'client_secret_post',
      ...(oauth?.scopes && { scope: oauth.scopes.join(' ') }),
    },
    clientInformation: () => (fixed ? { ...fixed, ...secret } : signedIn(door).client),
    tokens: () => signedIn(door).tokens,
    saveTokens: () => undefined,
    saveCodeVerifier: () => undefined,
    codeVerifier: () => '',
  }
}

/** What is kept for this server at this address: a token never goes to another one of the same name. */
function entry({ name, url, tokens }: Pick<Door, 'name' | 'url' | 'tokens'>): JsonObject {
  return objectOf(tokens.get(keyOf({ name, url })))
}

/** The same in the words of the SDK, which finds out what is wrong with it. */
function signedIn(door: Door): { readonly client?: Client; readonly tokens?: Tokens } {
  return entry(door)
}

type Client = NonNullable<Awaited<ReturnType<OAuthClientProvider['clientInformation']>>>
type Discovery = Parameters<NonNullable<OAuthClientProvider['saveDiscoveryState']>>[0]
type Tokens = NonNullable<Awaited<ReturnType<OAuthClientProvider['tokens']>>>

function keep(door: Door, next: (now: JsonObject) => JsonObject): void {
  door.tokens.change(keyOf(door), (now) => next(objectOf(now)))
}

function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {}
}

function keyOf({ name, url }: Pick<Door, 'name' | 'url'>): string {
  return `${name} ${url.href}`
}
