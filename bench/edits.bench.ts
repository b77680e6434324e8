import { asksForAnother, attempt, type Attempt, attemptsOn, KIND_NAMES } from '../test/edits/attempt.ts'
import { type RealEdit, realEdits } from '../test/edits/real-edits.ts'
import { share, startTally, type Tally } from '../test/edits/tally.ts'
import { startRandom } from '../test/support/mutate-random.ts'
import { workspace } from '../test/tool/workspace.ts'
import { bothVersions, type Versions } from './support/packages.ts'
import { publish } from './support/report.ts'

/** Nobody looked at these while the edit tool was made; for that there are those of `TUNED`. */
const PACKAGES: readonly Versions[] = [
  ['@types/node', '24.10.13', '25.6.2'],
  ['better-sqlite3', '7.1.4', '8.6.0'],
  ['bulma', '0.9.2', '1.0.4'],
  ['electron-builder', '24.6.1', '26.0.6'],
  ['fastify', '4.11.0', '4.23.1'],
  ['highlight.js', '10.0.1', '11.1.0'],
  ['koa', '2.5.1', '2.14.1'],
  ['marked', '9.1.1', '12.0.2'],
  ['mocha', '9.1.1', '10.5.2'],
  ['nan', '2.6.1', '2.19.0'],
  ['node-gyp', '8.4.0', '10.3.1'],
  ['protobufjs', '6.8.3', '7.2.5'],
  ['socket.io', '3.1.2', '4.5.0'],
  ['tree-sitter-python', '0.16.1', '0.20.4'],
  ['undici', '6.25.0', '7.10.0'],
]

/** The edit tool was made with these before one's eyes, so they prove nothing. */
const TUNED: readonly Versions[] = [
  ['@fastify/cors', '8.3.0', '10.0.0'],
  ['@types/react', '18.3.4', '19.0.0'],
  ['axios', '1.1.0', '1.6.0'],
  ['bcrypt', '3.0.4', '5.0.0'],
  ['bootstrap', '5.1.2', '5.3.1'],
  ['commander', '7.0.0', '10.0.0'],
  ['d3-scale', '3.0.0', '4.0.0'],
  ['eslint-plugin-react', '7.25.1', '7.34.1'],
  ['eslint', '8.10.0', '8.40.0'],
  ['express', '4.17.1', '4.19.0'],
  ['github-markdown-css', '4.0.0', '5.2.0'],
  ['gulp', '4.0.0', '5.0.0'],
  ['helmet', '5.0.0', '7.0.0'],
  ['jquery', '3.5.0', '3.7.0'],
  ['knex', '0.95.4', '1.0.2'],
  ['leaflet', '1.7.0', '1.9.0'],
  ['less', '3.9.0', '4.1.0'],
  ['nodemon', '2.0.0', '3.0.0'],
  ['pino', '8.6.1', '8.16.2'],
  ['prismjs', '1.21.0', '1.27.0'],
  ['sass', '1.30.0', '1.32.0'],
  ['serverless-python-requirements', '5.0.0', '6.0.0'],
  ['serverless-wsgi', '1.7.8', '3.0.3'],
  ['sqlite3', '5.0.2', '5.1.4'],
  ['tailwindcss', '3.2.1', '3.4.6'],
  ['three', '0.142.0', '0.149.0'],
  ['webpack', '5.70.0', '5.80.0'],
  ['ws', '7.0.0', '8.10.0'],
  ['yargs', '16.0.0', '17.5.0'],
]

const SEED = Number(process.env['DRAGOMAN_SEED'] ?? 1)
/** No package, and no file, is to outweigh the others. */
const MAX_OF_PACKAGE = 250
const MAX_OF_FILE = 12
const MAX_SHOWN = 3

await main()

async function main(): Promise<void> {
  const chosen = chosenPackages()
  const edits: RealEdit[] = []
  let packages = 0
  for (const versions of chosen ?? PACKAGES) {
    const files = await bothVersions(versions)
    if (!files) continue
    packages++
    const random = startRandom(SEED, packages)
    const found = [...files].flatMap(([name, [before, after]]) =>
      random.shuffled(realEdits(name, before, after, random)).slice(0, MAX_OF_FILE),
    )
    edits.push(...random.shuffled(found).slice(0, MAX_OF_PACKAGE))
  }
  if (packages === 0) {
    process.stdout.write('The registry cannot be reached, so there are no edits to try: skipped.\n')
    return
  }
  const [smart, exact] = [startTally(), startTally()]
  let others = 0
  using ws = workspace()
  for (const edit of edits) {
    for (const one of attemptsOn(edit, SEED)) {
      if (asksForAnother(one)) {
        others++
        continue
      }
      const verdict = await attempt(ws, 'smart_edit', one)
      smart.add(one, verdict)
      if (verdict === 'wrong' && smart.all.wrong <= MAX_SHOWN) await show(one, ws.read('file'))
      exact.add(one, await attempt(ws, 'replace', one))
    }
  }
  const names = `${edits.length} edits, from two versions each of ${packages} packages`
  const left = `Left out are ${others} attempts whose search text, once damaged, stands in the file word for word, so that it asks for another edit.`
  const table = `${tableOf(smart, exact)}\n\n${left}`
  if (chosen || packages < PACKAGES.length) process.stdout.write(`${names}\n\n${table}\n`)
  else publish('edits', `${names}: ${PACKAGES.map(([name]) => name).join(', ')}.\n\n${table}`)
  if (smart.all.wrong > 0) process.exitCode = 1
}

/**
 * Other packages, of which nothing is published: `DRAGOMAN_PACKAGES=tuned npm run bench -- edits`, or some of one's own,
 * `DRAGOMAN_PACKAGES='express@4.17.1..4.19.0 …'`.
 */
function chosenPackages(): readonly Versions[] | undefined {
  const given = process.env['DRAGOMAN_PACKAGES']
  if (given === undefined || given === '') return undefined
  if (given === 'tuned') return TUNED
  return given.split(/\s+/).flatMap((one): Versions[] => {
    const [, name, from, to] = /^(.+)@(.+)\.\.(.+)$/.exec(one) ?? []
    return name !== undefined && from !== undefined && to !== undefined ? [[name, from, to]] : []
  })
}

function tableOf(smart: Tally, exact: Tally): string {
  const row = (what: string, of: (tally: Tally) => Tally['all']): string => {
    const [count, floor] = [of(smart), of(exact)]
    const sum = count.right + count.refused + count.wrong
    const figures = [share(count, 'right'), share(count, 'refused'), count.wrong, share(floor, 'right'), floor.wrong]
    return `| ${[what, sum, ...figures].join(' | ')} |`
  }
  return [
    '| damage to the search text | attempts | right | refused | wrong | exact match only: right | wrong |',
    '|---|---|---|---|---|---|---|',
    ...KIND_NAMES.map((kind) => row(kind, (tally) => tally.of(kind))),
    row('**all**', ({ all }) => all),
  ].join('\n')
}

/** Tells of an edit that went wrong. */
async function show({ kind, edit, both, old, fresh }: Attempt, result: string): Promise<void> {
  const { unifiedDiff } = await import('../src/tool/text/diff.ts')
  const wrong = unifiedDiff('expected and found', edit.after, result.replaceAll('\r\n', '\n'))
  const right = unifiedDiff('the edit', edit.before, edit.after)
  const given = [`old_string ${both ? '(both)' : '(old only)'}:`, old, 'new_string:', fresh].join('\n')
  process.stderr.write(`\n===== WRONG: ${kind}, ${edit.name}\n${right}\n${given}\n\n${wrong}\n`)
}
