import { asksForAnother, attempt, type Attempt, attemptsOn, KIND_NAMES } from '../test/edits/attempt.ts'
import { type RealEdit, realEdits } from '../test/edits/real-edits.ts'
import { share, startTally, type Tally } from '../test/edits/tally.ts'
import { startRandom } from '../test/support/mutate-random.ts'
import { workspace } from '../test/tool/workspace.ts'
import { bothVersions, type Versions } from './support/packages.ts'
import { publish } from './support/report.ts'

/** Nobody looked at these while the edit tool was made; for that there are those of `TUNED`. */
const PACKAGES: readonly Versions[] = [
  ['amqplib', '0.10.0', '1.0.4'],
  ['async', '0.8.0', '2.1.5'],
  ['backbone', '1.1.2', '1.3.2'],
  ['bindings', '0.4.0', '1.2.1'],
  ['bunyan', '0.23.1', '1.8.0'],
  ['esbuild-loader', '2.18.0', '4.0.3'],
  ['ffi-napi', '2.5.0', '3.1.0'],
  ['got', '10.0.4', '12.1.0'],
  ['hammerjs', '2.0.0', '2.0.4'],
  ['inquirer', '9.1.1', '12.0.0'],
  ['jsonwebtoken', '5.6.2', '7.2.1'],
  ['minimist', '0.2.3', '1.2.1'],
  ['mithril', '2.0.1', '2.2.13'],
  ['mqtt', '2.18.7', '5.3.2'],
  ['quill', '1.1.9', '1.3.1'],
  ['rimraf', '2.6.3', '4.3.1'],
  ['riot', '4.0.5', '6.0.4'],
  ['tedious', '11.0.1', '16.4.0'],
  ['ts-loader', '5.4.3', '8.0.17'],
  ['underscore', '1.5.1', '1.10.2'],
  ['video.js', '7.6.5', '7.20.3'],
  ['vue-router', '3.5.4', '4.2.2'],
  ['vuex', '2.4.0', '3.3.0'],
  ['yargs-parser', '13.1.1', '19.0.1'],
]

