import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { textOf, workspace } from './workspace.ts'

const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(8)])

describe('read_many_files', () => {
  test('files by name and by pattern, in the order of their paths', async () => {
    using ws = workspace({ 'src/b.ts': 'b', 'src/a.ts': 'a\n', 'docs/x.md': '# x\n', 'src/deep/c.ts': 'c\n' })
    const output = await ws.call('read_many_files', { paths: ['docs/x.md', 'src/*.ts'] })
    assert.equal(
      output.content,
      '--- docs/x.md ---\n# x\n--- src/a.ts ---\na\n--- src/b.ts ---\nb\n--- End of content ---',
    )
    assert.equal(output.display, 'Read 3 file(s).')
  })

  test('a directory, with or without what is below', async () => {
    using ws = workspace({ 'src/a.ts': 'a\n', 'src/deep/c.ts': 'c\n' })
    assert.equal(
      await ws.say('read_many_files', { paths: ['src'] }),
      '--- src/a.ts ---\na\n--- src/deep/c.ts ---\nc\n--- End of content ---',
    )
    assert.equal(
      await ws.say('read_many_files', { paths: ['src'], recursive: false }),
      '--- src/a.ts ---\na\n--- End of content ---',
    )
  })

  test('what is left out: ignored, built, binary, excluded, secret', async () => {
    using ws = workspace({
      '.gitignore': '*.log\n',
      'a.ts': 'a\n',
      'x.log': 'log\n',
      'dist/o.js': 'o\n',
      'node_modules/m.js': 'm\n',
      'b.test.ts': 'b\n',
      'data.xyz': Buffer.from([0, 1, 2]),
      '.env': 'KEY=canary\n',
      'server.key': 'canary\n',
    })
    assert.equal(
      await ws.say('read_many_files', { paths: ['**/*'], exclude: ['*.test.ts', '.gitignore'] }),
      '--- a.ts ---\na\n[Skipped: data.xyz (binary)]\n--- End of content ---',
    )
    assert.match(
      await ws.say('read_many_files', { paths: ['**'], useDefaultExcludes: false }),
      /--- dist\/o\.js ---\no\n/,
    )
    assert.doesNotMatch(await ws.say('read_many_files', { paths: ['**', '.*'], useDefaultExcludes: false }), /canary/)
    const all = { paths: ['*.log'], file_filtering_options: { respect_git_ignore: false } }
    assert.equal(await ws.say('read_many_files', all), '--- x.log ---\nlog\n--- End of content ---')
  })

  test('a file that is named is read, whatever it is', async () => {
    using ws = workspace({ '.gitignore': '*.log\n', 'x.log': 'log\n', '.env': 'FAKE\n' })
    assert.equal(
      await ws.say('read_many_files', { paths: ['x.log', '.env'] }),
      '--- .env ---\nFAKE\n--- x.log ---\nlog\n--- End of content ---',
    )
  })

  test('media only if asked for by name', async () => {
    using ws = workspace({ 'img/a.png': png, 'img/b.txt': 'b\n' })
    assert.equal(await ws.say('read_many_files', { paths: ['img/**'] }), '--- img/b.txt ---\nb\n--- End of content ---')
    for (const paths of [
      ['img/a.png', 'img/b.txt'],
      ['img/*.png', 'img/*.txt'],
    ]) {
      const { content } = await ws.call('read_many_files', { paths })
      assert.deepEqual(content, [
        { kind: 'text', text: '--- img/a.png ---\n' },
        { kind: 'media', mime: 'image/png', data: png.toString('base64'), name: 'a.png' },
        { kind: 'text', text: '--- img/b.txt ---\nb\n' },
        { kind: 'text', text: '--- End of content ---' },
      ])
    }
  })

  test('a long file is cut, and what it holds is known', async () => {
    using ws = workspace({ long: 'x\n'.repeat(3000) })
    const text = await ws.say('read_many_files', { paths: ['long'] })
    assert.match(text, /\nx\n\[Lines 1-2000 of 3000; use read_file for the rest\.\]\n--- End of content ---$/)
    ws.file('long', 'changed\n')
    assert.equal((await ws.call('write_file', { file_path: 'long', content: 'y' })).error?.type, 'file-changed')
  })

  test('nothing found, nothing named, nothing outside', async () => {
    using ws = workspace({ a: 'a\n' })
    const none = await ws.call('read_many_files', { paths: ['*.zzz'] })
    assert.equal(none.error?.type, 'file-not-found')
    assert.match(textOf(none), /^No files were read/)
    assert.equal((await ws.call('read_many_files', { paths: [] })).error?.type, 'invalid-arguments')
    assert.equal((await ws.call('read_many_files', { paths: ['../outside/*'] })).error?.type, 'invalid-arguments')
    const outside = await ws.say('read_many_files', { paths: ['a', '/etc/passwd', 'nosuch'] })
    assert.match(
      outside,
      /^--- a ---\na\n\[Skipped: The path is outside the workspace: \/etc\/passwd\..*; nosuch \(not found\)\]\n/,
    )
  })
})
