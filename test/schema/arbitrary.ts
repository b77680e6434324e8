import * as fc from 'fast-check'
import type { Json, JsonObject } from '../../src/model/json.ts'
import { getDeclaredTypes } from '../../src/schema/normalize/merge-schemas.ts'
import { isJsonObject, getOwn, setOwn } from '../../src/schema/own-properties.ts'
import { getRef, createRefResolver, type RefResolver } from '../../src/schema/normalize/resolve-refs.ts'

/** The same seed makes the same cases. */
fc.configureGlobal({ seed: Number(process.env['DRAGOMAN_SEED'] ?? 1) })

/** Property names as authors write them, and as they should not. */
const KEYS = [
  'path',
  'limit',
  'pattern',
  'format',
  'type',
  'properties',
  'required',
  '$schema',
  'filter[id]',
  'a b',
  'x-y',
  'x.y',
  '1st',
  '',
  'ünïcode',
  'constructor',
  '__proto__',
  'n'.repeat(70),
]

const scalar = fc.constantFrom<Json>('a', 'b', '', 'null', 0, 1, 2, 3.5, -1, true, false, null)

const key = fc.constantFrom(...KEYS)

const remarks = fc.record(
  {
    description: fc.constantFrom<Json>('Some words.', '', null),
    title: fc.constant('A title'),
    default: scalar,
    $comment: fc.constant('note'),
  },
  { requiredKeys: [] },
)

const text = fc.record(
  {
    type: fc.constant('string'),
    minLength: often<Json>([0, 1], [300, -1]),
    maxLength: fc.constantFrom<Json>(3, 1000),
    pattern: often(['^[a-z]*$', '^[\\w-\\.]*$'], ['\\d+', '^(?=a)a$', '[', '^(a+)+$']),
    format: fc.constantFrom('date-time', 'uri', 'email', '__proto__'),
  },
  { requiredKeys: ['type'] },
)

const number = fc.record(
  {
    type: often(['number', 'integer'], ['int', 'INTEGER']),
    minimum: fc.constantFrom<Json>(0, -5),
    maximum: fc.constantFrom<Json>(10),
    exclusiveMinimum: often<Json>([-1], [true, false]),
    multipleOf: often<Json>([1, 0.5], [0]),
  },
  { requiredKeys: ['type'] },
)

const listed = fc.oneof(
  fc.record({ enum: fc.uniqueArray(scalar, { minLength: 1, maxLength: 4 }) }),
  fc.record({
    type: fc.constantFrom('string', 'integer'),
    enum: fc.uniqueArray(scalar, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ const: scalar }),
)

const nullable = fc.constantFrom<JsonObject>(
  { type: ['string', 'null'] },
  { type: ['string', 'number', 'null'] },
  { type: 'string', nullable: true },
  { type: 'null' },
  { anyOf: [{ type: 'string' }, { type: 'null' }], default: null },
)

const reference = fc.constantFrom<JsonObject>(
  { $ref: '#/$defs/leaf' },
  { $ref: '#/$defs/node' },
  { $ref: '#/definitions/old' },
  { $ref: '#' },
  { $ref: '#/$defs/leaf', description: 'beside' },
  { $ref: '#/nowhere' },
  { $ref: 'https://example.com/other.json' },
)

/** Random schemas: mostly sound, with every oddity that real tools bring along. */
export const schemaArbitrary: fc.Arbitrary<JsonObject> = fc
  .letrec<{ any: Json; object: JsonObject }>((tie) => ({
    any: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      { weight: 4, arbitrary: merged(text, remarks) },
      { weight: 3, arbitrary: merged(number, remarks) },
      { weight: 3, arbitrary: merged(listed, remarks) },
      { weight: 2, arbitrary: merged(nullable, remarks) },
      {
        weight: 1,
        arbitrary: fc.constantFrom<Json>({}, true, { type: 'boolean' }, { type: 'object' }, { type: 'array' }),
      },
      { weight: 1, arbitrary: reference },
      { weight: 4, arbitrary: merged(tie('object'), remarks) },
      { weight: 2, arbitrary: fc.record({ type: fc.constant('array'), items: tie('any') }) },
      {
        weight: 1,
        arbitrary: fc.record({
          type: fc.constant('array'),
          prefixItems: fc.array(tie('any'), { maxLength: 2 }),
          items: tie('any'),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ type: fc.constant('array'), items: fc.array(tie('any'), { maxLength: 2 }) }),
      },
      { weight: 2, arbitrary: merged(fc.record({ anyOf: fc.array(tie('any'), { maxLength: 3 }) }), remarks) },
      { weight: 1, arbitrary: fc.record({ oneOf: fc.array(tie('any'), { minLength: 1, maxLength: 3 }) }) },
      { weight: 1, arbitrary: fc.record({ allOf: fc.array(tie('any'), { minLength: 1, maxLength: 2 }) }) },
      { weight: 1, arbitrary: fc.record({ not: tie('any') }) },
    ),
    object: fc
      .tuple(
        fc.dictionary(key, tie('any'), { maxKeys: 3, noNullPrototype: true }),
        fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
        often<Json>(['', false], [true, { type: 'string' }]),
        often([''], ['typeless', 'conditional', 'patterned', 'either', 'ghost']),
      )
      .map(([properties, required, more, kind]) => objectSchema(properties, required, more, kind)),
  }))
  .object.chain((root) => fc.tuple(fc.constant(root), rootKind, rootKind).map(([schema, kind]) => asRoot(schema, kind)))

const rootKind = fc.constantFrom('plain', 'plain', 'plain', 'anyOf', 'ref', 'draft7')

/** Mostly sound values, now and then an odd one. */
function often<T>(sound: T[], odd: T[]): fc.Arbitrary<T> {
  const rare = { weight: 1, arbitrary: fc.constantFrom(...odd) }
  return fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...sound) }, rare)
}

