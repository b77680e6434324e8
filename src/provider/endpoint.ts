import type { WireId } from '../model/turn.ts'
import type { AuthStyle } from '../wire/endpoint.ts'
import type { ModelCapabilities } from './resolve-capabilities.ts'
import type { ProviderDefinition } from './provider-definition.ts'

/** Where requests for a model are sent, and with which credential. */
export interface Endpoint {
  readonly provider: ProviderDefinition
  readonly model: string
  readonly wire: WireId
  readonly profile: ModelCapabilities
  /** Without a trailing slash. */
  readonly baseUrl: string
  /** Where the user configured the address: a variable, or a key of the settings. */
  readonly baseUrlSource?: string
  readonly credential?: Credential
  /** The cloud project that is billed, and its region. */
  readonly project?: string
  readonly location?: string
  /** Headers that the user configured. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A secret. It is a function, so that no log of an endpoint shows it; it may fetch a new token. */
export interface Credential {
  readonly style: AuthStyle
  readonly read: () => string | Promise<string>
  /** Discards a rejected token, so that the next `read` fetches a new one. */
  readonly renew?: () => void
  readonly headers?: Readonly<Record<string, string>>
}

/** A credential that did not come from an environment variable, with its cloud project if it has one. */
export interface GrantedCredential {
  readonly key: Credential
  readonly project?: string
}

export type Environment = Readonly<Record<string, string | undefined>>

export function isLoopback(host: string): boolean {
  return /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(host)
}

/** Addresses are shown in many places, so they must not contain credentials. */
export function hasUrlPassword(url: string): boolean {
  const { username, password } = new URL(url)
  return username !== '' || password !== ''
}

/** The query may contain a key. */
export function toDisplayUrl(url: string): string {
  return url.replace(/[?#].*$/, '')
}

/** Printable ASCII; other header values are rejected or garbled on the way. */
export const HEADER_VALUE_PATTERN = /^[\x20-\x7e]*$/

/** For example `DRAGOMAN_GEMINI_OPENAI_BASE_URL`. */
export function getBaseUrlVariable(id: string): string {
  return `DRAGOMAN_${id.toUpperCase().replaceAll('-', '_')}_BASE_URL`
}

/** The provider with this id, or else with this alias. */
export function findProvider<T extends Pick<ProviderDefinition, 'id' | 'labels'>>(
  name: string,
  definitions: readonly T[],
): T | undefined {
  const id = name.toLowerCase()
  return (
    definitions.find((one) => one.id === id) ?? definitions.find(({ labels }) => labels?.aliases?.includes(id) ?? false)
  )
}

/** What the user is told to check: where the address is set, or can be set. */
export function getBaseUrlSource({ provider: definition, baseUrlSource }: Endpoint): string {
  return baseUrlSource ?? getBaseUrlVariable(definition.id)
}

/** How to sign in, as the end of a sentence. */
export function describeSignIn({ id, auth, keys, tokens = [], signIn }: ProviderDefinition): string {
  if (auth === 'none') return `set "keys" of this provider to the variable with its key`
  const [first, ...others] = [...keys, ...tokens]
  const also = others.length > 0 ? ` (or ${others.join(', ')})` : ''
  const google = signIn === 'google' ? 'gcloud auth application-default login, or ' : ''
  return `${first === undefined ? '' : `set ${first}${also}, or `}sign in with ${google}dragoman login ${id}`
}
