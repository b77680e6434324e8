// npm test: type-check, lint, format check and the tests. `npm test -- wire` runs only the test files with "wire" in
// their path (several words: any of them); the three checks cover everything. `npm test -- --only wire` skips the checks.
import { availableParallelism } from 'node:os'
import { ensureBuilt } from './ensure.mjs'
import { bundle, ownFolder } from './lib/bundle.mjs'
import { filesUnder } from './lib/files.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { binOf, runNode } from './lib/run.mjs'

const started = performance.now()
const skipChecks = process.argv.includes('--only')
const words = process.argv.slice(2).filter((word) => word !== '--only')
const steps = []
const formatted = ['src', 'types', 'test', 'bench', 'examples', 'scripts']

if (await step('install', ensureInstalled)) {
  await step('build', ensureBuilt) // A build that fails is a failure, but hides no other.
  const all = filesUnder('test').filter((path) => path.endsWith('.test.ts'))
  const chosen = words.length === 0 ? all : all.filter((path) => words.some((word) => path.includes(word)))
  const out = ownFolder('test')

  // These need only the sources, so they share the processor.
  const [bundled] = await Promise.all([
    chosen.length > 0 && step('bundle', () => bundle({ entries: chosen, base: 'test', out })),
    ...(skipChecks ? [] : runChecks()),
  ])

  const filter = words.length === 0 ? '' : `, filter: ${words.join(' ')}`
  const tests = `tests (${chosen.length} of ${all.length} files${filter})`
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
  return [
    step('types', () => check([binOf('typescript', 'tsc')])),
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

/** Each file is a process of its own, two or more at a time. */
async function runTests(files) {
  const concurrency = Math.max(2, availableParallelism())
  const flags = ['--enable-source-maps', '--test-reporter=spec', '--test-timeout=900000']
  return (await runNode(['--test', ...flags, `--test-concurrency=${concurrency}`, ...files], { env: seeded() })).ok
}

/** Random tests make the same cases every time, so that a failure means a change; a seed of one's own makes others. */
function seeded() {
  const seed = process.env.DRAGOMAN_SEED ?? '1'
  return { SEED: seed, FC_SEED: seed, ...process.env, DRAGOMAN_SEED: seed }
}
