import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createDiskView } from '../../src/host/files/disk-view.ts'
import { classifyPath } from '../../src/policy/path/classify-path.ts'
import { createGlobMatcher } from '../../src/tool/file-search/glob.ts'
import { textOf, withoutSearch, workspace } from './workspace.ts'
import { assertCpuTime } from '../support/cpu-time.ts'

const TREE = {
  '.gitignore': '/dist/\n*.log\nsecret/**\n!important.log\n',
  '.geminiignore': 'private/\n',
  'README.md': 'Foo in the readme\n',
  'src/a.ts': 'const foo = 1\nconst bar = 2\n  const FOO = 3\n',
  'src/deep/b.tsx': 'export const foo = () => null\n',
  'src/deep/.gitignore': 'made.ts\n',
  'src/deep/made.ts': 'foo\n',
  'src/[id]/page.tsx': 'foo page\n',
  '.hidden/c.ts': 'foo hidden\n',
  'dist/out.js': 'foo built\n',
  'x.log': 'foo log\n',
  'important.log': 'foo important\n',
  'secret/s.ts': 'foo secret\n',
  'private/p.ts': 'foo private\n',
  'node_modules/m/index.js': 'foo module\n',
  '.git/config': 'foo git\n',
  'bin.dat': Buffer.from([0x66, 0x6f, 0x6f, 0, 1, 2]),
  'wide.txt': Buffer.from('\uFEFFfoo wide\r\n', 'utf16le'),
  'latin.txt': Buffer.from('foo caf\xe9\n', 'latin1'),
}

describe('list_directory', () => {
  test('directories first, the ignored ones counted', async () => {
    using ws = workspace(TREE)
    symlinkSync('src', join(ws.root, 'link'))
    const output = await ws.call('list_directory', { path: ws.root })
    const names = ['.hidden', 'link', 'node_modules', 'secret', 'src'].map((name) => `[DIR] ${name}`)
    const files = ['.geminiignore', '.gitignore', 'README.md', 'bin.dat', 'important.log', 'latin.txt', 'wide.txt']
    assert.equal(
      output.content,
      `Directory listing for ${ws.root}: \n${[...names, ...files].join('\n')}\n\n(4 ignored)`,
    )
    assert.equal(output.display, 'Listed 12 item(s). (4 ignored)')
  })

  test('names to leave out, and no ignore files', async () => {
    using ws = workspace({ 'a.ts': '', 'b.md': '', 'c.log': '', '.gitignore': '*.log\n' })
    const input = {
      dir_path: ws.root,
      ignore: ['*.md', '.git*'],
      file_filtering_options: { respect_git_ignore: false },
    }
    assert.equal(await ws.say('list_directory', input), `Directory listing for ${ws.root}: \na.ts\nc.log`)
  })

  test('empty, missing, a file, outside', async () => {
    using ws = workspace({ a: '' })
    mkdirSync(join(ws.root, 'empty'))
    assert.equal(await ws.say('list_directory', { path: 'empty' }), `Directory ${join(ws.root, 'empty')} is empty.`)
    const types = await Promise.all(
      ['nosuch', 'a', '..', ''].map(async (path) => (await ws.call('list_directory', { path })).error?.type),
    )
    assert.deepEqual(types, ['file-not-found', 'path-is-not-a-directory', 'path-not-in-workspace', 'invalid-arguments'])
  })
})

