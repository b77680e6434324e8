import { type JsonResponse } from '../http/fetch-json.ts'
import { createRedactor } from '../../model/security/redactor.ts'
import { stringOrEmpty } from '../../model/json.ts'

export interface AccessToken {
  readonly value: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

/** Caches a token until shortly before it expires. Concurrent callers share one fetch. */
export function createAccessTokenCache(obtain: () => Promise<AccessToken>, now: () => number = Date.now) {
  let pendingFetch: Promise<AccessToken> | undefined
  let cachedToken: AccessToken | undefined
  return {
    async read(): Promise<string> {
      if (cachedToken && now() < cachedToken.expiresAt - RENEWAL_MARGIN_MS) return cachedToken.value
      cachedToken = undefined
      const pending = (pendingFetch ??= obtain())
      try {
        const fresh = await pending
        if (pendingFetch === pending) cachedToken = fresh
        return fresh.value
      } finally {
        if (pendingFetch === pending) pendingFetch = undefined
      }
    },
    renew(): void {
      cachedToken = undefined
      pendingFetch = undefined
    },
  }
}

/** The token in the response of a token endpoint; throws a message if there is none. */
export function parseAccessToken({ status, json }: JsonResponse, now: number): AccessToken {
  const value = stringOrEmpty(json['access_token'])
  if (status === 200 && value !== '') {
    const seconds = Number(json['expires_in'])
    return { value, expiresAt: now + (seconds > 0 ? seconds : 3600) * 1000 }
  }
  throw new Error(formatTokenError(status, json))
}

function formatTokenError(status: number, json: JsonResponse['json']): string {
  const code = stringOrEmpty(json['error'])
  const description = createRedactor().redact(stringOrEmpty(json['error_description'])).slice(0, 300)
  if (code === 'invalid_grant')
    return `the credential is no longer valid${description === '' ? '' : ` (${description})`}; sign in again.`
  return `Google answered ${status}${code === '' ? '' : `, ${code}`}${description === '' ? '' : `: ${description}`}.`
}

/** A request in progress must not outlive its token. */
const RENEWAL_MARGIN_MS = 5 * 60_000
