import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { type Random, startRandom } from '../support/mutate-random.ts'
import { textOf, withoutSearch, workspace, type Workspace } from './workspace.ts'

const SEED = Number(process.env['DRAGOMAN_SEED'] ?? 1)

const WORDS = [
  'foo',
  'bar',
  'Foo',
  'FOO_BAR',
  'naïve',
  'Ünïcode',
  'x',
  'a.b',
  'if (foo) {',
  '  return bar',
  '日本語',
  '$foo',
  '\tfoo',
]

/** A tree with everything that two searches could disagree about. */
function variedTree(random: Random): Workspace {
  const lines = (): string =>
    Array.from({ length: random.range(0, 12) }, () => random.pick(WORDS)).join(random.pick(['\n', '\n', '\r\n']))
  const ending = (): string => random.pick(['\n', '', '\r\n'])
  const files: Record<string, string | Uint8Array> = {
    '.gitignore': '*.log\n/build/\n!keep.log\ndeep/**/skip.ts\n',
    'src/.gitignore': 'local.ts\n',
    '.geminiignore': 'private/\n',
    'keep.log': 'foo kept\n',
    'gone.log': 'foo gone\n',
    'build/out.ts': 'foo built\n',
    'src/build/in.ts': 'foo inner\n',
    'src/local.ts': 'foo local\n',
    'deep/a/b/skip.ts': 'foo skipped\n',
    'private/p.ts': 'foo private\n',
    'node_modules/m/index.js': 'foo module\n',
    '.hidden/h.ts': 'foo hidden\n',
    'marked.txt': '\uFEFFfoo marked\n',
    'wide.txt': Buffer.from('\uFEFFfoo wide\nbar\n', 'utf16le'),
    'wide-be.txt': Buffer.from('\uFEFFfoo wide\n', 'utf16le').swap16(),
    'latin.txt': Buffer.from('caf\xe9 foo\n', 'latin1'),
    'binary.dat': Buffer.from('foo\0binary\n'),
    'late.dat': Buffer.concat([Buffer.from('foo early\n'.repeat(3000)), Buffer.from([0, 0, 1])]),
    'long.txt': `${'y'.repeat(3000)}foo\nfoo${'z'.repeat(3000)}\n`,
    'empty.txt': '',
    'no-end.txt': 'bar\nfoo',
    'returns.txt': 'foo\rbar\nfoo\r\n',
    'name with space.ts': 'foo spaced\n',
    'name: 7:with\nline.ts': 'foo: 3:lined\n',
    'src/[id]/page.tsx': 'foo page\n',
    'src/ünï.ts': 'foo named\n',
  }
  for (let at = 0; at < 25; at++) {
    const folder = random.pick(['', 'src/', 'src/deep/', 'lib/', 'lib/x/y/'])
    files[`${folder}f${at}.${random.pick(['ts', 'js', 'md', 'txt'])}`] = lines() + ending()
  }
  const ws = workspace(files)
  symlinkSync('src', join(ws.root, 'linked'))
  symlinkSync('../outside/secret.txt', join(ws.root, 'out.txt'))
  return ws
}

const PATTERNS = [
  'foo',
  'FOO',
  '^foo',
  'foo$',
  '\\bfoo\\b',
  'fo+',
  'foo|bar',
  '(foo).*',
  '[fb]o',
  '\\.b',
  '\\$foo',
  'ï',
  'ünï',
  '日本',
  'return\\s+bar',
  '^$',
  '^\\s*$',
  '.',
  'x{1,2}',
  '(?:if|return)',
  '\\{$',
  '\\tfoo',
  'nowhere',
]
const INCLUDES = [
  undefined,
  undefined,
  '*.ts',
  '*.{ts,js}',
  'src/**',
  'src/**/*.ts',
  '**/deep/*',
  '*.log',
  '*.tsx',
  '[a-k]*',
  'keep.*',
  'lib/*/*',
]
const PATHS = [undefined, undefined, 'src', 'src/deep', 'no-end.txt', 'lib', '.hidden', 'src/[id]']

describe(`ripgrep and our own search say the same (seed ${SEED})`, () => {
  for (const round of [1, 2, 3]) {
    test(`tree ${round}`, { timeout: 120_000 }, async () => {
      const random = startRandom(SEED, round)
      using ws = variedTree(random)
      for (const pattern of PATTERNS) {
        const [include, path] = [random.pick(INCLUDES), random.pick(PATHS)]
        const input = { pattern, ...(include !== undefined && { include }), ...(path !== undefined && { path }) }
        const [program, own] = [
          await ws.call('search_file_content', input),
          await ws.call('search_file_content', input, { host: withoutSearch(ws.host) }),
        ]
        assert.equal(textOf(own), textOf(program), JSON.stringify(input))
        assert.deepEqual(own.display, program.display)
      }
    })
  }
})