describe('glob', () => {
  test('the newest first, absolute paths', async () => {
    using ws = workspace(TREE)
    for (const [at, path] of ['src/a.ts', '.hidden/c.ts', 'src/deep/b.tsx'].entries())
      utimesSync(join(ws.root, path), at, 1e9 + at)
    const output = await ws.call('glob', { pattern: '**/*.ts' })
    const [c, a] = ['.hidden/c.ts', 'src/a.ts'].map((path) => join(ws.root, path))
    assert.equal(output.content, `Found 2 file(s) matching '**/*.ts' within ${ws.root}: \n${c}\n${a}\n\n(2 ignored)`)
    assert.equal(output.display, 'Found 2 matching file(s)')
  })

  const patterns: readonly (readonly [pattern: string, found: readonly string[]])[] = [
    ['*.md', ['README.md']],
    ['*.MD', ['README.md']],
    ['src/*.ts', ['src/a.ts']],
    ['src/**', ['src/[id]/page.tsx', 'src/a.ts', 'src/deep/.gitignore', 'src/deep/b.tsx']],
    ['**/*.{ts,tsx}', ['.hidden/c.ts', 'src/[id]/page.tsx', 'src/a.ts', 'src/deep/b.tsx']],
    ['src/[id]/page.tsx', ['src/[id]/page.tsx']],
    ['s?c/?.t[r-t]', ['src/a.ts']],
    ['{README,nosuch}.md', ['README.md']],
    ['**/deep/**/*.tsx', ['src/deep/b.tsx']],
    ['./src/a.ts', ['src/a.ts']],
    ['node_modules/**/*.js', ['node_modules/m/index.js']],
    ['nosuch/**', []],
  ]
  for (const [pattern, found] of patterns) {
    test(pattern, async () => {
      using ws = workspace(TREE)
      const text = await ws.say('glob', { pattern })
      const paths = text
        .split('\n')
        .filter((line) => line.startsWith(ws.root))
        .map((line) => line.slice(ws.root.length + 1))
      assert.deepEqual(paths.sort(), found, text)
      if (found.length === 0) assert.equal(text, `No files found matching '${pattern}' within ${ws.root}.`)
    })
  }

  test('case, git, and a directory', async () => {
    using ws = workspace(TREE)
    assert.match(await ws.say('glob', { pattern: '*.MD', case_sensitive: true }), /^No files found/)
    assert.match(await ws.say('glob', { pattern: '*.log', respect_git_ignore: false }), /^Found 2 file\(s\)/)
    assert.equal(
      await ws.say('glob', { pattern: '*.tsx', dir_path: 'src/deep' }),
      `Found 1 file(s) matching '*.tsx' within ${join(ws.root, 'src/deep')}: \n${join(ws.root, 'src/deep/b.tsx')}`,
    )
    assert.equal(
      await ws.say('glob', { pattern: join(ws.root, 'src/*.ts') }),
      `Found 1 file(s) matching '${join(ws.root, 'src/*.ts')}' within ${ws.root}: \n${join(ws.root, 'src/a.ts')}`,
    )
  })

  test('no way out', async () => {
    using ws = workspace({ a: '' })
    symlinkSync('../outside', join(ws.root, 'dir'))
    assert.equal((await ws.call('glob', { pattern: '../outside/*' })).error?.type, 'invalid-arguments')
    assert.equal((await ws.call('glob', { pattern: '*', path: 'dir' })).error?.type, 'path-not-in-workspace')
    assert.equal((await ws.call('glob', { pattern: '*', path: 'a' })).error?.type, 'path-is-not-a-directory')
    assert.doesNotMatch(await ws.say('glob', { pattern: '**/*.txt' }), /secret/)
    assert.doesNotMatch(await ws.say('glob', { pattern: 'dir/*' }), /secret/)
    assert.equal((await ws.call('glob', { pattern: '  ' })).error?.type, 'invalid-arguments')
  })

  const matching: readonly (readonly [pattern: string, yes: readonly string[], no: readonly string[]])[] = [
    ['**', ['a', 'a/b', '.x/y'], []],
    ['*', ['a', '.a'], ['a/b']],
    ['a/**', ['a/b', 'a/b/c'], ['b/a']],
    ['**/a', ['a', 'b/a', 'c/b/a'], ['a/b', 'ba']],
    ['a/**/b', ['a/b', 'a/x/b', 'a/x/y/b'], ['a/xb']],
    ['*.{ts,{js,jsx}}', ['a.ts', 'a.jsx'], ['a.tsx', 'a/b.ts']],
    ['[!a-c]x', ['dx', '-x'], ['ax', 'x']],
    ['[]]', [']'], ['[']],
    ['[a', ['[a'], ['a']],
    ['\\*', ['*'], ['a']],
    ['a{b', ['a{b'], ['ab']],
    ['*a*b*', ['ab', 'xaxbx', 'aabb'], ['ba']],
    ['a+(b).c$', ['a+(b).c$'], ['aab.c']],
  ]
  for (const [pattern, yes, no] of matching) {
    test(`what ${pattern} means`, () => {
      const matches = createGlobMatcher(pattern, true)
      for (const path of yes) assert.ok(matches(path), path)
      for (const path of no) assert.ok(!matches(path), path)
    })
  }

  test('a pattern that could take for ever does not', () =>
    assertCpuTime(() => {
      assert.equal(createGlobMatcher(`${'**/'.repeat(50)}x`)(`${'a/'.repeat(200)}y`), false)
      assert.equal(createGlobMatcher('***a***b')('a'.repeat(2000)), false)
      assert.equal(createGlobMatcher('*a'.repeat(100) + 'b')('a'.repeat(2000)), false)
      assert.equal(createGlobMatcher('{a,b}'.repeat(100))('a'.repeat(100)), false)
    }, 5))
})

