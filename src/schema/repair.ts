import type { JsonObject } from '../model/json.ts'
import { impliedType } from './implied.ts'
import { isJsonObject, put, without } from './own.ts'
import { refOf, REF_KEYWORDS, refResolver } from './refs.ts'
import { tidyNode, type Say } from './tidy.ts'
import { eachSubschema, IN_PLACE, mapSchema, MAX_DEPTH, type Place, type Schema, pointerOf } from './walk.ts'

/** A schema fit to be declared, with what was done to it, or the reason why it cannot be. */
export type Repair = { schema: JsonObject; repairs: string[] } | { unusable: string }

/** Makes the schema of a tool's arguments fit to be declared, or says why it cannot be. Sound ones come back as they are. */
export function repairSchema(schema: unknown): Repair {
  const repairs = new Set<string>()
  const say: Say = (sentence) => repairs.add(sentence)
  if (schema === undefined || schema === null || schema === true) {
    return {
      schema: { type: 'object', properties: {} },
      repairs: ['The tool says nothing of its arguments; any are accepted.'],
    }
  }
  if (!isJsonObject(schema)) return { unusable: `its schema is ${schema === false ? '"false"' : 'not an object'}` }
  const flaw = sizeFlaw(schema)
  if (flaw !== undefined) return { unusable: flaw }
  const clean = mapSchema(schema, (inner, place) => repairDown(inner, place, say), 'down')
  const done = mapSchema(clean, (inner, place) => repairUp(inner, place, say))
  if (!isJsonObject(done)) return { unusable: 'its schema accepts nothing' }
  const root = repairRoot(dropDeadRefs(done, say), say)
  if (typeof root === 'string') return { unusable: root }
  return { schema: root, repairs: [...repairs] }
}

/** Tool lists are sent with every request: a schema beyond this size is an accident or an attack. */
const MAX_NODES = 10_000

const COMBINERS = ['anyOf', 'oneOf', 'allOf', 'not', 'if', ...REF_KEYWORDS]

/** Keywords under which a boolean is the usual way to write it. */
const BOOLEAN_IS_FINE: ReadonlySet<string> = new Set([
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'additionalItems',
])

function sizeFlaw(schema: JsonObject): string | undefined {
  let nodes = 0
  let deep = false
  try {
    eachSubschema(schema, (_inner, place) => {
      deep ||= place.depth >= MAX_DEPTH
      // A schema object that contains itself would otherwise be walked for ever.
      if (++nodes > MAX_NODES) throw new RangeError('too many subschemas')
    })
    JSON.stringify(schema)
  } catch {
    return 'its schema is too large, or contains itself'
  }
  return deep ? `its schema is nested more than ${MAX_DEPTH} levels deep` : undefined
}

function repairDown(schema: Schema, place: Place, say: Say): Schema {
  if (typeof schema === 'boolean') return schema
  return tidyNode(hoistRequired(schema, place, say), say)
}

/** Draft 3, and many a hurried author, wrote `required: true` inside the property. */
function hoistRequired(schema: JsonObject, place: Place, say: Say): JsonObject {
  const { properties, required } = schema
  if (!isJsonObject(properties)) return schema
  const marked = Object.keys(properties).filter((name) => {
    const property = properties[name]
    return isJsonObject(property) && property['required'] === true
  })
  if (marked.length === 0) return schema
  say(`The mark "required" moved from the properties to the object at "${pointerOf(place) || '/'}".`)
  const named = Array.isArray(required) ? required : []
  const bare = { ...properties }
  for (const name of marked) put(bare, name, without(bare[name] as JsonObject, ['required']))
  return { ...schema, properties: bare, required: [...new Set([...named, ...marked])] }
}

function repairUp(schema: Schema, place: Place, say: Say): Schema {
  const { keyword } = place
  if (schema === true && keyword !== undefined && !BOOLEAN_IS_FINE.has(keyword)) return {}
  if (typeof schema === 'boolean') return schema
  let out = dropFalse(schema, say)
  out = cleanRequired(out, place, say)
  if (out['type'] === undefined && !COMBINERS.some((key) => out[key] !== undefined)) {
    const type = impliedType(out)
    // In place of a branch the type is the business of the schema around it.
    if (type !== undefined && (keyword === undefined || !IN_PLACE.has(keyword))) {
      // Listed values have the types they have: to name their type changes nothing that is worth a word.
      if (out['enum'] === undefined && !Object.hasOwn(out, 'const')) {
        say(`A missing type was added: "${type}" at "${pointerOf(place) || '/'}".`)
      }
      out = { type, ...out }
    }
  }
  return out
}