function merged(a: fc.Arbitrary<JsonObject>, b: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> {
  return fc.tuple(a, b).map(([left, right]) => ({ ...right, ...left }))
}

function objectSchema(properties: JsonObject, marks: boolean[], more: Json, kind: string): JsonObject {
  const required: Json[] = Object.keys(properties).filter((_name, index) => marks[index])
  if (kind === 'ghost') required.push('ghost')
  const out: JsonObject = { type: 'object', properties, required }
  if (more !== '') out['additionalProperties'] = more
  if (kind === 'typeless') delete out['type']
  if (kind === 'patterned') out['patternProperties'] = { '^x-': { type: 'string' } }
  if (kind === 'either') out['anyOf'] = [{ required: ['path'] }, { required: ['limit'] }]
  if (kind === 'conditional') {
    const rule = '{"if":{"properties":{"path":{"const":"a"}}},"then":{"properties":{"extra":{"type":"string"}}}}'
    Object.assign(out, JSON.parse(rule))
  }
  return out
}

function asRoot(schema: JsonObject, kind: string): JsonObject {
  const leaf = {
    type: 'object',
    properties: { path: { type: 'string' }, 'filter[id]': { type: 'integer', enum: [1, 2] } },
  }
  const node = {
    type: 'object',
    properties: { 'a b': { $ref: '#/$defs/node' }, list: { type: 'array', items: { $ref: '#/$defs/node' } } },
  }
  const old = { type: 'integer' }
  const defs = { $defs: { leaf, node, root: schema }, definitions: { old } }
  if (kind === 'ref') return { $ref: '#/$defs/root', ...defs }
  if (kind === 'anyOf') return { type: 'object', anyOf: [schema, { $ref: '#/$defs/leaf' }], ...defs }
  if (kind === 'draft7')
    return { $schema: 'http://json-schema.org/draft-07/schema#', $id: 'https://example.com/a', ...schema, ...defs }
  return { ...schema, ...defs }
}

/** A value that has a fair chance to be valid under the schema; the caller checks. */
export function sample(schema: JsonObject, seed: number, extras: readonly string[] = ['x-1', 'other']): Json {
  return pick(schema, { resolve: createRefResolver(schema), random: mulberry(seed), extras }, 0)
}

interface Sampler {
  resolve: RefResolver
  random: () => number
  extras: readonly string[]
}

/** A small generator of random numbers, so that a printed seed repeats a run. */
function mulberry(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

function choose<T>(list: readonly T[], sampler: Sampler): T | undefined {
  return list[Math.floor(sampler.random() * list.length)]
}

function pick(schema: unknown, sampler: Sampler, depth: number): Json {
  if (!isJsonObject(schema)) return choose<Json>(['any', 1, null, { any: 1 }], sampler) ?? null
  const ref = getRef(schema)
  if (ref !== undefined && depth < 12) return pick(sampler.resolve(ref), sampler, depth + 1)
  if (Object.hasOwn(schema, 'const')) return schema['const'] ?? null
  if (Array.isArray(schema['enum'])) return choose(schema['enum'], sampler) ?? null
  const union = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(union) && schema['properties'] === undefined)
    return pick(choose(union, sampler), sampler, depth + 1)
  if (Array.isArray(union))
    return Object.assign(pickObject(schema, sampler, depth), pickObject(choose(union, sampler), sampler, depth))
  if (Array.isArray(schema['allOf'])) return pick(choose(schema['allOf'], sampler), sampler, depth + 1)
  const types = getDeclaredTypes(schema)
  if (schema['nullable'] === true) types.push('null')
  return pickType(choose(types, sampler) ?? '', schema, sampler, depth)
}

function pickType(type: string, schema: JsonObject, sampler: Sampler, depth: number): Json {
  switch (type.toLowerCase()) {
    case 'string':
      return choose(['a', 'b', '', 'abc', '12', 'null'], sampler) ?? ''
    case 'number':
    case 'integer':
    case 'int':
      return choose([0, 1, 2, 5], sampler) ?? 0
    case 'boolean':
      return sampler.random() < 0.5
    case 'null':
      return null
    case 'array':
      return pickArray(schema, sampler, depth)
    case 'object':
      return pickObject(schema, sampler, depth)
    default:
      return schema['properties'] === undefined
        ? (choose<Json>(['any', 1], sampler) ?? null)
        : pickObject(schema, sampler, depth)
  }
}

function pickArray(schema: JsonObject, sampler: Sampler, depth: number): Json {
  if (depth > 6) return []
  const fixed = [schema['prefixItems'], schema['items']].find(Array.isArray) ?? []
  const rest = Array.isArray(schema['items']) ? {} : schema['items']
  const length = Math.floor(sampler.random() * 3)
  return Array.from({ length }, (_unused, index) => pick(fixed[index] ?? rest, sampler, depth + 1))
}

function pickObject(schema: unknown, sampler: Sampler, depth: number): JsonObject {
  const out: JsonObject = {}
  if (!isJsonObject(schema)) return out
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const { properties } = schema
  for (const name of isJsonObject(properties) ? Object.keys(properties) : []) {
    const wanted = required.includes(name) || sampler.random() < (depth > 6 ? 0 : 0.6)
    if (wanted && isJsonObject(properties)) setOwn(out, name, pick(getOwn(properties, name), sampler, depth + 1))
  }
  for (const name of required) if (typeof name === 'string' && !Object.hasOwn(out, name)) setOwn(out, name, 'given')
  if (schema['additionalProperties'] !== false && sampler.random() < 0.3)
    setOwn(out, choose(sampler.extras, sampler) ?? 'x', 'more')
  return out
}