for (const engine of ['ripgrep', 'our own search'] as const) {
  describe(`search_file_content with ${engine}`, () => {
    const start = (files: Readonly<Record<string, string | Uint8Array>> = TREE) => {
      const ws = workspace(files)
      const host = engine === 'ripgrep' ? ws.host : withoutSearch(ws.host)
      const say = async (input: Record<string, string>) => textOf(await ws.call('search_file_content', input, { host }))
      const type = async (input: Record<string, string>) =>
        (await ws.call('search_file_content', input, { host })).error?.type
      return Object.assign(ws, { ask: say, type })
    }

    test('grouped by file, with line numbers', async () => {
      using ws = start()
      assert.equal(
        await ws.ask({ pattern: 'foo', include: '*.{ts,tsx}' }),
        `Found 5 matches for pattern 'foo' in path "." (filter: '*.{ts,tsx}'):\n---\n` +
          'File: .hidden/c.ts\nL1: foo hidden\n---\nFile: src/[id]/page.tsx\nL1: foo page\n---\n' +
          'File: src/a.ts\nL1: const foo = 1\nL3:   const FOO = 3\n---\nFile: src/deep/b.tsx\nL1: export const foo = () => null\n---',
      )
    })

    test('what is ignored, binary or not ours is not found; other encodings are', async () => {
      using ws = start()
      const text = await ws.ask({ pattern: 'foo' })
      const files = [...text.matchAll(/^File: (.*)$/gm)].map(([, file]) => file)
      const expected = [
        '.hidden/c.ts',
        'README.md',
        'important.log',
        'latin.txt',
        'src/[id]/page.tsx',
        'src/a.ts',
        'src/deep/b.tsx',
        'wide.txt',
      ]
      assert.deepEqual(files, expected)
      assert.match(text, /^Found 9 matches for pattern 'foo' in path "\.":\n---\n/)
      assert.match(text, /File: wide\.txt\nL1: foo wide\n/)
    })

    test('one match, no match, a directory, a file', async () => {
      using ws = start()
      assert.equal(
        await ws.ask({ pattern: 'bar\\s*=', path: 'src' }),
        `Found 1 match for pattern 'bar\\s*=' in path "src":\n---\nFile: src/a.ts\nL2: const bar = 2\n---`,
      )
      assert.equal(await ws.ask({ pattern: 'zzz' }), `No matches found for pattern 'zzz' in path ".".`)
      assert.equal(
        await ws.ask({ pattern: 'page', dir_path: 'src/[id]/page.tsx' }),
        `Found 1 match for pattern 'page' in path "src/[id]/page.tsx":\n---\nFile: src/[id]/page.tsx\nL1: foo page\n---`,
      )
      assert.match(await ws.ask({ pattern: 'foo', include_pattern: 'src/**/*.tsx' }), /^Found 2 matches/)
      assert.match(await ws.ask({ pattern: 'foo', include: '*.log' }), /^Found 1 match .*\n---\nFile: important\.log\n/)
    })

    test('anchors, CRLF, and a long line', async () => {
      using ws = start({ a: 'one foo\r\ntwo\r\nfoo three\r\n', long: `foo${'x'.repeat(5000)}\n` })
      assert.match(await ws.ask({ pattern: 'foo$' }), /^Found 1 match .*\n---\nFile: a\nL1: one foo\n---$/)
      assert.match(await ws.ask({ pattern: '^foo t' }), /File: a\nL3: foo three\n---$/)
      assert.match(await ws.ask({ pattern: 'foox' }), /x\.\.\. \[cut\]\n---$/)
    })

    test('refusals', async () => {
      using ws = start()
      symlinkSync('../outside', join(ws.root, 'dir'))
      assert.equal(await ws.type({ pattern: '(' }), 'invalid-pattern')
      assert.equal(await ws.type({ pattern: '' }), 'invalid-arguments')
      assert.equal(await ws.type({ pattern: 'x', path: 'nosuch' }), 'file-not-found')
      assert.equal(await ws.type({ pattern: 'OUTSIDE', path: 'dir' }), 'path-not-in-workspace')
      assert.equal(await ws.type({ pattern: 'OUTSIDE', path: '../outside' }), 'path-not-in-workspace')
      assert.equal(await ws.type({ pattern: 'x', include: '../*' }), 'invalid-arguments')
      assert.match(await ws.ask({ pattern: 'OUTSIDE' }), /^No matches/)
      assert.match(await ws.ask({ pattern: '--files' }), /^No matches/)
    })

    test('more than can be shown', { timeout: 60_000 }, async () => {
      using ws = start({ many: 'foo\n'.repeat(30_000) })
      const text = await ws.ask({ pattern: 'foo' })
      assert.match(
        text,
        /^Found 20000 matches for pattern 'foo' in path "\." \(results limited to 20000 matches\):\n---\nFile: many\nL1: foo\n/,
      )
      assert.match(text, /\n\(\d+ more matches are omitted; narrow the search\.\)\n---$/)
      assert.ok(text.length < 210_000)
    })

    test('a pattern that never ends is stopped', { timeout: 60_000 }, async () => {
      using ws = start({ a: `${'a'.repeat(60)}b\nfoo\n` })
      await ws.ask({ pattern: '^(a+)+$' })
    })
  })
}