/** A property that accepts nothing must be absent, and a branch that accepts nothing is never taken. */
function dropFalse(schema: JsonObject, say: Say): JsonObject {
  let out = schema
  const { properties } = schema
  if (isJsonObject(properties)) {
    const dead = Object.keys(properties).filter((name) => properties[name] === false)
    if (dead.length > 0) {
      say(`Properties that accept nothing were left out: ${dead.join(', ')}.`)
      out = { ...out, properties: without(properties, dead) }
    }
  }
  for (const key of ['anyOf', 'oneOf'] as const) {
    const list = out[key]
    if (!Array.isArray(list) || !list.includes(false)) continue
    const alive = list.filter((branch) => branch !== false)
    out = alive.length > 0 ? { ...out, [key]: alive } : without(out, [key])
  }
  return out
}

function cleanRequired(schema: JsonObject, place: Place, say: Say): JsonObject {
  const { required } = schema
  // A branch may well require what the schema around it declares.
  if (!Array.isArray(required) || (place.keyword !== undefined && IN_PLACE.has(place.keyword))) return schema
  const known = declaredNames(schema)
  const unknown = required.filter((name) => typeof name === 'string' && known?.has(name) === false)
  if (unknown.length === 0) return schema
  say(`Required but nowhere declared, so no longer required: ${JSON.stringify(unknown)}.`)
  return { ...schema, required: required.filter((name) => !unknown.includes(name)) }
}

/** The names that a schema and its branches declare; none at all when a reference may declare more. */
function declaredNames(schema: JsonObject): Set<string> | undefined {
  const names = new Set<string>()
  let open = false
  const collect = (inner: Schema, place: Place): Schema => {
    // Branches judge the same object, so what they declare counts; anything else is about another value.
    if (place.keyword !== undefined && !IN_PLACE.has(place.keyword)) return true
    open ||= refOf(inner) !== undefined
    if (isJsonObject(inner) && isJsonObject(inner['properties'])) {
      for (const name of Object.keys(inner['properties'])) names.add(name)
    }
    return inner
  }
  mapSchema(schema, collect, 'down')
  return open ? undefined : names
}

function dropDeadRefs(schema: JsonObject, say: Say): JsonObject {
  const resolve = refResolver(schema)
  const out = mapSchema(schema, (inner) => {
    const ref = refOf(inner)
    if (ref === undefined || typeof inner === 'boolean' || resolve(ref) !== undefined) return inner
    say(`The reference "${ref}" leads nowhere; anything is accepted there.`)
    return without(inner, REF_KEYWORDS)
  })
  const opened = out === schema ? out : mapSchema(out, withoutOpenRefusals)
  return isJsonObject(opened) ? opened : schema
}

/** A branch that now accepts anything must not turn "exactly one" or "not" against every value. */
function withoutOpenRefusals(schema: Schema): Schema {
  if (typeof schema === 'boolean') return schema
  const { oneOf, anyOf, not } = schema
  let out = isOpen(not) ? without(schema, ['not']) : schema
  if (Array.isArray(oneOf) && oneOf.some(isOpen)) {
    out = without(out, ['oneOf'])
    if (anyOf === undefined) out = { ...out, anyOf: oneOf }
  }
  return out
}

function isOpen(schema: unknown): boolean {
  return isJsonObject(schema) && Object.keys(schema).length === 0
}

function repairRoot(schema: JsonObject, say: Say): JsonObject | string {
  const ref = refOf(schema)
  const combined = COMBINERS.some((key) => schema[key] !== undefined)
  const { type } = schema
  if (type !== undefined && type !== 'object' && !(Array.isArray(type) && type.includes('object'))) {
    return `its arguments are declared as ${JSON.stringify(type)}, not as an object`
  }
  let out = schema
  if (type !== 'object' && ref === undefined) {
    if (type === undefined && !combined) say('The arguments were not said to be an object.')
    out = type === undefined ? { type: 'object', ...out } : { ...out, type: 'object' }
  }
  if (out['properties'] === undefined && ref === undefined) out = { ...out, properties: {} }
  return out
}
