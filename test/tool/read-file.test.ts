import assert from 'node:assert/strict'
import { symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { textOf, workspace } from './workspace.ts'

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join('')

describe('read_file: text', () => {
  test('as it is, by an absolute path or from the workspace', async () => {
    using ws = workspace({ 'src/a.ts': 'const a = 1\n\nconst b = 2' })
    const output = await ws.call('read_file', { absolute_path: join(ws.root, 'src/a.ts') })
    assert.deepEqual(output, { content: 'const a = 1\n\nconst b = 2', display: 'Read all 3 lines from src/a.ts' })
    assert.equal(await ws.say('read_file', { absolute_path: 'src/a.ts' }), 'const a = 1\n\nconst b = 2')
    assert.equal(await ws.say('read_file', { file_path: 'src/a.ts' }), 'const a = 1\n\nconst b = 2')
  })

  test('an empty file', async () => {
    using ws = workspace({ empty: '' })
    assert.equal(await ws.say('read_file', { absolute_path: 'empty' }), '(The file is empty.)')
  })

  test('a long file tells its lines and the next offset', async () => {
    using ws = workspace({ long: numbered(5000) })
    const text = await ws.say('read_file', { absolute_path: 'long' })
    assert.ok(
      text.startsWith(
        'Showing lines 1-2000 of 5000. To continue, use offset: 2000.\n--- content ---\nline 1\nline 2\n',
      ),
    )
    assert.ok(text.endsWith('line 2000\n'))
    const next = await ws.say('read_file', { absolute_path: 'long', offset: 4998 })
    assert.equal(next, 'Showing lines 4999-5000 of 5000.\n--- content ---\nline 4999\nline 5000\n')
    const some = await ws.say('read_file', { absolute_path: 'long', offset: 2, limit: 2 })
    assert.equal(some, 'Showing lines 3-4 of 5000. To continue, use offset: 4.\n--- content ---\nline 3\nline 4\n')
  })

  test('start_line and end_line mean the same, counted from 1', async () => {
    using ws = workspace({ long: numbered(9) })
    const text = await ws.say('read_file', { file_path: 'long', start_line: 3, end_line: 4 })
    assert.equal(text, 'Showing lines 3-4 of 9. To continue, use offset: 4.\n--- content ---\nline 3\nline 4\n')
    assert.match(await ws.say('read_file', { file_path: 'long', start_line: '8' }), /^Showing lines 8-9 of 9\.\n/)
  })

  test('lines that are too long are cut, and that is told', async () => {
    using ws = workspace({ long: `${'x'.repeat(5000)}\nshort\n` })
    const text = await ws.say('read_file', { absolute_path: 'long' })
    assert.equal(text, `Lines over 2000 characters are cut.\n--- content ---\n${'x'.repeat(2000)}... [cut]\nshort\n`)
  })

  test('a file that git ignores is read, with a note', async () => {
    using ws = workspace({
      '.gitignore': 'dist/\n*.log\n!keep.log\n',
      'dist/a.js': 'a\n',
      'x.log': 'x\n',
      'keep.log': 'k\n',
    })
    assert.equal(
      await ws.say('read_file', { absolute_path: 'dist/a.js' }),
      'Note: git ignores this file.\n--- content ---\na\n',
    )
    assert.equal(
      await ws.say('read_file', { absolute_path: 'x.log' }),
      'Note: git ignores this file.\n--- content ---\nx\n',
    )
    assert.equal(await ws.say('read_file', { absolute_path: 'keep.log' }), 'k\n')
  })

  test('a large file is read in parts with little memory', { timeout: 60_000 }, async () => {
    using ws = workspace()
    const path = ws.file('huge.txt', `${'0123456789'.repeat(9)}012345678\n`.repeat(400_000))
    const before = process.memoryUsage().rss
    const text = await ws.say('read_file', { absolute_path: path, offset: 399_998, limit: 5 })
    assert.match(text, /^Showing lines 399999-400000 of 400000\.\n--- content ---\n0123/)
    const grown = process.memoryUsage().rss - before
    assert.ok(grown < 100 * 2 ** 20, `grew by ${grown}`)
    assert.match(
      await ws.say('read_file', { absolute_path: path }),
      /^Showing lines 1-2000 of 400000\. To continue, use offset: 2000\./,
    )
  })
})

describe('read_file: encodings', () => {
  const encoded: readonly (readonly [name: string, bytes: Buffer, text: string])[] = [
    ['UTF-8 with a mark', Buffer.from('\uFEFFgrüße\n'), 'grüße\n'],
    ['UTF-16 LE with a mark', Buffer.from('\uFEFFgrüße\r\nzwei\r\n', 'utf16le'), 'grüße\nzwei\n'],
    ['UTF-16 BE with a mark', Buffer.from('\uFEFFgrüße\n', 'utf16le').swap16(), 'grüße\n'],
    ['UTF-16 LE without one', Buffer.from('plain English text\n', 'utf16le'), 'plain English text\n'],
    ['windows-1252', Buffer.from('caf\xe9 \x93quoted\x94 na\xefve\n', 'latin1'), 'café “quoted” naïve\n'],
    [
      'windows-1251',
      Buffer.from('cff0e8e2e5f22c20ece8f02120dffdf7ea0a'.replace('dffdf7ea', 'fff7eae0'), 'hex'),
      'Привет, мир! ячка\n',
    ],
    ['koi8-r', Buffer.from('f0d2c9d7c5d42c20cdc9d2210a', 'hex'), 'Привет, мир!\n'],
    ['shift_jis', Buffer.from('82b182f182c982bf82cd90a28a450a', 'hex'), 'こんにちは世界\n'],
    ['euc-kr', Buffer.from('bec8b3e7c7cfbcbcbfe40a', 'hex'), '안녕하세요\n'],
    ['gb18030', Buffer.from('c4e3bac3cac0bde7a3acd5e2cac7d6d0cec40a', 'hex'), '你好世界，这是中文\n'],
  ]
  for (const [name, bytes, text] of encoded) {
    test(name, async () => {
      using ws = workspace({ file: bytes })
      assert.equal(await ws.say('read_file', { absolute_path: 'file' }), text)
    })
  }
})

describe('read_file: what is not text', () => {
  const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(20)])
  const media: readonly (readonly [name: string, bytes: Buffer, mime: string])[] = [
    ['a.png', png, 'image/png'],
    ['no-extension', png, 'image/png'],
    ['a.jpg', Buffer.from('ffd8ffe000104a4649460001', 'hex'), 'image/jpeg'],
    ['a.gif', Buffer.from('GIF89a\x01\x00\x01\x00', 'latin1'), 'image/gif'],
    ['a.webp', Buffer.from('RIFF\x10\0\0\0WEBPVP8 ', 'latin1'), 'image/webp'],
    ['a.pdf', Buffer.from('%PDF-1.7\n%\xe2\xe3', 'latin1'), 'application/pdf'],
    ['a.wav', Buffer.from('RIFF\x10\0\0\0WAVEfmt ', 'latin1'), 'audio/wav'],
    ['a.mp3', Buffer.from('ID3\x03\0\0\0\0', 'latin1'), 'audio/mpeg'],
    ['a.mp4', Buffer.from('\0\0\0\x18ftypmp42\0\0\0\0', 'latin1'), 'video/mp4'],
  ]
  for (const [name, bytes, mime] of media) {
    test(`${name} is ${mime}`, async () => {
      using ws = workspace({ [name]: bytes })
      const output = await ws.call('read_file', { absolute_path: name })
      assert.deepEqual(output.content, [{ kind: 'media', mime, data: bytes.toString('base64'), name }])
      assert.equal(output.display, `Read ${mime} file: ${name}`)
    })
  }

  test('a picture in name only is what it is', async () => {
    using ws = workspace({ 'fake.png': 'only text\n', 'page.svg': '<svg/>\n', 'video.ts': 'const a = 1\n' })
    assert.equal(await ws.say('read_file', { absolute_path: 'fake.png' }), 'only text\n')
    assert.equal(await ws.say('read_file', { absolute_path: 'page.svg' }), '<svg/>\n')
    assert.equal(await ws.say('read_file', { absolute_path: 'video.ts' }), 'const a = 1\n')
  })

  test('a binary file is named as such', async () => {
    using ws = workspace({ 'a.bin': Buffer.from([1, 2, 0, 3, 0xff, 0xfe, 0, 9]) })
    const path = join(ws.root, 'a.bin')
    const output = await ws.call('read_file', { absolute_path: path })
    assert.deepEqual(output, {
      content: `Cannot display content of binary file: ${path} (8 bytes).`,
      display: 'Skipped binary file: a.bin',
    })
  })

  test('a picture that is too large', async () => {
    using ws = workspace({ 'big.png': png })
    truncateSync(join(ws.root, 'big.png'), 30 * 2 ** 20)
    const output = await ws.call('read_file', { absolute_path: 'big.png' })
    assert.equal(output.error?.type, 'file-too-large')
  })
})

