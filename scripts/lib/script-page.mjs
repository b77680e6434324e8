// docs/rehearsal-scripts.md, from the schema of scripts and the table of misbehaviours.
import { readFileSync } from 'node:fs'
import { inRoot } from './files.mjs'
import { code, table } from './table.mjs'

/** The page about the scripts of scripted models. */
export function scriptPage({ REHEARSAL_SCRIPT_SCHEMA, MISBEHAVIOURS, SIMPLE_MISBEHAVIOURS }) {
  const { $defs, ...script } = REHEARSAL_SCRIPT_SCHEMA
  const kinds = Object.entries(MISBEHAVIOURS).map(([kind, { about, wires }]) => [
    code(kind in SIMPLE_MISBEHAVIOURS ? kind : `{ "kind": "${kind}", … }`),
    about,
    wires ? wires.map(code).join(', ') : 'all',
  ])
  const parts = { script, ...$defs }
  return readFileSync(inRoot('scripts/lib/script-page.md'), 'utf8')
    .replace('{{kinds}}', () => table(['kind', 'what happens', 'wires'], kinds))
    .replace(/\{\{(\w+)\}\}/g, (_all, name) => table(['key', 'value', 'meaning'], rows(parts[name])))
}

/** One row for each key, with those of objects inside below it. */
function rows({ properties, required }, prefix = '') {
  return Object.entries(properties).flatMap(([key, schema]) => [
    [code(prefix + key) + (required.includes(key) ? ' (required)' : ''), describeValue(schema), schema.description],
    ...(schema.properties ? rows(schema, `${prefix}${key}.`) : []),
  ])
}

/** What a value may be. */
function describeValue({ type, enum: values, $ref, anyOf, items }) {
  if (values) return values.length > 12 ? '[kind](#misbehaviours)' : values.map(code).join(', ')
  if ($ref) return LINKS[$ref.split('/').at(-1)]
  if (anyOf) return [...new Set(anyOf.map(describeValue))].join(', or ')
  if (type === 'array') return items.properties?.name ? 'list of [calls](#calls)' : `list of ${describeValue(items)}`
  return NAMES[type] ?? 'any value'
}

const NAMES = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: '`true` or `false`',
  object: 'object',
}

const LINKS = {
  entry: '[steps](#steps) and [loops](#loops)',
  step: '[step](#steps)',
  expectation: '[conditions](#conditions)',
  pattern: '[pattern](#patterns)',
}
