import type { Warning } from '../model/event.ts'
import { isObject } from '../model/json.ts'
import { formatExcerpt } from './unread-fields.ts'

type FieldType = 'string' | 'number' | 'boolean' | 'object' | 'list' | 'strings' | 'objects'

/**
 * The names of the fields of an API by the type of their values, separated by spaces; a name may have several types. Where a
 * name means different things, `holder.name` goes before it; `.name` is a field of the body itself.
 */
export type FieldTypes = Readonly<Partial<Record<FieldType, string>>> & {
  /** Fields whose content is not the API's, such as schemas. */
  readonly opaque?: string
}

/**
 * Warns about values of a type that the API does not have there: a reader would take them for absent. Only fields with a known
 * name are searched, because all others are kept as they are.
 */
export function createTypeChecker(types: FieldTypes): (body: unknown, warnings: Warning[]) => void {
  const { opaque = '', ...byType } = types
  const opaqueNames = new Set(opaque.split(' '))
  const expected = new Map<string, FieldType[]>()
  for (const [type, names] of Object.entries(byType) as [FieldType, string][])
    for (const name of names.split(' ')) expected.set(name, [...(expected.get(name) ?? []), type])

  function checkFields(fields: Record<string, unknown>, holder: string, path: string, warnings: Warning[]): void {
    for (const [key, value] of Object.entries(fields)) {
      const name = key.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase())
      const wanted = [`${holder}.${key}`, key, name].map((one) => expected.get(one)).find((one) => one !== undefined)
      if (!wanted || value === null || value === undefined) continue
      checkValue(value, { wanted, key, path: path === '' ? key : `${path}.${key}` }, warnings)
    }
  }

  function checkValue(value: unknown, field: CheckedField, warnings: Warning[]): void {
    const { wanted, key, path } = field
    if (!wanted.some((type) => hasType(value, type))) {
      const message = `${path} is not of the type ${wanted.join(' or ')}, and may be left out: ${formatExcerpt(value)}`
      warnings.push({ code: 'wrong-type', message })
      return
    }
    if (opaqueNames.has(key)) return
    if (isObject(value)) checkFields(value, key, path, warnings)
    if (!Array.isArray(value)) return
    const element = wanted.includes('strings') ? 'string' : 'object'
    for (const [at, one] of value.entries()) {
      if (isObject(one) && element === 'object') checkFields(one, key, `${path}.${at}`, warnings)
      else if (!wanted.includes('list')) checkValue(one, { wanted: [element], key, path: `${path}.${at}` }, warnings)
    }
  }

  return (body, warnings) => {
    if (isObject(body)) checkFields(body, '', '', warnings)
  }
}

interface CheckedField {
  readonly wanted: readonly FieldType[]
  readonly key: string
  readonly path: string
}

const LIST_TYPES: ReadonlySet<FieldType> = new Set(['list', 'strings', 'objects'])

function hasType(value: unknown, type: FieldType): boolean {
  if (type === 'object') return isObject(value)
  return LIST_TYPES.has(type) ? Array.isArray(value) : typeof value === type
}
