import { randomBytes } from 'node:crypto'
import { isObject, type Json, type JsonObject, stringOf } from '../../model/json.ts'
import type { McpOAuthConfig } from './config.ts'
import { webFetch } from './fetch.ts'
import type { OAuthClientProvider } from './sdk.ts'
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

/** Signs requests with what is kept, and renews it; it never sends anybody to a browser. */
export function keptSignIn(door: Door): OAuthClientProvider {
  const kept = provider(door, {
    redirectUrl: 'http://127.0.0.1/oauth2callback',
    redirectToAuthorization(url) {
      // The next sign-in asks for what was asked for here.
      const scope = url.searchParams.get('scope')
      if (scope !== null) keep(door, { scope })
      throw new SignInNeeded()
    },
  })
  return {
    ...kept,
    clientInformation(context) {
      const client = kept.clientInformation(context)
      // Who never signed in is not registered behind the person's back.
      if (!client) throw new SignInNeeded()
      return client
    },
  }
}

/** Signs in anew: shows the person an address, and waits until they have agreed there. */
export async function signIn(door: Door, show: (url: string) => void): Promise<void> {
  const { auth, computeScopeUnion } = await import('./sdk.ts')
  const { awaitRedirect } = await import('../../provider/auth/redirect.ts')
  const state = randomBytes(16).toString('hex')
  const redirect = await awaitRedirect(state)
  let verifier = ''
  try {
    const kept = entry(door)
    // The address to come back to is another one each time, so a client that registered itself does so again.
    keep(door, { tokens: null, ...(door.oauth?.clientId === undefined && { client: null }) })
    const one: OAuthClientProvider = {
      ...provider(door, { redirectUrl: redirect.url, redirectToAuthorization: (url) => show(url.href) }),
      state: () => state,
      saveClientInformation: (client) => keep(door, { client: client as unknown as Json }),
      saveCodeVerifier: (text) => void (verifier = text),
      codeVerifier: () => verifier,
    }
    const wanted = await challengeOf(door.url)
    const scope = door.oauth?.scopes?.join(' ') ?? computeScopeUnion(stringOf(kept['scope']) || undefined, wanted.scope)
    const { resourceMetadataUrl } = wanted
    const options = {
      serverUrl: door.url,
      fetchFn: webFetch,
      ...(scope !== undefined && { scope }),
      ...(resourceMetadataUrl && { resourceMetadataUrl }),
    }
    if ((await auth(one, options)) === 'AUTHORIZED') return
    const { code, issuer } = await redirect.answer
    await auth(one, { ...options, authorizationCode: code, ...(issuer !== undefined && { iss: issuer }) })
  } finally {
    redirect.close()
  }
}

/** What the server says to somebody who has not signed in: where its rules are, and what it wants to be asked for. */
async function challengeOf(url: URL): Promise<{ readonly resourceMetadataUrl?: URL; readonly scope?: string }> {
  const { extractWWWAuthenticateParams } = await import('./sdk.ts')
  try {
    const response = await webFetch(url, {
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
export function signOut({ name, url, tokens }: Omit<Door, 'oauth'>): boolean {
  const had = entry({ name, url, tokens })['tokens'] !== undefined
  tokens.set(keyOf({ name, url }), {})
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
    saveTokens: (tokens) => keep(door, { tokens: tokens as unknown as Json }),
    saveCodeVerifier: () => undefined,
    codeVerifier: () => '',
    invalidateCredentials(what) {
      if (what === 'all' || what === 'tokens') keep(door, { tokens: null })
      if (what === 'all' || what === 'client') keep(door, { client: null })
    },
  }
}

/** What is kept for this server at this address: a token never goes to another one of the same name. */
function entry({ name, url, tokens }: Pick<Door, 'name' | 'url' | 'tokens'>): JsonObject {
  const kept = tokens.get(keyOf({ name, url }))
  return isObject(kept) ? kept : {}
}

/** The same in the words of the SDK, which finds out what is wrong with it. */
function signedIn(door: Door): { readonly client?: Client; readonly tokens?: Tokens } {
  return entry(door)
}

type Client = NonNullable<Awaited<ReturnType<OAuthClientProvider['clientInformation']>>>
type Tokens = NonNullable<Awaited<ReturnType<OAuthClientProvider['tokens']>>>

function keep(door: Door, change: JsonObject): void {
  const next = Object.entries({ ...entry(door), ...change }).filter(([, value]) => value !== null)
  door.tokens.set(keyOf(door), Object.fromEntries(next))
}

function keyOf({ name, url }: Pick<Door, 'name' | 'url'>): string {
  return `${name} ${url.href}`
}
