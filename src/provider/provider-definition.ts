import type { JsonObject } from '../model/json.ts'
import type { Profile } from '../model/profile.ts'
import type { WireId } from '../model/turn.ts'
import type { AuthStyle } from '../wire/endpoint.ts'

/** What differs from the wire's own profile, and what a port must know besides. */
export interface Capabilities extends Partial<Profile> {
  /** How many tokens the model takes in, where that is well known. */
  readonly window?: number
  /** Answers are asked for whole, for endpoints whose streams cannot be trusted. */
  readonly stream?: false
}

/** A vendor. Everything that is particular to it is in its row. */
export interface ProviderDefinition {
  readonly id: string
  readonly wire: WireId
  /** The base URL as the vendor's own SDK takes it; `{location}` is filled in. */
  readonly url: string
  readonly auth: AuthStyle
  /** The environment variables that may hold the key; the first one that is set counts. */
  readonly keys: readonly string[]
  /** Variables that hold a bearer token, where `keys` go another way. */
  readonly tokens?: readonly string[]
  /** The vendor's own variables for the base URL; `DRAGOMAN_<ROW>_BASE_URL` comes before them. */
  readonly urls?: readonly string[]
  /** Google's own credentials open this door: those of gcloud, of a service account, of one's own OAuth client. */
  readonly signIn?: 'google'
  /** The address below the base URL, where it is not the wire's usual one. */
  readonly path?: 'vertex'
  /** Where a key can be tried at no cost, below the base URL, if the list of models is open to all. */
  readonly check?: string
  /** The port on which such a server usually listens on this machine; it then needs no key. */
  readonly port?: number
  /** The model that is meant when only the row is named. */
  readonly model?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Fields of the request body that only this endpoint knows. */
  readonly extra?: JsonObject
  readonly profile?: Capabilities
}
