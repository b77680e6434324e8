// npm test: type-check, lint, format check and the tests. `npm test -- wire` runs only the test files with "wire" in
// their path (several words: any of them); the three checks cover everything. `npm test -- --only wire` skips the checks.
// `npm test -- --without bwrap,tmux` hides these programs, and runs the test files whose outcome could depend on them;
// DRAGOMAN_TEST_HIDE=bwrap,tmux hides them in a whole run.
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, posix } from 'node:path'
import { parseArgs } from 'node:util'
import { ensureBuilt } from './ensure.mjs'
import { bundle, ownFolder, stopBundler } from './lib/bundle.mjs'
import { filesUnder, inRoot } from './lib/files.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { binOf, runNode } from './lib/run.mjs'
import { testEnvironment } from './lib/test-env.mjs'

const started = performance.now()
const { positionals: words, values } = parseArgs({
  options: { only: { type: 'boolean' }, without: { type: 'string' } },
  allowPositionals: true,
})
const hidden = (values.without ?? process.env.DRAGOMAN_TEST_HIDE ?? '').split(',').filter((name) => name !== '')
const steps = []
/** Each asks some tests for more cases than usual. */
const LONGER = ['CASES', 'CRASHES', 'FAULTS', 'KILLS', 'LOGS', 'STORM'].map((name) => `DRAGOMAN_${name}`)
const PROGRAM_WORDS = /\b(?:bwrap|bubblewrap|tmux|zsh|fish|chromium|sandbox|run_shell_command)\b/
/** No sandbox is looked for. */
const SANDBOX_OFF = /(?:--sandbox',\s*|\bsandbox: )'off'/g
const formatted = ['src', 'types', 'test', 'bench', 'examples', 'scripts']

if (await step('install', ensureInstalled)) {
  await step('build', ensureBuilt) // A build that fails is a failure, but hides no other.
  const all = filesUnder('test').filter((path) => path.endsWith('.test.ts'))
  const named = words.length === 0 ? all : all.filter((path) => words.some((word) => path.includes(word)))
  const chosen = values.without === undefined ? named : named.filter((path) => dependsOnPrograms(path))
  const out = ownFolder('test')

  // These need only the sources, so they share the processor.
  const [bundled] = await Promise.all([
    chosen.length > 0 && step('bundle', () => bundle({ entries: chosen, base: 'test', out })),
    ...(values.only ? [] : runChecks()),
  ])
  await stopBundler()

  const without = hidden.length === 0 ? '' : `, without ${hidden.join(', ')}`
  const filter = `${words.length === 0 ? '' : `, filter: ${words.join(' ')}`}${without}`
  const tests = `tests (${chosen.length} of ${all.length} files${filter})`
  console.log(`${chosen.length} of ${all.length} test files${filter}`)
  if (chosen.length === 0) console.error('No test file matches: nothing was tested.')
  if (bundled)
    await step(tests, () => runTests(chosen.map((path) => path.replace(/^test/, out).replace(/\.ts$/, '.js'))))
  else if (chosen.length === 0) await step(tests, () => false)
}

const failed = steps.filter(({ ok }) => !ok).map(({ name }) => name)
const passed = steps.filter(({ ok }) => ok).map(({ name }) => name)
const seconds = ((performance.now() - started) / 1000).toFixed(1)
const verdict = failed.length === 0 ? 'PASSED' : `FAILED: ${failed.join(', ')}; passed`
console.log(`\n${verdict}: ${passed.join(', ') || 'nothing'} (${seconds} s)`)
process.exitCode = failed.length === 0 ? 0 : 1

function runChecks() {
  const tsc = binOf('typescript', 'tsc')
  return [
    step('types', async () => (await check([tsc])) && (await check([tsc, '-p', 'src/gateway/inspector/page']))),
    step('lint', () => check([binOf('oxlint')])),
    step('format', () => check([binOf('oxfmt'), '--check', '--no-error-on-unmatched-pattern', ...formatted])),
  ]
}

/** Does one step and remembers how it went. */
async function step(name, work) {
  const ok = Boolean(await work())
  steps.push({ name, ok })
  return ok
}

/** Runs a checking program; shows what it printed only when it found something. */
async function check(args) {
  const { ok, output } = await runNode(args, { quiet: true })
  if (!ok) console.error(output.trimEnd())
  return ok
}

/** Each file is a process of its own. Tests wait for much, so there is one more at a time than there are processors. */
async function runTests(files) {
  const concurrency = availableParallelism() + 1
  // A file that hangs must not hold up a run for long; only who asks for more cases than usual gets more time.
  const timeout = process.env.DRAGOMAN_CHAOS
    ? 4 * 3_600_000
    : LONGER.some((name) => process.env[name])
      ? 3_600_000
      : 900_000
  const flags = ['--enable-source-maps', '--test-reporter=spec', `--test-timeout=${timeout}`]
  const env = testEnvironment(hidden)
  return (await runNode(['--test', ...flags, `--test-concurrency=${concurrency}`, ...files], { env })).ok
}

/**
 * Could a test file end otherwise without these programs? So could one that starts a shell command, a sandbox, a terminal, a shell or a
 * browser, by itself or in a file of the tests that it imports. Approval modes start nothing.
 */
function dependsOnPrograms(path, seen = new Set()) {
  seen.add(path)
  if (!existsSync(inRoot(path))) return false // Some tests write sources of their own.
  const text = readFileSync(inRoot(path), 'utf8')
  if (PROGRAM_WORDS.test(text.replaceAll(SANDBOX_OFF, ''))) return true
  const imports = [...text.matchAll(/ from '(\.[^']+\.ts)'/g)].map(([, file]) => posix.join(dirname(path), file))
  return imports.some((file) => file.startsWith('test/') && !seen.has(file) && dependsOnPrograms(file, seen))
}
