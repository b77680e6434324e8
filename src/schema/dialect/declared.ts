import type { JsonObject } from '../../model/json.ts'
import type { Notes } from '../lens.ts'
import { isJsonObject, without } from '../own.ts'
import { segment, valueAt } from '../pointer.ts'
import { eachSubschema, isSchema, mapSchema, type Schema } from '../walk.ts'
import { inlineRefs, type Inlined } from '../inline.ts'
import { refOf } from '../refs.ts'

/** A tool's schema in one dialect, and what that did to it. */
export interface Declared {
  schema: JsonObject
  /** What the dialect did to values; absent when arguments pass unchanged. */
  notes?: Notes
  warnings: string[]
  strict?: boolean
}

/** Leaves out the keywords that name the schema instead of saying anything about a value. */
export function withoutLabels(schema: JsonObject): JsonObject {
  const out = mapSchema(schema, (inner) =>
    typeof inner === 'boolean' ? inner : without(inner, ['$schema', '$id', '$comment']),
  )
  return typeof out === 'boolean' ? schema : out
}

/** Leaves out definitions that nothing refers to: they would only cost tokens. */
export function withoutUnused(schema: JsonObject): JsonObject {
  if (DEFINITIONS.every((key) => schema[key] === undefined)) return schema
  const used = new Set<string>()
  const waiting: Schema[] = [without(schema, DEFINITIONS)]
  let known = true
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    eachSubschema(next, (inner) => {
      const ref = refOf(inner)
      if (ref === undefined || ref === '#') return
      const [, keyword, name] = /^#\/(\$defs|definitions)\/([^/%]+)/.exec(ref) ?? []
      // Any other kind of reference may lead anywhere.
      if (keyword === undefined || name === undefined) known = false
      else if (!used.has(`${keyword}/${name}`)) {
        used.add(`${keyword}/${name}`)
        const target = valueAt(schema, `/${keyword}/${name}`)
        if (isSchema(target)) waiting.push(target)
      }
    })
  }
  return known ? keepUsed(schema, used) : schema
}

/** Inlines references, unless all of them are of a form that the dialect's service follows by itself. */
export function inlineUnless(schema: JsonObject, isPortable: (ref: string, holder: JsonObject) => boolean): Inlined {
  let portable = true
  eachSubschema(schema, (inner) => {
    const ref = refOf(inner)
    if (ref !== undefined && typeof inner !== 'boolean') portable &&= isPortable(ref, inner)
  })
  return portable ? { schema, cut: [] } : inlineRefs(schema)
}

/** A reference that survives a change of the root: to the root itself, or to a definition. */
export function isPlainRef(ref: string, holder: JsonObject): boolean {
  return typeof holder['$ref'] === 'string' && /^#(?:\/(?:\$defs|definitions)\/[^/]+)?$/.test(ref)
}

/** What to tell about references that had to be cut. */
export function cutWarnings(cut: readonly string[]): string[] {
  return cut.map((ref) => `The reference "${ref}" has no end, or is too large, and was cut.`)
}

const DEFINITIONS = ['$defs', 'definitions'] as const

function keepUsed(schema: JsonObject, used: ReadonlySet<string>): JsonObject {
  let out = schema
  for (const keyword of DEFINITIONS) {
    const all = schema[keyword]
    if (!isJsonObject(all)) continue
    const unused = Object.keys(all).filter((name) => !used.has(keyword + segment(name)))
    if (unused.length === 0) continue
    const rest = without(all, unused)
    out = Object.keys(rest).length === 0 ? without(out, [keyword]) : { ...out, [keyword]: rest }
  }
  return out
}
