import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { textOf, workspace, type Workspace, withoutSearch } from './workspace.ts'

/** Names as bash quotes them; each file holds its number. */
const NAMES = [
  "$'bad\\xff\\xfename.txt'",
  "$'dir\\xe9/f.txt'",
  "$'new\\nline.txt'",
  "$'esc\\x1b[31mred.txt'",
  "$'turn\\u202ename.txt'",
  "$'quote\\'s \\\\ \\x01.txt'",
]

function fixture(): Workspace {
  const ws = workspace()
  const script = NAMES.map((name, at) => `printf 'needle ${at}\\n' > ${name}`).join('\n')
  execFileSync('bash', ['-c', `mkdir $'dir\\xe9'\n${script}`], {
    cwd: ws.root,
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
  })
  return ws
}

const RAW = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202E\uFFFD]/

const linux = { skip: process.platform === 'linux' ? false : 'only here names may be any bytes' }

describe('names that cannot be read as they are', linux, () => {
  test('every tool prints them exactly, and takes what it printed', async () => {
    using ws = fixture()
    const listed = await ws.say('list_directory', { path: ws.root })
    const found = await ws.say('glob', { pattern: '**/*.txt' })
    const searched = await ws.say('search_file_content', { pattern: 'needle' })
    const slow = { host: withoutSearch(ws.host) }
    const byHand = textOf(await ws.call('search_file_content', { pattern: 'needle' }, slow))
    const many = await ws.say('read_many_files', { paths: ['**/*.txt'] })
    for (const text of [listed, found, searched, byHand, many]) assert.doesNotMatch(text, RAW)
    for (const [at, name] of NAMES.entries()) {
      if (!name.includes('/')) assert.ok(listed.split('\n').includes(name), `${name} in ${listed}`)
      const printed = found.split('\n').find((line) => line.endsWith(name.slice(2)))
      assert.ok(printed?.startsWith(`$'${ws.root}/`), `${name} in ${found}`)
      for (const text of [searched, byHand]) assert.ok(text.includes(`File: ${name}\nL1: needle ${at}`), text)
      assert.ok(many.includes(`--- ${name} ---\nneedle ${at}\n`), many)
      for (const given of [name, printed ?? '', `${ws.root}/${name}`])
        assert.equal(await ws.say('read_file', { absolute_path: given }), `needle ${at}\n`)
    }
  })

  test('a file whose name is no UTF-8 is edited, and keeps its name', async () => {
    using ws = fixture()
    const [name = ''] = NAMES
    const done = await ws.call('replace', { file_path: name, old_string: 'needle', new_string: 'thread' })
    assert.equal(done.error, undefined)
    const raw = Buffer.concat([Buffer.from(`${ws.root}/bad`), Buffer.from([0xff, 0xfe]), Buffer.from('name.txt')])
    assert.equal(readFileSync(raw, 'utf8'), 'thread 0\n')
    assert.equal((await ws.say('list_directory', { path: ws.root })).split('\n').length, 1 + NAMES.length)
  })
})

describe('what a command prints that cannot be seen', () => {
  const run = async (command: string): Promise<string> => {
    using ws = workspace()
    return await ws.say('run_shell_command', { command })
  }

  test('is written as escapes, exactly', async () => {
    const filling = 'and some more words '.repeat(10)
    const text = await run(`printf 'a line \\001\\x08 \\000 \\xff\\xc3( caf\\xe9 é \\007 end, ${filling}\\n'`)
    const { length } = text.split('\n')[0] ?? ''
    assert.ok(text.slice(length).includes('a line \\x01\\x08 \\x00 \\xff\\xc3( caf\\xe9 é \\x07 end'), text)
    assert.doesNotMatch(text, RAW)
  })

  test('is only counted where most of it is no text', async () => {
    const text = await run('head -c 20000 /dev/urandom')
    assert.match(text, /Output: \(binary output, about \d+ bytes\)/)
    assert.doesNotMatch(text, RAW)
  })
})
