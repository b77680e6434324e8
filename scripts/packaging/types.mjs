import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { exec, runTool } from './exec.mjs'
import { findHiddenTypes } from './hidden-types.mjs'
import { AGENT_USE, EMBED_USE, INTERACTIONS_SDK_USE, SDK_USE } from './type-uses.mjs'

const VERSIONS = ['5.4', '5.9', '7']
const RESOLUTIONS = { bundler: 'esnext', node16: 'node16', nodenext: 'nodenext' }

/** What type checkers and linters of packages say. */
export function typeRows({ tarball, tools, app, sdks }) {
  const each = (names, check) => Object.fromEntries(names.map((name) => [name, () => check(name)]))
  return [
    { name: 'publint', cells: { '': () => quiet(runTool(tools, 'publint', ['--strict', tarball], tools)) } },
    {
      name: 'attw (ES modules, CommonJS, bundlers)',
      cells: { '': () => quiet(runTool(tools, 'attw', [tarball, '--profile', 'node16'], tools)) },
    },
    ...VERSIONS.map((version) => ({
      name: `tsc ${version}, declarations, no SDK installed`,
      cells: each(Object.keys(RESOLUTIONS), (resolution) => checkTypes({ tools, app, version, resolution })),
    })),
    {
      name: 'tsc 5.9, embed, without Node',
      cells: { bundler: () => checkTypes({ tools, app, version: '5.9', resolution: 'bundler', isBrowser: true }) },
    },
    {
      name: 'types of openai 5, Anthropic SDK 0.37, genai 1, and of today',
      cells: each(Object.keys(sdks), (name) => {
        const uses = { 'sdk.mts': SDK_USE, ...(name === 'newer' && { 'interactions.mts': INTERACTIONS_SDK_USE }) }
        return checkTypes({ tools, app: sdks[name], version: '5.9', resolution: 'nodenext', uses })
      }),
    },
    {
      name: 'every type of embed has a name',
      cells: { '': () => noHiddenTypes(tools, app, /^\.\/embed/) },
    },
  ]
}

async function quiet(output) {
  await output
}

/** Compiles a user's files, with declarations, and with the library's declarations checked too. */
async function checkTypes({ tools, app, version, resolution, isBrowser = false, uses }) {
  const folder = mkdtempSync(join(app, 'types-'))
  const isCommonJs = resolution !== 'bundler'
  const sources = uses ?? {
    'embed.mts': EMBED_USE,
    ...(isBrowser ? {} : { 'agent.mts': AGENT_USE }),
    ...(isCommonJs && { 'embed.cts': EMBED_USE, 'agent.cts': AGENT_USE }),
  }
  for (const [name, text] of Object.entries(sources)) writeFileSync(join(folder, name), text)
  mkdirSync(join(folder, 'node_modules/@types'), { recursive: true })
  if (!isBrowser) symlinkSync(join(tools, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'))
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    target: 'es2022',
    module: RESOLUTIONS[resolution],
    moduleResolution: resolution,
    declaration: true,
    outDir: 'out',
    // The vendors' own declarations are not ours to check.
    skipLibCheck: uses !== undefined,
    types: isBrowser ? [] : ['node'],
    ...(isBrowser && { lib: ['es2022', 'dom', 'dom.asynciterable'] }),
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: Object.keys(sources) }))
  const package_ = join(tools, 'node_modules', `typescript-${version}`)
  await exec(process.execPath, [join(package_, 'bin/tsc'), '-p', folder], folder)
}

/** The types that a user's inferred types may mention, but that no entry point exports under a name. */
function noHiddenTypes(tools, app, entries) {
  const typescript = createRequire(join(tools, 'package.json'))('typescript-5.9')
  const hidden = findHiddenTypes(typescript, join(app, 'node_modules/dragoman'), entries)
  if (hidden.length > 0) throw new Error(`${hidden.length}: ${hidden.join(', ')}`)
}
