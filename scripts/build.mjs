// Builds dist/ with esbuild. With --types, also the declarations that a published package needs.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { bundle } from './lib/bundle.mjs'
import { bundleLibrary, libraryEntries } from './lib/bundle-library.mjs'
import { filesUnder, fingerprint, inRoot, isMain, readStamp } from './lib/files.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { withLock } from './lib/lock.mjs'
import { noticesOf } from './lib/notices.mjs'
import { binOf, runNode } from './lib/run.mjs'

/** What every run loads: one file instead of dozens. */
const hot = {
  entry: 'src/cli/main.ts',
  sources: [
    'src/cli/command/run.ts',
    'src/cli/headless.ts',
    'src/cli/setup/subagents.ts',
    'src/cli/tui/app.ts',
    'src/cli/tui/view/highlight.ts',
    'src/host/local-host.ts',
    'src/host/files/record-changes.ts',
    'src/provider/catalog.ts',
    'src/tool/builtin/index.ts',
    'src/wire/anthropic/wire.ts',
    'src/wire/code-assist/wire.ts',
    'src/wire/gemini/wire.ts',
    'src/wire/openai-chat/wire.ts',
    'src/wire/openai-responses/wire.ts',
  ],
}

/** The licences of the bundled packages; made here, and shipped. */
const notices = 'THIRD-PARTY-NOTICES'

/** Where the build keeps the fingerprint of what it was built from, and whether the declarations are of the same build. */
const buildStamp = 'dist/.stamp'

/** The fingerprint of all that decides what the build is. */
const sourcePrint = () => fingerprint(['src', 'types', 'scripts', 'package.json', 'package-lock.json', 'tsconfig.json'])

/** Was dist/ built from the present sources, with the declarations if they are wanted? */
export function isBuilt({ types = false } = {}) {
  const [print, withTypes] = readStamp(buildStamp).split(' ')
  return print === sourcePrint() && existsSync(inRoot(notices)) && (!types || withTypes !== undefined)
}

/** Builds the entry points that exist. The caller holds the lock. Returns whether it went well. */
export async function build({ types = false } = {}) {
  const print = sourcePrint() // Taken first: a source saved during the build leads to another build.
  const before = filesUnder('dist')
  const command = await bundle({ entries: [hot.entry], base: 'src', out: 'dist', minify: true, hot })
  const modules = await bundleLibrary()
  if (!command || !modules) return false
  const written = [...command.files, ...modules.files]
  writeFileSync(inRoot(notices), noticesOf([...command.inputs, ...modules.inputs]))

  // What earlier builds left goes only after the new files are in place. Declarations stay until there are new ones:
  // a project that has this folder linked would lose its types.
  const isOld = (path) => !written.includes(path) && (types || !/\.d\.c?ts$/.test(path))
  for (const path of before.filter(isOld)) rmSync(inRoot(path), { force: true })
  if (types && !(await declarations())) return false
  mkdirSync(inRoot('dist'), { recursive: true })
  writeFileSync(inRoot(buildStamp), types ? `${print} types` : print)
  return true
}

/** Writes the declarations of the library's entry points, for ES modules (.d.ts) and for CommonJS (.d.cts). */
async function declarations() {
  const project = '.build/tsconfig.json'
  const files = [...filesUnder('types'), ...libraryEntries()].map((file) => `../${file}`)
  mkdirSync(inRoot('.build'), { recursive: true })
  writeFileSync(inRoot(project), JSON.stringify({ extends: '../tsconfig.build.json', files }))
  if (!(await runNode([binOf('typescript', 'tsc'), '-p', project])).ok) return false
  for (const path of filesUnder('dist').filter((file) => file.endsWith('.d.ts'))) {
    const text = readFileSync(inRoot(path), 'utf8')
    const withExtension = (extension) => text.replaceAll(/(['"]\.{1,2}\/[^'"\n]*)\.ts(?=['"])/g, `$1.${extension}`)
    writeFileSync(inRoot(path), withExtension('js'))
    writeFileSync(inRoot(path.replace(/ts$/, 'cts')), withExtension('cjs'))
  }
  return true
}

if (isMain(import.meta.url)) {
  const types = process.argv.includes('--types')
  const ok = (await ensureInstalled()) && (await withLock(() => build({ types })))
  if (!ok) process.exitCode = 1
}
