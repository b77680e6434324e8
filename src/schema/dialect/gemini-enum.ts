import type { Json, JsonObject } from '../../model/json.ts'
import { describeKeyword, appendRemarks } from '../describe-keywords.ts'
import { getJsonType } from '../normalize/infer-type.ts'

/**
 * Declares a list of allowed values for a service that supports only non-empty strings. Other values become labels if
 * the text is unambiguous there; else their type is declared, and the list becomes words.
 */
export function toEnumSchema(
  values: readonly Json[],
  type: string | undefined,
  described: JsonObject,
  isUnambiguous: boolean,
): { schema: JsonObject; labels?: ReadonlyMap<string, Json> } {
  const nonNull = values.filter((value) => value !== null)
  const nullable = nonNull.length < values.length && (type === undefined || type === 'null')
  const description: JsonObject = nullable ? { ...described, nullable: true } : described
  if (nonNull.length === 0)
    return { schema: { type: 'STRING', ...appendRemarks(described, ['null only']), nullable: true } }
  if (nonNull.length === 2 && nonNull.includes(true) && nonNull.includes(false))
    return { schema: { type: 'BOOLEAN', ...description } }
  const labels = new Map(nonNull.map((value) => [toLabel(value), value]))
  if (labels.size === new Set(nonNull).size && nonNull.every((value) => value === toLabel(value))) {
    return { schema: { type: 'STRING', ...description, enum: [...labels.keys()] } }
  }
  const canUseLabels = isUnambiguous && labels.size === nonNull.length
  if (canUseLabels) return { schema: { type: 'STRING', ...description, enum: [...labels.keys()] }, labels }
  return { schema: toTypeSchemas(nonNull, appendRemarks(description, [describeKeyword('enum', [...values])])) }
}

function toLabel(value: Json): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  return value === '' ? '(empty)' : value
}

function toTypeSchemas(values: readonly Json[], description: JsonObject): JsonObject {
  const types = new Set(values.map(getJsonType))
  if (types.has('number')) types.delete('integer')
  const forms = [...types].map((type): JsonObject => {
    return type === 'array' ? { type: 'ARRAY', items: { type: 'STRING' } } : { type: type.toUpperCase() }
  })
  const [first, ...rest] = forms
  const firstForm = { ...first, ...description }
  return rest.length === 0 ? firstForm : { anyOf: [firstForm, ...rest] }
}
