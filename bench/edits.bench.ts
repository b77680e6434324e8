import { asksForAnother, attempt, type Attempt, attemptsOn, KIND_NAMES } from '../test/edits/attempt.ts'
import { type RealEdit, realEdits } from '../test/edits/real-edits.ts'
import { share, startTally, type Tally } from '../test/edits/tally.ts'
import { startRandom } from '../test/support/mutate-random.ts'
import { workspace } from '../test/tool/workspace.ts'
import { loadBothVersions, type PackageVersions } from './support/packages.ts'
import { publishSection } from './support/report.ts'

/**
 * Chosen by name; nobody looked at them while the edit tool was made. A list of these is run once: if it shows a wrong edit, or is
 * looked at for any other reason, its packages move to `TUNED`, and others take their place. docs/performance.md says how often
 * each list was run.
 */
const PACKAGES: readonly PackageVersions[] = [
  ['animate.css', '3.7.0', '4.0.0'],
  ['bookshelf', '0.9.4', '0.14.2'],
  ['bullmq', '5.26.2', '5.73.2'],
  ['classnames', '2.2.2', '2.3.2'],
  ['clsx', '1.2.0', '2.0.1'],
  ['cookie-parser', '1.4.0', '1.4.5'],
  ['cropperjs', '1.5.3', '1.6.1'],
  ['cypress-axe', '0.13.0', '1.4.0'],
  ['date-fns-tz', '1.3.1', '3.0.0'],
  ['decimal.js', '7.5.1', '10.3.1'],
  ['docsify', '4.8.5', '4.11.6'],
  ['dropzone', '5.7.6', '6.2.0'],
  ['fast-xml-parser', '4.4.0', '5.5.4'],
  ['figlet', '1.8.2', '1.11.1'],
  ['fs-extra', '1.0.0', '10.1.0'],
  ['graceful-fs', '4.1.3', '4.2.3'],
  ['humanize-duration', '3.22.0', '3.32.0'],
  ['io-ts', '1.10.0', '2.2.9'],
  ['katex', '0.16.19', '0.16.46'],
  ['lightgallery', '2.1.0', '2.6.1'],
  ['lint-staged', '12.0.3', '15.5.2'],
  ['lodash.merge', '4.3.0', '4.5.0'],
  ['lowdb', '2.0.0', '5.1.0'],
  ['materialize-css', '0.98.0', '0.100.1'],
  ['mikro-orm', '6.3.4', '6.6.13'],
  ['mobx', '5.13.1', '6.10.1'],
  ['nock', '8.2.0', '13.0.5'],
  ['node-red', '2.1.4', '4.0.7'],
  ['normalize.css', '5.0.0', '8.0.0'],
  ['objection', '1.6.4', '2.2.10'],
  ['photoswipe', '5.3.5', '5.4.1'],
  ['pinia', '2.0.33', '2.2.8'],
  ['polished', '3.4.2', '4.0.4'],
  ['re2', '1.20.5', '1.23.1'],
  ['react-hook-form', '7.13.0', '7.48.2'],
  ['redux-saga', '0.15.2', '1.1.3'],
  ['reselect', '4.1.1', '5.0.0'],
  ['sass-loader', '10.4.0', '14.0.0'],
  ['sequelize-cli', '4.1.1', '6.4.1'],
  ['solid-js', '1.4.4', '1.8.10'],
  ['storybook-dark-mode', '2.0.0', '3.0.1'],
  ['sweetalert2', '10.12.6', '11.7.24'],
  ['tachyons', '4.7.0', '4.9.1'],
  ['tree-sitter-go', '0.13.1', '0.23.0'],
  ['uikit', '3.15.25', '3.22.3'],
  ['vorpal', '1.10.0', '1.11.1'],
  ['xml2js', '0.4.9', '0.4.21'],
  ['zustand', '4.1.4', '5.0.0'],
]

