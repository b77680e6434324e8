// Builds dist/ with esbuild. With --types, also the declarations that a published package needs.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { bundle } from './lib/bundle.mjs'
import { bundleLibrary, libraryEntries } from './lib/bundle-library.mjs'
import { markEager } from './lib/eager.mjs'
import { filesUnder, fingerprint, inRoot, isMain, readStamp } from './lib/files.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { withLock } from './lib/lock.mjs'
import { noticesOf } from './lib/notices.mjs'
import { binOf, runNode } from './lib/run.mjs'
import { findStartFunctions, warmUp } from './lib/warm-up.mjs'

/**
 * Modules that are loaded at the first call of one of their functions, in the groups that they belong to. No run needs them
 * before its first request.
 */
const deferredByGroup = {
  response: [
    'src/agent/loop/handle-model-response.ts',
    'src/wire/anthropic/decode-response.ts',
    'src/wire/framing/framer.ts',
    'src/wire/gemini/decode-response.ts',
    'src/wire/openai-chat/decode-response.ts',
    'src/wire/openai-responses/decode-response.ts',
  ],
  calls: [
    'src/agent/calls/execute-calls.ts',
    'src/host/files/opened-path.ts',
    'src/host/files/walk-folders.ts',
    'src/host/process/kill-on-exit.ts',
    'src/host/process/local-processes.ts',
    'src/host/process/process-group.ts',
    'src/host/process/stdio-process.ts',
    'src/host/sandbox/bubblewrap.ts',
    'src/host/sandbox/detect-sandbox.ts',
    'src/host/sandbox/protect/path-guard.ts',
    'src/host/sandbox/sandbox.ts',
    'src/policy/approval-policy.ts',
    'src/policy/url/check-url.ts',
    'src/schema/coerce/coerce-arguments.ts',
    'src/schema/dialect/argument-mapper.ts',
    'src/schema/validate/compile-schema.ts',
    'src/schema/validate/validate.ts',
    'src/tool/builtin/support/choose-files.ts',
    'src/tool/builtin/support/edit-proposal.ts',
    'src/tool/edit/apply-smart-edit.ts',
    'src/tool/edit/match/nearest-passage.ts',
    'src/tool/file-search/glob.ts',
    'src/tool/file-search/search-files.ts',
    'src/tool/file-search/walk-files.ts',
    'src/tool/text/legacy-encoding.ts',
    'src/tool/text/read-large-file.ts',
  ],
  rare: [
    'src/agent/output/check-output.ts',
    'src/agent/output/output-contract.ts',
    'src/agent/output/partial-output.ts',
    'src/cli/output/stream-json-output.ts',
    'src/provider/create-provider.ts',
    'src/provider/fetch-server-context-window.ts',
    'src/provider/middleware/recording/record-exchanges.ts',
    'src/schema/dialect/openai-strict.ts',
    'src/schema/normalize/repair-schema.ts',
    'src/schema/regex-safety.ts',
    'src/session/store/memory-store.ts',
    'src/session/undo-plan.ts',
    'src/tool/mcp/client/import-servers.ts',
    'src/wire/anthropic/read-request.ts',
    'src/wire/gemini/read-request.ts',
    'src/wire/openai-chat/read-request.ts',
    'src/wire/openai-responses/read-request.ts',
  ],
}

/** What most runs load: a few files instead of dozens. A chunk is in the first group that needs it. */
const hot = {
  entry: 'src/cli/main.ts',
  deferred: new Map(Object.entries(deferredByGroup).flatMap(([group, sources]) => sources.map((one) => [one, group]))),
  groups: {
    // Until the first request is sent.
    start: [
      'src/cli/main.ts',
      'src/cli/command/run.ts',
      'src/cli/headless.ts',
      'src/cli/setup/subagents.ts',
      'src/host/local-host.ts',
      'src/host/files/record-changes.ts',
      'src/tool/builtin/index.ts',
    ],
    'openai-chat': ['src/wire/openai-chat/wire.ts'],
    'openai-responses': ['src/wire/openai-responses/wire.ts'],
    anthropic: ['src/wire/anthropic/wire.ts'],
    gemini: ['src/wire/gemini/wire.ts', 'src/wire/code-assist/wire.ts'],
    ...deferredByGroup,
    calls: [...deferredByGroup.calls, 'src/tool/text/diff.ts'],
    catalog: ['src/provider/catalog.ts'],
    tui: ['src/cli/tui/app.ts', 'src/cli/tui/view/highlight.ts'],
  },
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
/** The build is complete without marks; a test makes sure that there are some. */
async function tryToMark(file, functions) {
  try {
    await markEager(file, functions)
  } catch (error) {
    console.error(`dragoman: ${file} was not marked, so the first start takes longer: ${error.message}`)
  }
}

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
  for (const [file, functions] of await findStartFunctions()) await tryToMark(file, functions)
  writeFileSync(inRoot(buildStamp), types ? `${print} types` : print)
  await warmUp()
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
