// docs/configuration.md, from the schema of the settings.
import { readFileSync } from 'node:fs'
import { inRoot } from './files.mjs'
import { code, table } from './table.mjs'

/** The page about settings: the text is in a file beside this one, the tables come from the schema. */
export function configPage({ CONFIG_SCHEMA, ENVIRONMENT_VARIABLES }) {
  const { $schema: _own, ...properties } = CONFIG_SCHEMA.properties
  const nested = Object.entries(properties).flatMap(([name, schema]) => sections(name, schema))
  return readFileSync(inRoot('scripts/lib/config-page.md'), 'utf8')
    .replace('{{settings}}', () => settings(properties, []))
    .replace('{{sections}}', () => nested.join('\n\n'))
    .replace('{{variables}}', () =>
      table(
        ['Variable', 'Meaning'],
        ENVIRONMENT_VARIABLES.map(([name, about]) => [code(name), about]),
      ),
    )
}

/** A section for every setting that has nested settings. */
function sections(name, schema) {
  const inner = schema.properties ?? schema.additionalProperties?.properties
  if (!inner) return []
  const title = schema.properties ? name : `${name}.<name>`
  const required = schema.required ?? schema.additionalProperties?.required ?? []
  const deeper = Object.entries(inner).flatMap(([key, one]) => sections(`${title}.${key}`, one))
  return [`### ${code(title)}\n\n${settings(inner, required)}`, ...deeper]
}

function settings(properties, required) {
  return table(
    ['Key', 'Type', 'Meaning'],
    Object.entries(properties).map(([key, schema]) => [
      code(key) + (required.includes(key) ? ' (required)' : ''),
      takes(schema),
      schema.description ?? '',
    ]),
  )
}

/** The type of a setting, in words. */
function takes({ enum: values, type, items, properties, additionalProperties: inner, anyOf, ...limits }) {
  if (values) return values.map(code).join(', ')
  if (anyOf)
    return anyOf
      .map((one) => (one.properties ? code(`{ ${Object.keys(one.properties).join(', ')} }`) : takes(one)))
      .join(' or ')
  if (type === 'array') return `list (${items ? takes(items) : 'anything'})`
  if (type === 'object' && properties) return 'object, see below'
  if (type === 'object' && inner) return `map (${inner.properties ? 'object, see below' : takes(inner)})`
  const most = limits.maximum === undefined ? '' : `, at most ${limits.maximum}`
  const least = limits.exclusiveMinimum === undefined ? '' : ` above ${limits.exclusiveMinimum}`
  return `${type ?? 'object'}${least}${most}`
}