/** The edit tool was tuned on these, so they prove nothing. They can be run as often as one likes. */
const TUNING_PACKAGES: readonly PackageVersions[] = [
  ['@fastify/cors', '8.3.0', '10.0.0'],
  ['@hapi/hapi', '20.0.0', '21.0.0'],
  ['@types/jquery', '3.3.31', '3.5.16'],
  ['@types/lodash', '4.14.150', '4.14.190'],
  ['@types/node', '24.10.13', '25.6.2'],
  ['@types/react', '18.3.4', '19.0.0'],
  ['agenda', '2.3.0', '4.4.0'],
  ['ajv', '6.10.0', '6.12.6'],
  ['alpinejs', '3.11.1', '3.15.4'],
  ['amqplib', '0.10.0', '1.0.4'],
  ['archiver', '1.2.0', '4.0.1'],
  ['argon2', '0.26.1', '0.28.4'],
  ['async', '0.8.0', '2.1.5'],
  ['axios', '1.1.0', '1.6.0'],
  ['babel-loader', '7.1.5', '8.2.2'],
  ['backbone', '1.1.2', '1.3.2'],
  ['bcrypt', '3.0.4', '5.0.0'],
  ['bcryptjs', '2.2.1', '2.4.1'],
  ['better-sqlite3', '7.1.4', '8.6.0'],
  ['bindings', '0.4.0', '1.2.1'],
  ['blessed', '0.0.49', '0.1.13'],
  ['bootstrap', '5.1.2', '5.3.1'],
  ['browserify', '16.2.0', '17.0.0'],
  ['bull', '3.20.0', '4.10.0'],
  ['bulma', '0.9.2', '1.0.4'],
  ['bunyan', '0.23.1', '1.8.0'],
  ['canvas', '1.3.13', '1.6.10'],
  ['chai', '4.2.0', '4.3.7'],
  ['chalk', '4.1.0', '5.1.0'],
  ['chart.js', '3.7.0', '4.1.1'],
  ['cheerio', '1.0.0-rc.3', '1.0.0-rc.10'],
  ['chokidar', '2.0.3', '3.0.1'],
  ['class-validator', '0.10.0', '0.13.2'],
  ['codemirror', '5.50.0', '5.65.0'],
  ['commander', '7.0.0', '10.0.0'],
  ['commitizen', '3.0.4', '4.1.5'],
  ['compression', '1.4.4', '1.6.2'],
  ['connect-redis', '4.0.0', '6.1.0'],
  ['consola', '2.10.0', '2.15.0'],
  ['cookie', '0.4.2', '0.7.2'],
  ['css-loader', '3.5.0', '6.5.0'],
  ['csv-parse', '4.8.9', '5.3.8'],
  ['cytoscape', '3.13.0', '3.29.1'],
  ['d3-scale', '3.0.0', '4.0.0'],
  ['d3-shape', '1.2.2', '2.1.0'],
  ['dayjs', '1.9.0', '1.11.0'],
  ['debug', '2.6.7', '3.2.3'],
  ['ejs', '3.0.1', '3.1.8'],
  ['electron-builder', '24.6.1', '26.0.6'],
  ['email-templates', '5.0.6', '7.2.0'],
  ['ember-cli', '3.20.0', '4.0.0'],
  ['emotion', '9.2.0', '10.0.0'],
  ['enzyme', '3.0.0', '3.4.2'],
  ['esbuild-loader', '2.18.0', '4.0.3'],
  ['eslint', '8.10.0', '8.40.0'],
  ['eslint-plugin-import', '2.17.0', '2.25.2'],
  ['eslint-plugin-react', '7.25.1', '7.34.1'],
  ['execa', '7.1.0', '9.1.0'],
  ['express', '4.17.1', '4.19.0'],
  ['express-session', '1.11.2', '1.16.1'],
  ['fast-glob', '3.2.1', '3.2.7'],
  ['fastify', '4.11.0', '4.23.1'],
  ['fastify-plugin', '2.3.3', '4.2.1'],
  ['ffi-napi', '2.5.0', '3.1.0'],
  ['firebase-tools', '9.0.0', '9.20.0'],
  ['flatpickr', '4.4.0', '4.5.1'],
  ['formidable', '1.2.1', '2.1.0'],
  ['foundation-sites', '6.6.0', '6.7.5'],
  ['github-markdown-css', '4.0.0', '5.2.0'],
  ['got', '10.0.4', '12.1.0'],
  ['graphql', '14.5.0', '15.8.0'],
  ['graphql-tools', '7.0.1', '8.3.8'],
  ['gray-matter', '3.0.1', '3.1.1'],
  ['grpc', '1.16.1', '1.22.0'],
  ['grunt', '1.0.0', '1.5.0'],
  ['gulp', '4.0.0', '5.0.0'],
  ['hammerjs', '2.0.0', '2.0.4'],
  ['handlebars', '4.1.0', '4.7.7'],
  ['helmet', '5.0.0', '7.0.0'],
  ['highlight.js', '10.0.1', '11.1.0'],
  ['htmx.org', '1.9.9', '2.0.6'],
  ['http-proxy', '1.5.3', '1.10.1'],
  ['immer', '8.0.1', '11.1.2'],
  ['ini', '1.3.8', '4.1.0'],
  ['inquirer', '9.1.1', '12.0.0'],
  ['inversify', '7.4.0', '7.10.7'],
  ['ioredis', '4.20.0', '5.2.0'],
  ['ioredis-mock', '5.0.0', '7.4.0'],
  ['jasmine-core', '3.6.0', '4.5.0'],
  ['jimp', '0.13.0', '0.20.2'],
  ['joi', '11.0.0', '17.9.1'],
  ['jotai', '1.11.0', '2.11.1'],
  ['jquery', '3.5.0', '3.7.0'],
  ['jquery-validation', '1.19.4', '1.20.0'],
  ['js-yaml', '3.13.0', '4.1.0'],
  ['jsdom', '16.0.0', '20.0.0'],
  ['jsonwebtoken', '5.6.2', '7.2.1'],
  ['kafkajs', '1.11.0', '1.16.0'],
  ['karma', '5.0.0', '6.4.0'],
  ['knex', '0.95.4', '1.0.2'],
  ['koa', '2.5.1', '2.14.1'],
  ['kysely', '0.23.0', '0.28.10'],
  ['leaflet', '1.7.0', '1.9.0'],
  ['lerna', '3.20.0', '4.0.0'],
  ['less', '3.9.0', '4.1.0'],
  ['level', '2.1.2', '4.0.0'],
  ['leveldown', '2.0.0', '5.3.0'],
  ['log4js', '6.1.0', '6.7.0'],
  ['loglevel', '1.6.3', '1.6.8'],
  ['luxon', '1.17.0', '2.5.1'],
  ['markdown-it', '9.0.1', '14.0.0'],
  ['marked', '9.1.1', '12.0.2'],
  ['mathjs', '7.6.0', '12.2.0'],
  ['milligram', '1.2.4', '1.4.0'],
  ['mime-types', '2.1.16', '2.1.25'],
  ['mini-css-extract-plugin', '2.2.2', '2.5.3'],
  ['minimist', '0.2.3', '1.2.1'],
  ['mithril', '2.0.1', '2.2.13'],
  ['mocha', '9.1.1', '10.5.2'],
  ['moment', '2.24.0', '2.29.4'],
  ['mongodb', '3.5.0', '3.7.0'],
  ['mongoose', '6.0.0', '6.8.0'],
  ['morgan', '1.6.1', '1.8.2'],
  ['mqtt', '2.18.7', '5.3.2'],
  ['multer', '1.3.0', '1.4.4'],
  ['mustache', '2.3.1', '3.0.2'],
  ['mysql', '2.6.0', '2.10.0'],
  ['mysql2', '2.1.0', '2.3.3'],
  ['nan', '2.6.1', '2.19.0'],
  ['nconf', '0.8.2', '0.10.0'],
  ['node-addon-api', '3.0.0', '5.0.0'],
  ['node-cron', '4.0.3', '4.1.1'],
  ['node-fetch', '2.6.5', '2.6.13'],
  ['node-gyp', '8.4.0', '10.3.1'],
  ['node-pre-gyp', '0.10.0', '0.17.0'],
  ['node-pty', '0.7.3', '0.9.0'],
  ['node-sass', '4.12.0', '7.0.0'],
  ['node-schedule', '1.1.1', '1.3.2'],
  ['nodemailer', '6.4.0', '6.9.0'],
  ['nodemon', '2.0.0', '3.0.0'],
  ['normalizr', '3.0.2', '3.2.4'],
  ['npm-check-updates', '16.3.4', '16.13.2'],
  ['numeral', '1.5.6', '2.0.2'],
  ['nunjucks', '2.4.2', '3.0.1'],
  ['nyc', '14.0.0', '15.1.0'],
  ['on-finished', '2.3.0', '2.4.0'],
  ['ora', '5.4.1', '6.3.0'],
  ['oracledb', '5.3.0', '6.1.0'],
  ['ow', '0.23.1', '0.28.1'],
  ['p-queue', '7.3.0', '8.1.1'],
  ['papaparse', '5.1.1', '5.5.3'],
  ['parcel-bundler', '1.9.4', '1.10.1'],
  ['passport', '0.4.1', '0.6.0'],
  ['pg', '8.0.0', '8.8.0'],
  ['pg-promise', '8.7.4', '10.15.2'],
  ['pino', '8.6.1', '8.16.2'],
  ['pkg', '4.4.7', '5.2.1'],
  ['plyr', '3.6.3', '3.6.10'],
  ['pm2', '4.5.0', '5.2.0'],
  ['postcss-loader', '4.0.2', '6.2.1'],
  ['preact', '10.10.5', '10.19.5'],
  ['prismjs', '1.21.0', '1.27.0'],
  ['prompts', '2.0.1', '2.2.0'],
  ['protobufjs', '6.8.3', '7.2.5'],
  ['pug', '2.0.0', '3.0.2'],
  ['purecss', '2.0.5', '2.2.0'],
  ['python-shell', '1.0.8', '3.0.0'],
  ['quill', '1.1.9', '1.3.1'],
  ['qunit', '2.10.0', '2.19.0'],
  ['ramda', '0.26.0', '0.28.0'],
  ['react-select', '3.0.0', '3.2.0'],
  ['redux', '3.1.5', '4.0.2'],
  ['regenerator', '0.8.34', '0.11.0'],
  ['release-it', '14.4.0', '17.0.5'],
  ['request', '2.42.0', '2.57.0'],
  ['restify', '8.5.0', '10.0.0'],
  ['rimraf', '2.6.3', '4.3.1'],
  ['riot', '4.0.5', '6.0.4'],
  ['rollup', '2.66.0', '3.24.0'],
  ['rxjs', '6.5.0', '6.6.7'],
  ['sass', '1.30.0', '1.32.0'],
  ['select2', '4.0.5', '4.0.13'],
  ['semantic-release', '15.13.16', '21.1.0'],
  ['semver', '7.0.0', '7.5.0'],
  ['sequelize', '6.6.0', '6.20.0'],
  ['serialport', '8.0.0', '9.0.6'],
  ['serve-static', '1.10.3', '1.12.6'],
  ['serverless', '2.10.0', '2.50.0'],
  ['serverless-python-requirements', '5.0.0', '6.0.0'],
  ['serverless-wsgi', '1.7.8', '3.0.3'],
  ['sharp', '0.28.0', '0.32.0'],
  ['shelljs', '0.7.1', '0.7.6'],
  ['showdown', '1.7.1', '1.8.0'],
  ['sinon', '9.0.0', '11.1.0'],
  ['sinon-chai', '2.10.0', '3.4.0'],
  ['socket.io', '3.1.2', '4.5.0'],
  ['sortablejs', '1.10.0', '1.14.0'],
  ['source-map', '0.1.43', '0.5.2'],
  ['spectre.css', '0.4.4', '0.5.4'],
  ['sqlite3', '5.0.2', '5.1.4'],
  ['ssh2', '0.7.2', '1.7.0'],
  ['standard-version', '7.0.0', '9.5.0'],
  ['style-loader', '0.20.3', '1.1.2'],
  ['stylelint', '13.0.0', '14.0.0'],
  ['stylelint-config-standard', '24.0.0', '36.0.0'],
  ['superagent', '6.1.0', '8.0.0'],
  ['superstruct', '0.13.0', '0.16.5'],
  ['supertest', '6.0.1', '6.2.4'],
  ['svelte', '5.14.5', '5.33.4'],
  ['swiper', '8.2.6', '9.4.1'],
  ['systeminformation', '5.12.12', '5.22.2'],
  ['tailwindcss', '3.2.1', '3.4.6'],
  ['tape', '4.13.0', '5.6.0'],
  ['tar', '5.0.7', '6.1.14'],
  ['tedious', '11.0.1', '16.4.0'],
  ['three', '0.142.0', '0.149.0'],
  ['through', '2.2.0', '2.2.7'],
  ['through2', '2.0.0', '4.0.0'],
  ['tree-sitter-python', '0.16.1', '0.20.4'],
  ['tree-sitter-ruby', '0.13.11', '0.16.2'],
  ['ts-loader', '5.4.3', '8.0.17'],
  ['tsup', '5.12.2', '6.5.0'],
  ['turndown', '7.1.2', '7.2.3'],
  ['typeorm', '0.2.25', '0.3.0'],
  ['ua-parser-js', '0.7.40', '1.0.37'],
  ['uglify-js', '3.10.0', '3.17.0'],
  ['underscore', '1.5.1', '1.10.2'],
  ['undici', '6.25.0', '7.10.0'],
  ['usb', '1.6.0', '2.5.0'],
  ['uuid', '9.0.0', '11.0.5'],
  ['validator', '12.0.0', '13.7.0'],
  ['valtio', '1.6.3', '1.13.0'],
  ['video.js', '7.6.5', '7.20.3'],
  ['vinyl-fs', '3.0.0', '4.0.0'],
  ['vm2', '3.9.4', '3.9.18'],
  ['vue-loader', '15.0.7', '16.1.1'],
  ['vue-router', '3.5.4', '4.2.2'],
  ['vuex', '2.4.0', '3.3.0'],
  ['watchpack', '2.0.1', '2.4.1'],
  ['webpack', '5.70.0', '5.80.0'],
  ['webpack-cli', '3.3.9', '4.9.0'],
  ['webpack-merge', '4.1.3', '5.1.1'],
  ['winston', '3.3.0', '3.8.0'],
  ['workbox-build', '6.0.2', '6.3.0'],
  ['ws', '7.0.0', '8.10.0'],
  ['xstate', '4.37.1', '5.19.4'],
  ['yargs', '16.0.0', '17.5.0'],
  ['yargs-parser', '13.1.1', '19.0.1'],
  ['yup', '0.26.5', '0.32.10'],
  ['zeromq', '5.2.0', '6.0.0-beta.16'],
  ['zod-to-json-schema', '3.22.1', '3.23.3'],
]

