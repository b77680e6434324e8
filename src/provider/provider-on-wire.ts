import type { WireId } from '../model/turn.ts'
import { WIRE_ENDPOINTS } from '../wire/endpoint.ts'
import { isWireId, wireIds } from '../wire/wires.ts'
import type { Environment } from './endpoint.ts'
import type { ProviderDefinition } from './provider-definition.ts'
import { providers } from './providers.ts'

/**
 * A provider on another of its wires: with everything of the built-in provider that speaks that wire at the same address,
 * or else with nothing but the address and the keys.
 */
export function toProviderOnWire(base: ProviderDefinition, wire: WireId): ProviderDefinition {
  if (base.wire === wire) return base
  const { id, url, keys } = base
  const sibling = providers.find((one) => one.wire === wire && one.url === url)
  return { auth: WIRE_ENDPOINTS[wire].auth, wire, ...sibling, id, url, keys }
}

/** `DRAGOMAN_GEMINI_WIRE=interactions` makes `gemini/…` use another wire. */
export function applyWireVariable(
  base: ProviderDefinition,
  env: Environment,
): ProviderDefinition | { readonly problem: string; readonly code: 42 } {
  const variable = `DRAGOMAN_${base.id.toUpperCase().replaceAll('-', '_')}_WIRE`
  const wire = env[variable]?.trim() ?? ''
  if (wire === '') return base
  return isWireId(wire)
    ? toProviderOnWire(base, wire)
    : { problem: `${variable} is not a wire: ${wireIds.join(', ')}.`, code: 42 }
}
