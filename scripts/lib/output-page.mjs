// docs/output.md, from the schema of the output.
import { readFileSync } from 'node:fs'
import { inRoot } from './files.mjs'
import { code, table } from './table.mjs'

/** The page about the output for programs. */
export function outputPage({ EVENTS_SCHEMA, END_REASONS, ERROR_TYPE_DESCRIPTIONS }) {
  const { json, line, stats, ...definitions } = EVENTS_SCHEMA.$defs
  const named = (values) => Object.entries(values).map(([name, about]) => [code(name), about])
  const lines = line.oneOf.map(({ $ref }) => $ref.split('/').at(-1))
  return readFileSync(inRoot('scripts/lib/output-page.md'), 'utf8')
    .replace('{{reasons}}', () => table(['reason', 'meaning'], named(END_REASONS)))
    .replace('{{errors}}', () => table(['type', 'meaning'], named(ERROR_TYPE_DESCRIPTIONS)))
    .replace('{{json}}', () => fields(json))
    .replace('{{json-example}}', () => JSON.stringify(json.examples[0], undefined, 2))
    .replace('{{stats}}', () => fields(stats))
    .replace('{{lines}}', () => lines.map((type) => section(type, definitions[type])).join('\n\n'))
}

function section(type, { description, properties, required, examples }) {
  const { type: _type, timestamp: _timestamp, ...own } = properties
  const example = JSON.stringify(examples[0])
  return `### ${type}\n\n${description}\n\n${fields({ properties: own, required })}\n\n\`\`\`json\n${example}\n\`\`\``
}

function fields({ properties, required }) {
  const rows = Object.entries(properties).map(([name, schema]) => [
    code(name) + (required.includes(name) ? '' : ' (optional)'),
    kind(schema),
    meaning(schema),
  ])
  return table(['field', 'type', 'meaning'], rows)
}

function kind({ type, enum: values, $ref }) {
  if ($ref) return 'object'
  return values ? 'string' : [type].flat().join(' or ')
}

function meaning({ description = '', enum: values, $ref }) {
  if ($ref === '#/$defs/failure') return '`type` and `message`, see [error types](#error-types)'
  if ($ref) return 'what the run used and did, see [stats](#stats)'
  if (!values) return description
  return values.length > 8
    ? `${description}, see [reasons](#reasons)`
    : `${description}: ${values.map(code).join(', ')}`
}