const SEED = Number(process.env['DRAGOMAN_SEED'] ?? 1)
/** No package, and no file, is to outweigh the others. */
const MAX_EDITS_PER_PACKAGE = 40
const MAX_EDITS_PER_FILE = 12
const MAX_SHOWN = 3

await main()

async function main(): Promise<void> {
  const chosen = readChosenPackages()
  const edits: RealEdit[] = []
  let packages = 0
  for (const versions of chosen ?? PACKAGES) {
    const files = await loadBothVersions(versions)
    if (!files) continue
    packages++
    const random = startRandom(SEED, packages)
    const found = [...files].flatMap(([name, [before, after]]) =>
      random.shuffled(realEdits(name, before, after, random)).slice(0, MAX_EDITS_PER_FILE),
    )
    edits.push(...random.shuffled(found).slice(0, MAX_EDITS_PER_PACKAGE))
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
      if (verdict === 'wrong' && smart.all.wrong <= MAX_SHOWN) await printWrongEdit(one, ws.read('file'))
      exact.add(one, await attempt(ws, 'replace', one))
    }
  }
  const names = `${edits.length} edits, from two versions each of ${packages} packages`
  const left = `Not counted: ${others} attempts whose damaged search text occurs literally in the file, so that it describes another edit.`
  const table = `${formatTable(smart, exact)}\n\n${left}`
  if (chosen || packages < PACKAGES.length) process.stdout.write(`${names}\n\n${table}\n`)
  else publishSection('edits', `${names}: ${PACKAGES.map(([name]) => name).join(', ')}.\n\n${table}`)
  if (smart.all.wrong > 0) process.exitCode = 1
}

