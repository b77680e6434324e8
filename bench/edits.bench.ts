import { attempt, type Attempt, attemptsOn, KIND_NAMES } from '../test/edits/attempt.ts'
import { type RealEdit, realEdits } from '../test/edits/real-edits.ts'
import { share, startTally, type Tally } from '../test/edits/tally.ts'
import { startRandom } from '../test/support/mutate-random.ts'
import { workspace } from '../test/tool/workspace.ts'
import { bothVersions, type Versions } from './support/packages.ts'
import { publish } from './support/report.ts'

/** Nobody looked at these while the edit tool was made; for that there were others. */
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
  using ws = workspace()
  for (const edit of edits) {
    for (const one of attemptsOn(edit, SEED)) {
      const verdict = await attempt(ws, 'smart_edit', one)
      smart.add(one, verdict)
      if (verdict === 'wrong' && smart.all.wrong <= MAX_SHOWN) await show(one, ws.read('file'))
      exact.add(one, await attempt(ws, 'replace', one))
    }
  }
  const names = `${edits.length} edits, from two versions each of ${packages} packages`
  const table = tableOf(smart, exact)
  if (chosen || packages < PACKAGES.length) process.stdout.write(`${names}\n\n${table}\n`)
  else publish('edits', `${names}: ${PACKAGES.map(([name]) => name).join(', ')}.\n\n${table}`)
  if (smart.all.wrong > 0) process.exitCode = 1
}

/** Packages of one's own: `DRAGOMAN_PACKAGES='express@4.17.1..4.19.0 …' npm run bench -- edits`. */
function chosenPackages(): Versions[] | undefined {
  const given = process.env['DRAGOMAN_PACKAGES']
  if (given === undefined || given === '') return undefined
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
