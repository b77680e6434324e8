import { type Answered } from './fetch-json.ts'
import { redactor } from '../../model/secret.ts'
import { stringOf } from '../../model/json.ts'

/** A token that is good for a while. */
export interface Token {
  readonly value: string
  /** Milliseconds since 1970. */
  readonly expires: number
}

/** Keeps a token until shortly before it expires; whoever asks meanwhile waits for the same one. */
export function keptToken(obtain: () => Promise<Token>, now: () => number = Date.now) {
  let last: Promise<Token> | undefined
  let kept: Token | undefined
  return {
    async read(): Promise<string> {
      if (kept && now() < kept.expires - EARLY) return kept.value
      kept = undefined
      const pending = (last ??= obtain())
      try {
        const fresh = await pending
        if (last === pending) kept = fresh
        return fresh.value
      } finally {
        if (last === pending) last = undefined
      }
    },
    renew(): void {
      kept = undefined
      last = undefined
    },
  }
}

/** The token in the answer of a token endpoint; throws a sentence if there is none. */
export function tokenIn({ status, json }: Answered, now: number): Token {
  const value = stringOf(json['access_token'])
  if (status === 200 && value !== '') {
    const seconds = Number(json['expires_in'])
    return { value, expires: now + (seconds > 0 ? seconds : 3600) * 1000 }
  }
  throw new Error(refusal(status, json))
}

/** What a token endpoint says when it refuses. */
function refusal(status: number, json: Answered['json']): string {
  const code = stringOf(json['error'])
  const words = redactor().clean(stringOf(json['error_description'])).slice(0, 300)
  if (code === 'invalid_grant') return `it is no longer valid${words === '' ? '' : ` (${words})`}; sign in again.`
  return `Google answered ${status}${code === '' ? '' : `, ${code}`}${words === '' ? '' : `: ${words}`}.`
}

/** Before a token expires, a new one is fetched: a request under way must not outlive its token. */
const EARLY = 5 * 60_000
