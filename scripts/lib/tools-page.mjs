// docs/tools.md, from the tools.
import { readFileSync } from 'node:fs'
import { inRoot } from './files.mjs'

/** The page about tools: the description of each for the model, and its parameters. */
export function toolsPage({ builtinTools }) {
  // All tools, also those that depend on the model.
  const model = { serverTools: ['google_search'], query: () => Promise.reject(new Error('nobody is asked')) }
  const skills = { skills: [], load: () => Promise.resolve({ problem: '' }) }
  const tools = builtinTools({ memory: 'memory', web: { model }, plan: true, skills })
  return readFileSync(inRoot('scripts/lib/tools-page.md'), 'utf8')
    .replace('{{table}}', () =>
      ['| Tool | Description |', '|---|---|', ...tools.map(({ spec }) => row(spec))].join('\n'),
    )
    .replace('{{tools}}', () => tools.map(section).join('\n\n'))
}

function row({ name, description }) {
  return `| [\`${name}\`](#${name}) | ${description.split(/(?<=\.)\s|(?=: )/, 1)[0].replaceAll('|', '\\|')} |`
}

function section({ spec: { name, description, schema }, nameAliases = [] }) {
  const needed = schema.required ?? []
  const lines = Object.entries(schema.properties).map(([key, { type, description: about = '' }]) => {
    const optional = needed.includes(key) ? '' : ', optional'
    return `- \`${key}\` (${type}${optional})${about === '' ? '' : `: ${about}`}`
  })
  const names = nameAliases.filter(({ parameters }) => parameters).map((alias) => `\`${alias.name}\``)
  const also = names.length === 0 ? [] : [`Also accepted as ${names.join(', ')}.`]
  return [`### ${name}`, description.trim(), lines.join('\n'), ...also].join('\n\n')
}
