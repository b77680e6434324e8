import type { JsonObject } from '../model/json.ts'
import type { Profile } from '../model/profile.ts'
import type { WireId } from '../model/turn.ts'
import type { AuthStyle } from '../wire/endpoint.ts'

/** What differs from the wire's own profile. */
export interface Capabilities extends Partial<Profile> {
  /** The context window in tokens, if it is well known. */
  readonly window?: number
  /** Responses are requested whole, since the endpoint's streams are unreliable. */
  readonly stream?: false
}

/** What is known about a provider of the table; not settings. */
export interface ProviderLabels {
  /** Its names in other programs. */
  readonly aliases?: readonly string[]
  /** Its section of the catalogue and its name in OpenTelemetry, if not `id`. */
  readonly catalog?: string
  readonly otel?: string
  /** How its keys begin. */
  readonly keyPrefix?: string
  /** The variable of its key is often set for other programs: it does not make this provider the default. */
  readonly isSharedKey?: true
}

export interface ProviderDefinition {
  readonly id: string
  readonly labels?: ProviderLabels
  readonly wire: WireId
  /** As the vendor's own SDK takes it; `{location}`, and variables such as `{AWS_REGION|AWS_DEFAULT_REGION}`, are filled in. */
  readonly url: string
  readonly auth: AuthStyle
  /** The environment variables for the key; the first one that is set counts. */
  readonly keys: readonly string[]
  /** Variables for a bearer token, if `keys` are sent in another way. */
  readonly tokens?: readonly string[]
  /** The vendor's own variables for the base URL, after `DRAGOMAN_<ID>_BASE_URL`; with braces, an address that contains some. */
  readonly urls?: readonly string[]
  /** Google credentials are accepted: of gcloud, of a service account, of the user's own OAuth client. */
  readonly signIn?: 'google'
  /** The variant of the wire's path below the base URL. */
  readonly path?: 'vertex'
  /** The list of models, relative to the base URL, if it is not where the wire has it. */
  readonly modelList?: string
  /** A path below the base URL to test a key at no cost, if the list of models needs no key. */
  readonly check?: string
  /** The usual port of a local server, which then needs no key. */
  readonly port?: number
  readonly model?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Fields of the request body that only this endpoint knows. */
  readonly extra?: JsonObject
  readonly profile?: Capabilities
}
