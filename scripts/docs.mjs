// npm run docs: writes the pages that are generated from the sources: the man page, the tools, the settings and their schema,
// the API reference, the commands and keys of the terminal, the JSON output and its schema, the scripts of scripted models, the
// dialects of calls written as text.
// With --check it writes nothing, and fails if one of
// them is not up to date.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundle, ownFolder } from './lib/bundle.mjs'
import { apiPage } from './lib/api-page.mjs'
import { configPage } from './lib/config-page.mjs'
import { inRoot } from './lib/files.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { manPage } from './lib/man-page.mjs'
import { outputPage } from './lib/output-page.mjs'
import { scriptPage } from './lib/script-page.mjs'
import { terminalPage } from './lib/terminal-page.mjs'
import { textCallsPage } from './lib/text-calls-page.mjs'
import { toolsPage } from './lib/tools-page.mjs'

const sources = [
  'cli/args/options',
  'cli/command/spec',
  'cli/command/specs',
  'cli/args/run-help',
  'cli/config/schema',
  'cli/output/events-schema',
  'cli/tui/slash/builtin-commands',
  'cli/tui/slash/keys',
  'policy/policy',
  'rehearsal/misbehaviour/misbehaviour',
  'rehearsal/script/script-schema',
  'tool/builtin/index',
  'wire/text-calls/dialects/dialects',
]

process.exitCode = (await main(process.argv.includes('--check'))) ? 0 : 1

async function main(check) {
  if (!(await ensureInstalled())) return false
  const out = ownFolder('docs')
  if (!(await bundle({ entries: sources.map((name) => `src/${name}.ts`), base: 'src', out, sourcemap: false })))
    return false
  const modules = await Promise.all(sources.map((name) => import(pathToFileURL(inRoot(out, `${name}.js`)).href)))
  const tables = Object.assign({}, ...modules)
  const { version, exports } = JSON.parse(readFileSync(inRoot('package.json'), 'utf8'))
  const entries = Object.fromEntries(
    Object.entries(exports).flatMap(([path, target]) => {
      const file = target.import?.default
      return file ? [[path.replace(/^\./, 'dragoman'), file.replace(/^\.\/dist(.*)\.js$/, 'src$1.ts')]] : []
    }),
  )
  const pages = {
    'man/dragoman.1': manPage({ ...tables, version }),
    'docs/api.md': apiPage(entries),
    'docs/configuration.md': configPage(tables),
    'docs/tools.md': toolsPage(tables),
    'docs/slash-commands.md': terminalPage(tables),
    'docs/output.md': outputPage(tables),
    'docs/rehearsal-scripts.md': scriptPage(tables),
    'docs/text-calls.md': textCallsPage(tables),
    'docs/events.schema.json': `${JSON.stringify(tables.EVENTS_SCHEMA, undefined, 2)}\n`,
    'docs/config.schema.json': `${JSON.stringify(tables.CONFIG_SCHEMA, undefined, 2)}\n`,
  }
  const stale = Object.entries(pages).filter(([path, text]) => readOr(path) !== text)
  if (!check) for (const [path, text] of stale) write(path, text)
  for (const [path] of stale) console.log(check ? `${path} is not up to date; run npm run docs` : `${path} was written`)
  return !check || stale.length === 0
}

function readOr(path) {
  try {
    return readFileSync(inRoot(path), 'utf8')
  } catch {
    return undefined
  }
}

function write(path, text) {
  mkdirSync(dirname(inRoot(path)), { recursive: true })
  writeFileSync(inRoot(path), text)
}
