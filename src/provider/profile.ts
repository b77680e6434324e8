import type { Profile } from '../model/profile.ts'
import type { WireId } from '../model/turn.ts'
import { type Family, families } from './family.ts'
import type { Facts, Row } from './row.ts'

/** What is known of a model at an endpoint, besides what its wire takes for granted. */
export interface ModelFacts extends Facts {
  readonly signer: string
}

/**
 * What is known of a model behind a row: the facts of its family, changed by those of its endpoint. The signer is the
 * endpoint and the family, for nobody else can read the vendor's data back (T120).
 */
export function profileFor(row: Pick<Row, 'id' | 'wire' | 'port' | 'profile'>, model: string): ModelFacts {
  const name = modelName(model)
  const family = familyOf(name, row.wire)
  // How much of its window a model has on someone's own machine, only that machine knows (T160).
  const { window, ...facts } = family?.facts ?? {}
  const known = window === undefined || row.port !== undefined ? facts : { ...facts, window }
  return { signer: `${row.id}:${family?.id ?? name}`, ...merged(known, row.profile ?? {}) }
}

/** The whole profile: the wire's own, changed by what is known of the model. */
export function completed(wire: Profile, { window: _window, stream: _stream, ...facts }: ModelFacts): Profile {
  return { ...wire, ...facts }
}

/** One set of facts over another. What either of them refuses is refused. */
export function merged(under: Facts, over: Facts): Facts {
  const refuses = [...new Set([...(under.refuses ?? []), ...(over.refuses ?? [])])]
  return { ...under, ...over, ...(refuses.length > 0 && { refuses }) }
}

/** The family of a model on a wire, if it is of a known one. */
export function familyOf(model: string, wire: WireId): Family | undefined {
  const name = modelName(model)
  return families.find(({ pattern, wires }) => pattern.test(name) && (wires === undefined || wires.includes(wire)))
}

/** Gateways put the maker before the name, and a variant behind it: `google/gemini-2.5-pro:free`. */
function modelName(model: string): string {
  return (model.split('/').at(-1) ?? '').toLowerCase()
}
