import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { buildSync } from 'esbuild'
import { clearAway } from '../support/clear.ts'
import { root } from '../support/paths.ts'

// The quick part of `npm run packaging`: what can be said of the build without installing anything.

const place = mkdtempSync(join(tmpdir(), 'dragoman-library-'))
after(() => clearAway(place))

interface Conditions {
  readonly types: string
  readonly default?: string
}
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, { import: Conditions; require: Conditions } | string>
  peerDependencies: Record<string, string>
  peerDependenciesMeta: Record<string, { optional: boolean }>
}
/** The entry points, as users name them. */
const ENTRIES = Object.entries(manifest.exports).flatMap(([path, entry]) =>
  typeof entry === 'object' && entry.import.default !== undefined
    ? [{ name: path.replace(/^\./, 'dragoman'), files: [entry.import.default, entry.require.default ?? ''], entry }]
    : [],
)
const EMBED = ENTRIES.filter(({ name }) => name.startsWith('dragoman/embed'))

/** Runs a program in this folder, where the package can be imported by its name. */
function runNode(source: string, type: 'module' | 'commonjs') {
  const { status, stdout, stderr } = spawnSync(process.execPath, [`--input-type=${type}`, '-e', source], {
    cwd: root,
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

describe('the entry points', () => {
  test('are built for import and require, with types of the same kind', () => {
    assert.deepEqual(
      EMBED.map(({ name }) => name.slice('dragoman/embed'.length)),
      ['', '/openai', '/anthropic', '/responses', '/gemini', '/interactions', '/tachikoma'],
    )
    for (const { entry, files } of ENTRIES) {
      for (const file of files) assert.ok(existsSync(join(root, file)), file)
      assert.equal(entry.import.types, entry.import.default?.replace(/\.js$/, '.d.ts'))
      assert.equal(entry.require.types, entry.require.default?.replace(/\.cjs$/, '.d.cts'))
    }
    // Nothing has to be installed beside it: only who uses a database needs a driver.
    assert.deepEqual(Object.keys(manifest.peerDependencies), ['pg'])
    assert.deepEqual(manifest.peerDependenciesMeta, { pg: { optional: true } })
  })

  test('give the same names to import and require, and share their classes', () => {
    const names = JSON.stringify(ENTRIES.map(({ name }) => name))
    const print =
      'console.log(JSON.stringify(all.map((one) => Object.keys(one).filter((key) => key !== "default").sort())))'
    const imported = runNode(`const all = await Promise.all(${names}.map((name) => import(name)));${print}`, 'module')
    const required = runNode(
      `const all = ${names}.map((name) => require(name));
const [one, two] = ['dragoman/embed', 'dragoman/embed/tachikoma'].map((name) => require(name).GeminiStreamError)
if (one !== two) throw new Error('two classes');${print}`,
      'commonjs',
    )
    assert.equal(required.stderr.replaceAll(/^\(.*\n/gm, ''), '')
    assert.equal(imported.stderr, '')
    assert.equal(required.stdout, imported.stdout)
    const counts = (JSON.parse(imported.stdout) as string[][]).map((keys) => keys.length)
    assert.ok(Math.min(...counts) >= 2, counts.join(' '))
  })

  test('of embed need nothing of Node, bundled or not', () => {
    const entryPoints = EMBED.map(({ files: [file = ''] }) => join(root, file))
    const { metafile, outputFiles } = buildSync({
      entryPoints,
      bundle: true,
      write: false,
      outdir: place,
      platform: 'browser',
      format: 'esm',
      metafile: true,
      logLevel: 'silent',
    })
    const imports = Object.values(metafile.inputs).flatMap((input) => input.imports.filter(({ external }) => external))
    assert.deepEqual(imports, [])
    const text = [...outputFiles.map((file) => file.text), readFileSync(join(root, 'dist/embed/all.cjs'), 'utf8')].join(
      '\n',
    )
    for (const word of ['createRequire', 'import.meta', '"node:', '__dirname', 'Buffer.from'])
      assert.ok(!text.includes(word), word)
  })
})

describe('the code', () => {
  test('of one export is all that a bundle with it has', () => {
    const entry = join(place, 'tool.mjs')
    writeFileSync(entry, `import { tool } from ${JSON.stringify(join(root, 'dist/index.js'))}\nconsole.log(tool)\n`)
    const { outputFiles } = buildSync({
      entryPoints: [entry],
      bundle: true,
      write: false,
      platform: 'node',
      format: 'esm',
      external: ['@vscode/ripgrep'],
      logLevel: 'silent',
    })
    const bytes = outputFiles[0]?.contents.length ?? 0
    assert.ok(bytes > 500 && bytes < 20_000, `${bytes} bytes`)
  })

  test('is readable: an uncaught error shows a line of it, and its class has its name', () => {
    const { status, stderr } = runNode("import { memoryStore } from 'dragoman'\nmemoryStore().open('none')", 'module')
    assert.equal(status, 1)
    assert.match(stderr, /StoreError/)
    assert.ok(stderr.length < 3000, `${stderr.length} characters`)
    for (const file of readdirSync(join(root, 'dist/library')).filter((name) => /^chunk-.*\.js$/.test(name))) {
      const longest = Math.max(
        ...readFileSync(join(root, 'dist/library', file), 'utf8')
          .split('\n')
          .map((line) => line.length),
      )
      assert.ok(longest < 20_000, `${file} has a line of ${longest} characters`)
    }
  })

  test('brings the WebAssembly of the shell parser with it', () => {
    const file = readdirSync(join(root, 'dist/library')).find((name) => /^bash-parser-.*\.js$/.test(name))
    const source = `const { loadBashParser } = await import('./dist/library/${file}')
console.log((await loadBashParser())('ls | wc').children[0].kind)`
    assert.equal(runNode(source, 'module').stdout, 'pipeline\n')
  })
})
