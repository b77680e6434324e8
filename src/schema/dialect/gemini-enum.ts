import type { Json, JsonObject } from '../../model/json.ts'
import { phraseFor, withRemarks } from '../describe.ts'
import { typeOf } from '../implied.ts'

/** A schema for a list of allowed values, with the values behind its labels where they are not what they seem. */
export interface Listed {
  schema: JsonObject
  labels?: ReadonlyMap<string, Json>
}

/**
 * Declares a list of allowed values, where the service knows only lists of non-empty text. Other values are spelt as
 * text if the place leaves no doubt what the text means; else their type is declared, and the list becomes words.
 */
export function listedValues(
  values: readonly Json[],
  type: string | undefined,
  described: JsonObject,
  sole: boolean,
): Listed {
  const real = values.filter((value) => value !== null)
  const nullable = real.length < values.length && (type === undefined || type === 'null')
  const beside: JsonObject = nullable ? { ...described, nullable: true } : described
  if (real.length === 0) return { schema: { type: 'STRING', ...withRemarks(described, ['null only']), nullable: true } }
  if (real.length === 2 && real.includes(true) && real.includes(false))
    return { schema: { type: 'BOOLEAN', ...beside } }
  const labels = new Map(real.map((value) => [labelOf(value), value]))
  if (labels.size === new Set(real).size && real.every((value) => value === labelOf(value))) {
    return { schema: { type: 'STRING', ...beside, enum: [...labels.keys()] } }
  }
  const clear = sole && labels.size === real.length
  if (clear) return { schema: { type: 'STRING', ...beside, enum: [...labels.keys()] }, labels }
  return { schema: byType(real, withRemarks(beside, [phraseFor('enum', [...values])])) }
}

function labelOf(value: Json): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  return value === '' ? '(empty)' : value
}

function byType(values: readonly Json[], beside: JsonObject): JsonObject {
  const types = new Set(values.map(typeOf))
  if (types.has('number')) types.delete('integer')
  const forms = [...types].map((type): JsonObject => {
    return type === 'array' ? { type: 'ARRAY', items: { type: 'STRING' } } : { type: type.toUpperCase() }
  })
  const [first, ...rest] = forms
  const led = { ...first, ...beside }
  return rest.length === 0 ? led : { anyOf: [led, ...rest] }
}
