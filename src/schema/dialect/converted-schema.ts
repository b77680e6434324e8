import type { JsonObject } from '../../model/json.ts'
import type { ArgumentMapping } from './argument-mapper.ts'
import { isJsonObject, omitKeys } from '../own-properties.ts'
import { toPointerSegment, resolvePointer } from '../json-pointer.ts'
import { forEachSubschema, isJsonSchema, mapAllSubschemas, type JsonSchema } from '../walk-schema.ts'
import { flattenRoot } from '../normalize/flatten-root.ts'
import { inlineRefs, type InlinedSchema } from '../normalize/inline-refs.ts'
import { getRef } from '../normalize/resolve-refs.ts'

export interface ConvertedSchema {
  schema: JsonObject
  /** Absent if arguments pass unchanged. */
  mapping?: Partial<ArgumentMapping>
  warnings: string[]
  strict?: boolean
}

/** A schema with a plain object as its root, and warnings about the references that could not be inlined. */
export function prepareSchema(
  schema: JsonObject,
  isPortable: (ref: string, holder: JsonObject) => boolean = () => false,
): ConvertedSchema & { readonly isPartial: boolean } {
  const { schema: flat, cutRefs } = inlineRefsUnless(schema, isPortable)
  const warnings = cutRefs.map((ref) => `The reference "${ref}" is recursive or too large, and was truncated.`)
  return { schema: flattenRoot(dropIdentifiers(flat)), warnings, isPartial: cutRefs.length > 0 }
}

/** Omits the keywords that identify the schema and say nothing about a value. */
function dropIdentifiers(schema: JsonObject): JsonObject {
  const out = mapAllSubschemas(schema, (inner) =>
    typeof inner === 'boolean' ? inner : omitKeys(inner, ['$schema', '$id', '$comment']),
  )
  return typeof out === 'boolean' ? schema : out
}

/** Omits definitions that nothing refers to: they would only cost tokens. */
export function dropUnusedDefinitions(schema: JsonObject): JsonObject {
  if (DEFINITION_KEYWORDS.every((key) => schema[key] === undefined)) return schema
  const used = new Set<string>()
  const queue: JsonSchema[] = [omitKeys(schema, DEFINITION_KEYWORDS)]
  let isComplete = true
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    forEachSubschema(next, (inner) => {
      const ref = getRef(inner)
      if (ref === undefined || ref === '#') return
      const [, keyword, name] = /^#\/(\$defs|definitions)\/([^/%]+)/.exec(ref) ?? []
      // Other references may lead anywhere.
      if (keyword === undefined || name === undefined) isComplete = false
      else if (!used.has(`${keyword}/${name}`)) {
        used.add(`${keyword}/${name}`)
        const target = resolvePointer(schema, `/${keyword}/${name}`)
        if (isJsonSchema(target)) queue.push(target)
      }
    })
  }
  return isComplete ? keepUsedDefinitions(schema, used) : schema
}

/** Inlines references, unless the dialect's service supports all of them. */
function inlineRefsUnless(schema: JsonObject, isPortable: (ref: string, holder: JsonObject) => boolean): InlinedSchema {
  let portable = true
  forEachSubschema(schema, (inner) => {
    const ref = getRef(inner)
    if (ref !== undefined && typeof inner !== 'boolean') portable &&= isPortable(ref, inner)
  })
  return portable ? { schema, cutRefs: [] } : inlineRefs(schema)
}

/** A reference that is still valid when the root changes: to the root itself, or to a definition. */
export function isRootOrDefinitionRef(ref: string, holder: JsonObject): boolean {
  return typeof holder['$ref'] === 'string' && /^#(?:\/(?:\$defs|definitions)\/[^/]+)?$/.test(ref)
}

const DEFINITION_KEYWORDS = ['$defs', 'definitions'] as const

function keepUsedDefinitions(schema: JsonObject, used: ReadonlySet<string>): JsonObject {
  let out = schema
  for (const keyword of DEFINITION_KEYWORDS) {
    const all = schema[keyword]
    if (!isJsonObject(all)) continue
    const unused = Object.keys(all).filter((name) => !used.has(keyword + toPointerSegment(name)))
    if (unused.length === 0) continue
    const rest = omitKeys(all, unused)
    out = Object.keys(rest).length === 0 ? omitKeys(out, [keyword]) : { ...out, [keyword]: rest }
  }
  return out
}
