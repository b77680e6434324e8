import assert from 'node:assert/strict'
import { chmodSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import iconv from 'iconv-lite'
import { workspace } from './workspace.ts'

/** Ways to write a text to the disk. */
const CODINGS: readonly (readonly [name: string, encode: (text: string) => Buffer])[] = [
  ['UTF-8', (text) => Buffer.from(text)],
  ['UTF-8 with a mark', (text) => Buffer.from(`\uFEFF${text}`)],
  ['UTF-16 LE', (text) => Buffer.from(`\uFEFF${text}`, 'utf16le')],
  ['UTF-16 BE', (text) => Buffer.from(`\uFEFF${text}`, 'utf16le').swap16()],
  ['UTF-32 LE', (text) => iconv.encode(text, 'utf-32le', { addBOM: true })],
  ['windows-1252', (text) => iconv.encode(text.replace('Ж', '”'), 'windows-1252')],
  ['windows-1251', (text) => iconv.encode(`Это обычный текст по-русски\n${text.replace('é', 'ы')}`, 'windows-1251')],
  ['shift_jis', (text) => iconv.encode(`これはテストです\n${text.replace('é', 'い')}`, 'shift_jis')],
]

const TEXTS: readonly (readonly [name: string, before: string, after: string])[] = [
  ['line feeds', 'one é\ntwo Ж\nthree\n', 'one é\nTWO\nthree\n'],
  ['no line end at the end', 'one é\ntwo Ж\nthree', 'one é\nTWO\nthree'],
  ['CRLF', 'one é\r\ntwo Ж\r\nthree\r\n', 'one é\r\nTWO\r\nthree\r\n'],
  ['CRLF, none at the end', 'one é\r\ntwo Ж\r\nthree', 'one é\r\nTWO\r\nthree'],
  ['mixed: the changed line CRLF', 'one é\ntwo Ж\r\nthree\nfour\r\n', 'one é\nTWO\r\nthree\nfour\r\n'],
  ['mixed: the changed line LF', 'one é\r\ntwo Ж\nthree\r\nfour\n', 'one é\r\nTWO\nthree\r\nfour\n'],
  ['a carriage return inside a line', 'one é\rmore\ntwo Ж\nthree\n', 'one é\rmore\nTWO\nthree\n'],
]

describe('an edit changes nothing but what it is about', () => {
  for (const [coding, encode] of CODINGS) {
    for (const [name, before, after] of TEXTS) {
      test(`${coding}, ${name}`, async () => {
        for (const tool of ['replace', 'smart_edit']) {
          using ws = workspace({ file: encode(before) })
          const shown = await ws.say('read_file', { absolute_path: 'file' })
          const line = shown.split('\n').find((one) => one.startsWith('two')) ?? ''
          const text = await ws.say(tool, { file_path: 'file', instruction: 'x', old_string: line, new_string: 'TWO' })
          assert.match(text, /^Successfully modified file/, text)
          assert.deepEqual(
            ws.bytes('file'),
            encode(after),
            `${tool}: ${JSON.stringify(ws.bytes('file').toString('latin1'))}`,
          )
        }
      })
    }
  }
})

describe('write_file keeps what the file was like', () => {
  const cases: readonly (readonly [name: string, before: string | Buffer, content: string, after: string | Buffer])[] =
    [
      ['line feeds', 'a\nb\n', 'a\nc\n', 'a\nc\n'],
      ['CRLF', 'a\r\nb\r\n', 'a\nc\nd\n', 'a\r\nc\r\nd\r\n'],
      ['CRLF given for line feeds', 'a\nb\n', 'a\r\nc\r\n', 'a\nc\n'],
      ['mixed, each kept line its own', 'a\nb\r\nc\nd\r\n', 'a\nb\nnew\nc\nd\n', 'a\nb\r\nnew\r\nc\nd\r\n'],
      ['mixed, a line taken out', 'a\nb\r\nc\nd\r\n', 'a\nc\nd\n', 'a\nc\nd\r\n'],
      ['a last line end is put back', 'a\nb\n', 'a\nc', 'a\nc\n'],
      ['no last line end is put in', 'a\nb', 'a\nc\n', 'a\nc'],
      ['an emptied file is empty', 'a\nb\n', '', ''],
      ['an empty file gets what is given', '', 'x', 'x'],
      ['the mark stays', Buffer.from('\uFEFFa\n'), 'b\n', Buffer.from('\uFEFFb\n')],
      ['latin letters stay one byte', Buffer.from('caf\xe9\n', 'latin1'), 'thé\n', Buffer.from('th\xe9\n', 'latin1')],
    ]
  for (const [name, before, content, after] of cases) {
    test(name, async () => {
      using ws = workspace({ file: before })
      await ws.call('write_file', { file_path: 'file', content })
      assert.deepEqual(ws.bytes('file'), Buffer.from(after))
    })
  }

  test('a new file is exactly what was given', async () => {
    using ws = workspace()
    await ws.call('write_file', { file_path: 'new', content: 'a\r\nb\nc é' })
    assert.deepEqual(ws.bytes('new'), Buffer.from('a\r\nb\nc é'))
  })

  test('the mode stays', async () => {
    using ws = workspace({ 'run.sh': '#!/bin/sh\necho a\n' })
    chmodSync(join(ws.root, 'run.sh'), 0o755)
    await ws.call('replace', { file_path: 'run.sh', old_string: 'echo a', new_string: 'echo b' })
    assert.equal(statSync(join(ws.root, 'run.sh')).mode & 0o777, 0o755)
  })
})

describe('what would do harm is refused, and nothing changes', () => {
  test('a character that the file cannot hold', async () => {
    using ws = workspace({ file: Buffer.from('caf\xe9\n', 'latin1') })
    const output = await ws.call('replace', { file_path: 'file', old_string: 'caf', new_string: 'Ж' })
    assert.equal(output.error?.type, 'not-encodable')
    assert.match(
      output.error?.message ?? '',
      /^The text contains the character "Ж", which windows-1252 cannot encode\./,
    )
    assert.deepEqual(ws.bytes('file'), Buffer.from('caf\xe9\n', 'latin1'))
  })

  test('a binary file, and half a UTF-16 character', async () => {
    const odd = Buffer.concat([Buffer.from('\uFEFFabc', 'utf16le'), Buffer.from([7])])
    using ws = workspace({ bin: Buffer.from([0, 1, 2, 3]), odd })
    for (const name of ['bin', 'odd']) {
      const before = ws.bytes(name)
      const output = await ws.call('write_file', { file_path: name, content: 'text' })
      assert.equal(output.error?.type, 'not-editable')
      assert.deepEqual(ws.bytes(name), before)
    }
  })

  test('half a surrogate pair', async () => {
    using ws = workspace()
    const output = await ws.call('write_file', { file_path: 'x', content: 'a\uD800b' })
    assert.equal(output.error?.type, 'not-encodable')
    assert.equal(await ws.host.files.info(join(ws.root, 'x')), undefined)
  })
})