/** The edit tool was made with these before one's eyes, so they prove nothing. What is found wrong in `PACKAGES` moves them here. */
const TUNED: readonly Versions[] = [
  ['@fastify/cors', '8.3.0', '10.0.0'],
  ['@hapi/hapi', '20.0.0', '21.0.0'],
  ['@types/jquery', '3.3.31', '3.5.16'],
  ['@types/lodash', '4.14.150', '4.14.190'],
  ['@types/node', '24.10.13', '25.6.2'],
  ['@types/react', '18.3.4', '19.0.0'],
  ['ajv', '6.10.0', '6.12.6'],
  ['axios', '1.1.0', '1.6.0'],
  ['bcrypt', '3.0.4', '5.0.0'],
  ['better-sqlite3', '7.1.4', '8.6.0'],
  ['bootstrap', '5.1.2', '5.3.1'],
  ['browserify', '16.2.0', '17.0.0'],
  ['bull', '3.20.0', '4.10.0'],
  ['bulma', '0.9.2', '1.0.4'],
  ['chai', '4.2.0', '4.3.7'],
  ['cheerio', '1.0.0-rc.3', '1.0.0-rc.10'],
  ['codemirror', '5.50.0', '5.65.0'],
  ['commander', '7.0.0', '10.0.0'],
  ['connect-redis', '4.0.0', '6.1.0'],
  ['consola', '2.10.0', '2.15.0'],
  ['d3-scale', '3.0.0', '4.0.0'],
  ['dayjs', '1.9.0', '1.11.0'],
  ['ejs', '3.0.1', '3.1.8'],
  ['electron-builder', '24.6.1', '26.0.6'],
  ['ember-cli', '3.20.0', '4.0.0'],
  ['emotion', '9.2.0', '10.0.0'],
  ['eslint', '8.10.0', '8.40.0'],
  ['eslint-plugin-react', '7.25.1', '7.34.1'],
  ['express', '4.17.1', '4.19.0'],
  ['fastify', '4.11.0', '4.23.1'],
  ['firebase-tools', '9.0.0', '9.20.0'],
  ['formidable', '1.2.1', '2.1.0'],
  ['foundation-sites', '6.6.0', '6.7.5'],
  ['github-markdown-css', '4.0.0', '5.2.0'],
  ['graphql', '14.5.0', '15.8.0'],
  ['grunt', '1.0.0', '1.5.0'],
  ['gulp', '4.0.0', '5.0.0'],
  ['handlebars', '4.1.0', '4.7.7'],
  ['helmet', '5.0.0', '7.0.0'],
  ['highlight.js', '10.0.1', '11.1.0'],
  ['ioredis', '4.20.0', '5.2.0'],
  ['ioredis-mock', '5.0.0', '7.4.0'],
  ['jasmine-core', '3.6.0', '4.5.0'],
  ['jquery', '3.5.0', '3.7.0'],
  ['js-yaml', '3.13.0', '4.1.0'],
  ['jsdom', '16.0.0', '20.0.0'],
  ['karma', '5.0.0', '6.4.0'],
  ['knex', '0.95.4', '1.0.2'],
  ['koa', '2.5.1', '2.14.1'],
  ['leaflet', '1.7.0', '1.9.0'],
  ['lerna', '3.20.0', '4.0.0'],
  ['less', '3.9.0', '4.1.0'],
  ['log4js', '6.1.0', '6.7.0'],
  ['marked', '9.1.1', '12.0.2'],
  ['mocha', '9.1.1', '10.5.2'],
  ['moment', '2.24.0', '2.29.4'],
  ['mongodb', '3.5.0', '3.7.0'],
  ['mongoose', '6.0.0', '6.8.0'],
  ['multer', '1.3.0', '1.4.4'],
  ['mysql2', '2.1.0', '2.3.3'],
  ['nan', '2.6.1', '2.19.0'],
  ['node-addon-api', '3.0.0', '5.0.0'],
  ['node-gyp', '8.4.0', '10.3.1'],
  ['node-pre-gyp', '0.10.0', '0.17.0'],
  ['node-sass', '4.12.0', '7.0.0'],
  ['nodemailer', '6.4.0', '6.9.0'],
  ['nodemon', '2.0.0', '3.0.0'],
  ['nyc', '14.0.0', '15.1.0'],
  ['passport', '0.4.1', '0.6.0'],
  ['pg', '8.0.0', '8.8.0'],
  ['pino', '8.6.1', '8.16.2'],
  ['pm2', '4.5.0', '5.2.0'],
  ['prismjs', '1.21.0', '1.27.0'],
  ['protobufjs', '6.8.3', '7.2.5'],
  ['pug', '2.0.0', '3.0.2'],
  ['qunit', '2.10.0', '2.19.0'],
  ['ramda', '0.26.0', '0.28.0'],
  ['react-select', '3.0.0', '3.2.0'],
  ['restify', '8.5.0', '10.0.0'],
  ['rxjs', '6.5.0', '6.6.7'],
  ['sass', '1.30.0', '1.32.0'],
  ['select2', '4.0.5', '4.0.13'],
  ['semver', '7.0.0', '7.5.0'],
  ['sequelize', '6.6.0', '6.20.0'],
  ['serverless', '2.10.0', '2.50.0'],
  ['serverless-python-requirements', '5.0.0', '6.0.0'],
  ['serverless-wsgi', '1.7.8', '3.0.3'],
  ['sharp', '0.28.0', '0.32.0'],
  ['sinon', '9.0.0', '11.1.0'],
  ['socket.io', '3.1.2', '4.5.0'],
  ['sqlite3', '5.0.2', '5.1.4'],
  ['standard-version', '7.0.0', '9.5.0'],
  ['stylelint', '13.0.0', '14.0.0'],
  ['superagent', '6.1.0', '8.0.0'],
  ['tailwindcss', '3.2.1', '3.4.6'],
  ['tape', '4.13.0', '5.6.0'],
  ['three', '0.142.0', '0.149.0'],
  ['through2', '2.0.0', '4.0.0'],
  ['tree-sitter-python', '0.16.1', '0.20.4'],
  ['typeorm', '0.2.25', '0.3.0'],
  ['uglify-js', '3.10.0', '3.17.0'],
  ['undici', '6.25.0', '7.10.0'],
  ['usb', '1.6.0', '2.5.0'],
  ['validator', '12.0.0', '13.7.0'],
  ['vinyl-fs', '3.0.0', '4.0.0'],
  ['webpack', '5.70.0', '5.80.0'],
  ['winston', '3.3.0', '3.8.0'],
  ['ws', '7.0.0', '8.10.0'],
  ['yargs', '16.0.0', '17.5.0'],
  ['zeromq', '5.2.0', '6.0.0-beta.16'],
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
