import type { Profile } from '../model/profile.ts'
import type { WireId } from '../model/turn.ts'
import { type ModelFamily, modelFamilies } from './model-families.ts'
import type { Capabilities, ProviderDefinition } from './provider-definition.ts'

/** What is known of a model at an endpoint, besides what its wire takes for granted. */
export interface ModelCapabilities extends Capabilities {
  readonly signer: string
}

/**
 * What is known of a model behind a row: the facts of its family, changed by those of its endpoint. The signer is the
 * endpoint and the family, for nobody else can read the vendor's data back (T120).
 */
export function resolveCapabilities(
  provider: Pick<ProviderDefinition, 'id' | 'wire' | 'port' | 'profile'>,
  model: string,
): ModelCapabilities {
  const name = toFamilyName(model)
  const family = findModelFamily(name, provider.wire)
  // How much of its window a model has on someone's own machine, only that machine knows (T160).
  const { window, ...capabilities } = family?.capabilities ?? {}
  const known = window === undefined || provider.port !== undefined ? capabilities : { ...capabilities, window }
  return { signer: `${provider.id}:${family?.id ?? name}`, ...mergeCapabilities(known, provider.profile ?? {}) }
}

/** The whole profile: the wire's own, changed by what is known of the model. */
export function completeProfile(
  wire: Profile,
  { window: _window, stream: _stream, ...capabilities }: ModelCapabilities,
): Profile {
  return { ...wire, ...capabilities }
}

/** One set of facts over another. What either of them refuses is refused. */
export function mergeCapabilities(under: Capabilities, over: Capabilities): Capabilities {
  const refuses = [...new Set([...(under.refuses ?? []), ...(over.refuses ?? [])])]
  return { ...under, ...over, ...(refuses.length > 0 && { refuses }) }
}

/** The family of a model on a wire, if it is of a known one. */
export function findModelFamily(model: string, wire: WireId): ModelFamily | undefined {
  const name = toFamilyName(model)
  return modelFamilies.find(({ pattern, wires }) => pattern.test(name) && (wires === undefined || wires.includes(wire)))
}

/** Gateways put the maker before the name, and a variant behind it: `google/gemini-2.5-pro:free`. */
function toFamilyName(model: string): string {
  return (model.split('/').at(-1) ?? '').toLowerCase()
}