/**
 * Other packages, of which nothing is published: `DRAGOMAN_PACKAGES=tuned npm run bench -- edits`, or some of one's own,
 * `DRAGOMAN_PACKAGES='express@4.17.1..4.19.0 …'`.
 */
function readChosenPackages(): readonly PackageVersions[] | undefined {
  const given = process.env['DRAGOMAN_PACKAGES']
  if (given === undefined || given === '') return undefined
  if (given === 'tuned') return TUNING_PACKAGES
  return given.split(/\s+/).flatMap((one): PackageVersions[] => {
    const [, name, from, to] = /^(.+)@(.+)\.\.(.+)$/.exec(one) ?? []
    return name !== undefined && from !== undefined && to !== undefined ? [[name, from, to]] : []
  })
}

function formatTable(smart: Tally, exact: Tally): string {
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
async function printWrongEdit({ kind, edit, both, old, fresh }: Attempt, result: string): Promise<void> {
  const { createUnifiedDiff: unifiedDiff } = await import('../src/tool/text/diff.ts')
  const wrong = unifiedDiff('expected and found', edit.after, result.replaceAll('\r\n', '\n'))
  const right = unifiedDiff('the edit', edit.before, edit.after)
  const given = [`old_string ${both ? '(both)' : '(old only)'}:`, old, 'new_string:', fresh].join('\n')
  process.stderr.write(`\n===== WRONG: ${kind}, ${edit.name}\n${right}\n${given}\n\n${wrong}\n`)
}
