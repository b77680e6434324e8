import type { JsonObject } from '../../model/json.ts'
import { renameKeys } from '../keys.ts'
import { plainRoot } from '../root.ts'
import { cutWarnings, inlineUnless, isPlainRef, withoutLabels, type Declared } from './declared.ts'

/** Anthropic's `input_schema`: draft 2020-12, a plain root, and property names of a small alphabet. */
export function toAnthropic(schema: JsonObject): Declared {
  const { schema: flat, cut } = inlineUnless(schema, isPlainRef)
  const root = plainRoot(withoutLabels(flat))
  const { schema: renamed, original } = renameKeys(root, { pattern: /^[a-zA-Z0-9_.-]{1,64}$/, max: 64 })
  const declared = { schema: renamed, warnings: cutWarnings(cut) }
  if (original.size === 0) return declared
  return { ...declared, notes: { keys: original, loose: cut.length > 0, labels: new Map(), absent: new Map() } }
}