describe('files that usually hold secrets', () => {
  test('a search finds nothing in them, unless it names them', async () => {
    using place = workspace({ '.env': 'KEY=sesame\n', 'a/server.pem': 'sesame\n', 'b.txt': 'sesame\n' })
    const found = await place.say('search_file_content', { pattern: 'sesame' })
    assert.match(found, /^Found 1 match .*b\.txt\nL1: sesame\n---\n\(2 more in files that usually contain secrets/s)
    assert.match(await place.say('search_file_content', { pattern: 'KEY' }), /^No matches found .*\n\(1 more in files/s)
    assert.match(await place.say('search_file_content', { pattern: 'KEY', path: '.env' }), /L1: KEY=sesame/)
  })

  test('what the policy asks about, a search and a glob do not open either', async () => {
    const names = [
      '.npmrc',
      '.git-credentials',
      'a/secrets.json',
      'a/.aws/config',
      'a/x.JKS',
      'id_rsa.bak',
      'own/a.txt',
    ]
    const open = ['.env.example', 'id_rsa.pub', 'b.txt']
    const all = [...names, ...open].map((name) => [name, `sesame of ${name}\n`])
    using place = workspace(Object.fromEntries(all), { secretFiles: ['own/**'] })
    const disk = createDiskView()
    for (const name of names) {
      const path = join(place.root, name)
      const { kind } = classifyPath(path, 'read', { folders: [place.root], disk, secretFiles: ['own/**'] })
      assert.equal(kind, 'secret', name)
    }
    const read = await place.say('read_many_files', { paths: ['**', '.*', '**/.*'], useDefaultExcludes: false })
    const found = await place.say('search_file_content', { pattern: 'sesame' })
    const told = (text: string) => [...text.matchAll(/sesame of (\S+)/g)].map(([, name = '']) => name).sort()
    assert.deepEqual(told(read), [...open].sort())
    assert.deepEqual(told(found), found.includes('.env.example') ? [...open].sort() : ['b.txt', 'id_rsa.pub'])
  })
})
