import * as fc from 'fast-check'
import type { Json, JsonObject } from '../../src/model/json.ts'

/** A tool with a random schema, and a call of it that fits the schema. */
export interface WrittenCall {
  readonly name: string
  readonly schema: JsonObject
  readonly args: JsonObject
}

/** Not every notation can write these keys. */
export const ODD_KEYS = ['a b', 'x-y', 'k.1', 'ключ', '__proto__', '<k>']

const keyName = fc.constantFrom(
  'path',
  'command',
  'query',
  'limit',
  'all',
  'tags',
  'options',
  'name',
  'arguments',
  'type',
  'x_1',
  ...ODD_KEYS,
)

/** Any text, also what looks like numbers, literals, markup or the end of the call. */
export function textValues(scraps: readonly string[]): fc.Arbitrary<string> {
  const words = [
    '',
    ' ',
    'ls -la',
    '12',
    '-0.5',
    '007',
    '1e3',
    'true',
    'None',
    'null',
    '[1]',
    '{"a": 1}',
    "it's",
    'a "b"',
    '\\n',
    'C:\\dir',
    '\\',
    '\n',
    ' x\n',
    '\n\nx\n\n',
    '\t',
    '漢字',
    '👩‍🚀 🚀',
    '\u{1F600}',
    '</',
    '&lt;',
    '&amp;',
    '```\ncode\n```',
    '`',
    '> q',
    '{',
    '}}',
    ']',
    ')',
    '"}',
    ',',
  ]
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...words) },
    { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength: 30 }) },
    { weight: 1, arbitrary: fc.string({ unit: 'grapheme', minLength: 300, maxLength: 1200 }) },
    {
      weight: 2,
      arbitrary: fc.array(fc.constantFrom(...words, ...scraps), { maxLength: 4 }).map((parts) => parts.join('')),
    },
  )
}

type Typed = readonly [schema: JsonObject, value: Json]

function typedValue(text: fc.Arbitrary<string>, depth: number): fc.Arbitrary<Typed> {
  const scalars: fc.Arbitrary<Typed>[] = [
    text.map((value): Typed => [{ type: 'string' }, value]),
    fc.integer().map((value): Typed => [{ type: 'integer' }, value]),
    fc
      .double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 })
      .map((value): Typed => [{ type: 'number' }, value === 0 ? 0 : value]),
    fc.boolean().map((value): Typed => [{ type: 'boolean' }, value]),
  ]
  if (depth === 0) return fc.oneof({ weight: 3, arbitrary: scalars[0] ?? fc.constant([{}, '']) }, ...scalars.slice(1))
  const lists = fc.oneof(
    fc
      .array(text, { minLength: 1, maxLength: 3 })
      .map((value): Typed => [{ type: 'array', items: { type: 'string' } }, value]),
    fc
      .array(fc.integer(), { minLength: 1, maxLength: 3 })
      .map((value): Typed => [{ type: 'array', items: { type: 'integer' } }, value]),
  )
  const objects = members(text, depth - 1).filter(([, value]) => Object.keys(value as JsonObject).length > 0)
  return fc.oneof(
    { weight: 5, arbitrary: fc.oneof(...scalars) },
    { weight: 1, arbitrary: lists },
    { weight: 1, arbitrary: objects },
  )
}

function members(text: fc.Arbitrary<string>, depth: number): fc.Arbitrary<Typed> {
  return fc.dictionary(keyName, typedValue(text, depth), { maxKeys: 4 }).map((typed): Typed => {
    const entries = Object.entries(typed)
    const properties = Object.fromEntries(entries.map(([key, [schema]]) => [key, schema]))
    return [{ type: 'object', properties }, Object.fromEntries(entries.map(([key, [, value]]) => [key, value]))]
  })
}

/** One to three calls of different tools. */
export function writtenCalls(text: fc.Arbitrary<string>): fc.Arbitrary<WrittenCall[]> {
  const names = fc.uniqueArray(
    fc.constantFrom('bash', 'read_file', 'list', 'get-weather', 'search2', 'Edit', '21st_magic'),
    {
      minLength: 1,
      maxLength: 3,
    },
  )
  return names.chain((chosen) =>
    fc.tuple(
      ...chosen.map((name) => members(text, 2).map(([schema, args]) => ({ name, schema, args: args as JsonObject }))),
    ),
  )
}
