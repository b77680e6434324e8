import type { Profile } from '../model/profile.ts'
import type { WireId } from '../model/turn.ts'
import { type ModelFamily, modelFamilies } from './model-families.ts'
import type { Capabilities, ProviderDefinition } from './provider-definition.ts'

/** What is known about a model at an endpoint, in addition to its wire's profile. */
export interface ModelCapabilities extends Capabilities {
  readonly signer: string
}

/** The signer is provider and family, because only they can read native data back (T120). */
export function resolveCapabilities(
  provider: Pick<ProviderDefinition, 'id' | 'wire' | 'port' | 'profile'>,
  model: string,
): ModelCapabilities {
  const name = toFamilyName(model)
  const family = findModelFamily(name, provider.wire)
  // The context window of a local model depends on how its server was started (T160).
  const { window, ...capabilities } = family?.capabilities ?? {}
  const known = window === undefined || provider.port !== undefined ? capabilities : { ...capabilities, window }
  // Hardly any of the compatible endpoints has tools with free text; most reject the whole request (T30).
  const standard = provider.wire === 'openai-chat' ? { freeTextTools: false } : {}
  const signer = `${provider.id}:${family?.id ?? name}`
  return { signer, ...standard, ...mergeCapabilities(known, provider.profile ?? {}) }
}

/** The wire's profile, changed by what is known about the model. */
export function completeProfile(
  wire: Profile,
  { window: _window, stream: _stream, ...capabilities }: ModelCapabilities,
): Profile {
  return { ...wire, ...capabilities }
}

/** What either of them refuses is refused. */
export function mergeCapabilities(under: Capabilities, over: Capabilities): Capabilities {
  const refuses = [...new Set([...(under.refuses ?? []), ...(over.refuses ?? [])])]
  return { ...under, ...over, ...(refuses.length > 0 && { refuses }) }
}

export function findModelFamily(model: string, wire: WireId): ModelFamily | undefined {
  const name = toFamilyName(model)
  return modelFamilies.find(({ pattern, wires }) => (wires === undefined || wires.includes(wire)) && pattern.test(name))
}

/** Gateways put the maker before the name, and a variant after it: `google/gemini-2.5-pro:free`. */
function toFamilyName(model: string): string {
  return (model.split('/').at(-1) ?? '').toLowerCase()
}
