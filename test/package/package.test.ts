import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { buildSync } from 'esbuild'
import { startRehearsalServer } from '../../src/rehearsal/server.ts'
import { dragoman } from '../support/command.ts'
import { clearAway } from '../support/clear.ts'
import { root } from '../support/paths.ts'

const place = mkdtempSync(join(tmpdir(), 'dragoman-package-'))
after(() => clearAway(place))

interface Packed {
  readonly filename: string
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string; readonly size: number }[]
}

/** What `npm pack` makes of the build that is there. */
function pack(): Packed {
  const out = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', place], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const json: unknown = JSON.parse(out)
  return (Array.isArray(json) ? json[0] : Object.values(json as object)[0]) as Packed
}

/** The documentation, which the README links to; its size is limited apart from that of the program. */
const PAGES = /^docs\/(?!images\/)|\.md$/
/** Pictures of the inspector, which is drawn by a browser. */
const IMAGES = /^docs\/images\//

describe('the package', () => {
  const packed = pack()

  test('is small, and holds what it needs and nothing else', () => {
    const paths = packed.files.map(({ path }) => path)
    const pageBytes = packed.files.filter(({ path }) => PAGES.test(path)).reduce((sum, { size }) => sum + size, 0)
    assert.ok(pageBytes < 720_000, `${pageBytes} bytes of documentation`)
    const images = packed.files.filter(({ path }) => IMAGES.test(path))
    const imageBytes = images.reduce((sum, { size }) => sum + size, 0)
    assert.ok(imageBytes < 700_000, `${imageBytes} bytes of images`)
    for (const { path, size } of images) assert.ok(size < 200_000, `${path}: ${size} bytes`)
    const page = packed.files.filter(({ path }) => path.startsWith('dist/assets/inspector-'))
    assert.equal(page.length, 2)
    assert.ok(page.reduce((sum, { size }) => sum + size, 0) < 150_000, JSON.stringify(page))
    const rest = packed.unpackedSize - pageBytes - imageBytes
    assert.ok(rest < 13_000_000, `${rest} bytes`)
    const built = paths.filter(
      (path) => !/\.d\.c?ts$|^examples\//.test(path) && !PAGES.test(path) && !IMAGES.test(path),
    )
    assert.ok(built.length < 380, `${built.length} files`)
    for (const needed of [
      'bin/dragoman',
      'dist/chunks/hot-start.cjs',
      'dist/index.js',
      'LICENSE',
      'README.md',
      'THIRD-PARTY-NOTICES',
      'man/dragoman.1',
    ])
      assert.ok(paths.includes(needed), needed)
    for (const path of paths)
      assert.match(path, /^(?:bin|dist|docs|examples|man)\/|^(?:[A-Z]+\.md|LICENSE|THIRD-PARTY-NOTICES|package\.json)$/)
  })

  test('holds every file that its README links to', () => {
    const paths = packed.files.map(({ path }) => path)
    const links = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/\]\(([^)\s#]+)[^)]*\)/g)].map(
      ([, target = '']) => target,
    )
    const local = links.filter((target) => !/^[a-z]+:/.test(target))
    assert.ok(local.length > 10)
    assert.deepEqual(
      local.filter((target) => !paths.includes(target)),
      [],
    )
  })

  test('needs no package that it does not bring along', () => {
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, object>
    // An optional peer is loaded only by what needs it, which says how to install it.
    const { dependencies = {}, peerDependenciesMeta = {} } = manifest
    const known = new Set([...Object.keys(dependencies), ...Object.keys(peerDependenciesMeta), ...builtinModules])
    const asked = /(?:\bfrom|\bimport\s*\(?|[=(,]require\(|\bobtain\()\s*["']([@a-z][\w@./-]*)["']/g
    const missing = packed.files
      .filter(({ path }) => /^dist\/.*\.c?js$/.test(path))
      .flatMap(({ path }) =>
        [
          ...readFileSync(join(root, path), 'utf8')
            .replaceAll(/^\s*\/\/.*$/gm, '')
            .matchAll(asked),
        ]
          .map(([, name = '']) => name)
          .filter((name) => !known.has(name))
          .map((name) => `${path}: ${name}`),
      )
    assert.deepEqual([...new Set(missing)], [])
  })

  test('names every bundled package, with the text of its licence', () => {
    const notices = readFileSync(join(root, 'THIRD-PARTY-NOTICES'), 'utf8')
    const bundled = bundledPackages()
    assert.ok(bundled.length > 20, bundled.join(' '))
    for (const folder of bundled) {
      const { name, version } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest
      const from = notices.indexOf(`\n${name} ${version}\n`)
      assert.ok(from > 0, `${name} ${version} is not named`)
      const section = notices.slice(from, notices.indexOf(`\n${'='.repeat(80)}\n`, from))
      const file = readdirSync(join(root, folder)).find((one) => /^licen[cs]e/i.test(one))
      const text = file === undefined ? 'Permission' : readFileSync(join(root, folder, file), 'utf8').trim()
      assert.ok(section.includes(text.replaceAll('\r\n', '\n')), `the licence of ${name} is missing`)
    }
  })

  test('installs without a script, within its limits, and runs', (t) => {
    const prefix = join(place, 'installed')
    mkdirSync(prefix)
    writeFileSync(join(prefix, 'package.json'), '{"private":true}')
    const install = spawnSync('npm', ['install', ...QUIETLY, join(place, packed.filename)], {
      cwd: prefix,
      encoding: 'utf8',
      timeout: 120_000,
    })
    if (install.status !== 0) return t.skip(`the registry cannot be reached: ${install.stderr.split('\n')[0]}`)
    const modules = join(prefix, 'node_modules')
    const lock = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8')) as { packages: object }
    const count = Object.keys(lock.packages).length
    const bytes = sizeOf(modules)
    t.diagnostic(`${count} packages, ${(bytes / 1e6).toFixed(1)} MB`)
    assert.ok(count <= 60 && bytes <= 30_000_000, `${count} packages, ${bytes} bytes`)
    const env = { PATH: process.env['PATH'] ?? '', HOME: place }
    const said = execFileSync(join(modules, '.bin/dragoman'), ['-p', 'hi', '-m', 'rehearsal/hello'], {
      cwd: prefix,
      env,
      encoding: 'utf8',
    })
    assert.notEqual(said.trim(), '')

    // Authors of other agents bundle what they use.
    const entry = join(prefix, 'own.mjs')
    const bundled = join(prefix, 'bundled.mjs')
    writeFileSync(
      entry,
      "import { generateValidName } from 'dragoman/embed'\nimport { tool } from 'dragoman'\n" +
        "console.log(generateValidName('a b'), typeof tool)\n",
    )
    buildSync({
      entryPoints: [entry],
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile: bundled,
      external: ['@vscode/ripgrep'],
      logLevel: 'error',
    })
    for (const name of ['own.mjs', 'bundled.mjs'])
      assert.equal(execFileSync(process.execPath, [name], { cwd: prefix, encoding: 'utf8' }), 'a_b function\n', name)
  })

  test('installed for everybody, it brings its command and its man page', (t) => {
    const prefix = join(place, 'global')
    const install = spawnSync(
      'npm',
      ['install', '--global', '--prefix', prefix, ...QUIETLY, join(place, packed.filename)],
      { cwd: place, encoding: 'utf8', timeout: 120_000 },
    )
    if (install.status !== 0) return t.skip(`the registry cannot be reached: ${install.stderr.split('\n')[0]}`)
    assert.ok(existsSync(join(prefix, 'bin/dragoman')))
    const page = readFileSync(join(prefix, 'share/man/man1/dragoman.1'), 'utf8')
    assert.equal(page, readFileSync(join(root, 'man/dragoman.1'), 'utf8'))
  })
})

const QUIETLY = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']

test('before the first request a run loads few modules, and none that it does not need', async () => {
  const work = mkdtempSync(join(place, 'work-'))
  const loaded = join(place, 'loaded')
  const hooks = join(place, 'hooks.mjs')
  const watch = join(place, 'watch.cjs')
  const note = (what: string): string => `appendFileSync(${JSON.stringify(loaded)}, ${what} + '\\n')`
  writeFileSync(
    hooks,
    `import { appendFileSync } from 'node:fs'
export function load(url, context, next) { ${note('url')}; return next(url, context) }`,
  )
  writeFileSync(
    watch,
    `const fs = require('node:fs'), Module = require('node:module')
const { appendFileSync, readFileSync } = fs
const { _load } = Module
fs.readFileSync = (path, ...more) => { if (String(path).includes('/dist/')) ${note('path')}; return readFileSync(path, ...more) }
Module._load = (path, ...more) => { ${note('path')}; return _load(path, ...more) }
Module.register(${JSON.stringify(`file://${hooks}`)})`,
  )
  let early: string[] = []
  const server = await startRehearsalServer({
    scripts: { script: { steps: [{ say: 'Hello.' }] } },
    onTraffic: (moment) => {
      if (moment === 'asked' && existsSync(loaded)) early = readFileSync(loaded, 'utf8').trim().split('\n')
    },
  })
  try {
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: work,
      OPENAI_API_KEY: 'k',
      DRAGOMAN_OPENAI_CHAT_BASE_URL: `${server.url}/v1`,
      NODE_OPTIONS: `--require=${watch}`,
    }
    const { code } = await dragoman(['-p', 'hi', '-m', 'openai-chat/script'], { work, env })
    assert.equal(code, 0)
  } finally {
    await server.close()
  }
  const ours = early.filter((url) => url.includes('/dist/'))
  assert.deepEqual(
    ours.map((path) => basename(path)).filter((name) => !name.endsWith('.compiled')),
    ['hot-start.cjs', 'hot-openai-chat.cjs'],
  )
  assert.ok(early.includes('node:http'), early.join('\n'))
  assert.deepEqual(
    early.filter((url) =>
      /^node:(?:https|tls|http2|readline|worker_threads|zlib|child_process|perf_hooks|fs\/promises)$/.test(url),
    ),
    [],
  )
})

interface Manifest {
  readonly name: string
  readonly version: string
}

/** The folders of the packages whose code is in dist/: what the source maps and the assets say. */
function bundledPackages(): string[] {
  const files = readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' })
  const sources = files
    .filter((file) => file.endsWith('.map'))
    .flatMap((file) => (JSON.parse(readFileSync(join(root, 'dist', file), 'utf8')) as { sources: string[] }).sources)
  const assets = files.filter((file) => file.endsWith('.wasm')).map((file) => /([a-z-]+)-\w+\.wasm$/.exec(file)?.[1])
  const folders = sources.flatMap(
    (source) => /node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(source)?.[0] ?? [],
  )
  // Maps of bundled packages may name folders that these packages were themselves made from.
  return [...new Set([...folders, ...assets.map((name) => `node_modules/${name}`)])].filter((folder) =>
    existsSync(join(root, folder)),
  )
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}
