import type { WireId } from '../model/turn.ts'
import type { AuthStyle } from '../wire/endpoint.ts'
import type { ModelCapabilities } from './resolve-capabilities.ts'
import type { ProviderDefinition } from './provider-definition.ts'

/** Where a request goes, and as whom. */
export interface Endpoint {
  readonly provider: ProviderDefinition
  readonly model: string
  readonly wire: WireId
  readonly profile: ModelCapabilities
  /** Without a slash at the end. */
  readonly baseUrl: string
  /** Where the person has set the address: a variable, or a key of the settings. */
  readonly baseUrlSource?: string
  readonly credential?: Credential
  /** The cloud project that pays, and where it computes, for endpoints that want to know. */
  readonly project?: string
  readonly location?: string
  /** What goes with every request because the person wishes it. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A key. It is a function, so that it shows in no log of a target; and it may take its time, to fetch a fresh token. */
export interface Credential {
  readonly style: AuthStyle
  readonly read: () => string | Promise<string>
  /** Forgets a token that was refused: the next one that is read is a fresh one. */
  readonly renew?: () => void
  readonly headers?: Readonly<Record<string, string>>
}

/** A credential that did not come from a variable, and the cloud project that it belongs to, if it says. */
export interface GrantedCredential {
  readonly key: Credential
  readonly project?: string
}

/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Is this a name for the machine that we run on? */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(host)
}

/** Does a URL name a person or a password? An address is shown in many places, and such a thing in none of them. */
export function hasUrlPassword(url: string): boolean {
  const { username, password } = new URL(url)
  return username !== '' || password !== ''
}

/** An address as a person may see it: what stands behind the question mark may be a key. */
export function toDisplayUrl(url: string): string {
  return url.replace(/[?#].*$/, '')
}

/** Header values are printable ASCII; anything else is refused or, worse, sent garbled. */
export const HEADER_VALUE = /^[\x20-\x7e]*$/

/** The name of the variable that overrides the address of a row: `DRAGOMAN_GEMINI_OPENAI_BASE_URL`. */
export function getBaseUrlVariable(id: string): string {
  return `DRAGOMAN_${id.toUpperCase().replaceAll('-', '_')}_BASE_URL`
}

/** Where the address of a target is set, or could be: what a person is told to check. */
export function getBaseUrlSource({ provider: definition, baseUrlSource }: Endpoint): string {
  return baseUrlSource ?? getBaseUrlVariable(definition.id)
}

/** How a person gets in at a vendor, as the end of a sentence. */
export function describeSignIn({ id, auth, keys, tokens = [], signIn }: ProviderDefinition): string {
  if (auth === 'none') return `name the variable that holds its key under "keys" of this provider`
  const [first, ...others] = [...keys, ...tokens]
  const also = others.length > 0 ? ` (or ${others.join(', ')})` : ''
  const google = signIn === 'google' ? 'gcloud auth application-default login, or ' : ''
  return `${first === undefined ? '' : `set ${first}${also}, or `}sign in with ${google}dragoman login ${id}`
}