describe('read_file: refusals', () => {
  test('each has a sentence and a type', async () => {
    using ws = workspace({ 'src/a': 'a\nb\n' })
    symlinkSync('../outside/secret.txt', join(ws.root, 'link'))
    const cases: readonly (readonly [input: Record<string, string | number>, type: string, text: RegExp])[] = [
      [{ absolute_path: 'nosuch' }, 'file-not-found', /^File not found: .*\/ws\/nosuch$/],
      [{ absolute_path: 'src' }, 'target-is-directory', /is a folder/],
      [{ absolute_path: '../outside/secret.txt' }, 'path-not-in-workspace', /is outside the workspace/],
      [{ absolute_path: 'link' }, 'path-not-in-workspace', /is outside the workspace/],
      [{ absolute_path: '/etc/passwd' }, 'path-not-in-workspace', /The allowed folders are/],
      [{ absolute_path: '' }, 'invalid-arguments', /^absolute_path must not be empty\.$/],
      [{ absolute_path: 'src/a', offset: -1 }, 'invalid-arguments', /^offset must be/],
      [{ absolute_path: 'src/a', limit: 0 }, 'invalid-arguments', /^limit must be/],
      [{ absolute_path: 'src/a', offset: 7 }, 'invalid-arguments', /beyond the end: .* has 2 lines\.$/],
      [{ offset: 1 }, 'invalid-arguments', /absolute_path/],
      [{ absolute_path: 'a\0b' }, 'bad-path', /zero byte/],
    ]
    for (const [input, type, text] of cases) {
      const output = await ws.call('read_file', input)
      assert.equal(output.error?.type, type, JSON.stringify(input))
      assert.match(textOf(output), text)
      assert.equal(output.error?.message, textOf(output))
    }
    writeFileSync(join(ws.root, 'x'), 'x')
  })
})
