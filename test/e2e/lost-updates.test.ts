import assert from 'node:assert/strict'
import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { startRehearsalServer } from '../../src/rehearsal/server.ts'
import { dragoman, stage } from '../support/command.ts'
import { startRandom } from '../support/mutate-random.ts'
import { preload } from '../support/preload.ts'

const SEED = Number(process.env['DRAGOMAN_SEED'] ?? 1)
const YOLO = ['--yolo', '--sandbox', 'off', '-o', 'stream-json', '-p', 'go']

const EDITS = 5

/** Long enough that reading and writing it takes a moment. */
const FILLING = `${'x'.repeat(200_000)}\n`

function lines(count: number): string {
  return Array.from({ length: count }, (_, at) => `line${at}=old\n`).join('') + FILLING
}

const edit = (path: string, at: number) => ({
  name: 'replace',
  args: { file_path: path, old_string: `line${at}=old`, new_string: `line${at}=new` },
})

/** Which results were reported as done, and which not, in the words of the report. */
function resultsIn(out: string): { done: number; refused: string[] } {
  const all = out.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))
  const results = all.filter(({ type }) => type === 'tool_result')
  return {
    done: results.filter(({ status }) => status === 'success').length,
    refused: results.filter(({ status }) => status !== 'success').map(({ output }) => String(output)),
  }
}

const madeIn = (text: string): number => text.match(/=new/g)?.length ?? 0

describe(`no edit that is reported as done is lost, seed ${SEED}`, { timeout: 600_000 }, () => {
  for (const [what, other, command] of [
    ['a link', 'link.txt'],
    ['a linked folder', 'folder/real.txt'],
    ['a way up and down', 'sub/../sub/real.txt'],
    ['a link that a command of the same answer makes', 'fresh.txt', 'ln -s sub/real.txt fresh.txt'],
  ] as const) {
    test(`eight edits of one file in one answer, half of them through ${what}`, async () => {
      const calls = Array.from({ length: 8 }, (_, at) => edit(`{cwd}/${at % 2 ? other : 'sub/real.txt'}`, at))
      const first = command === undefined ? [] : [{ name: 'run_shell_command', args: { command } }]
      const at = await stage([{ call: [...first, ...calls] }, { say: 'Done.' }])
      mkdirSync(join(at.work, 'sub'))
      const file = join(at.work, 'sub/real.txt')
      writeFileSync(file, lines(8))
      symlinkSync('sub/real.txt', join(at.work, 'link.txt'))
      symlinkSync('sub', join(at.work, 'folder'))
      const { out, code, err } = await dragoman(YOLO, at)
      assert.equal(code, 0, err)
      const { refused } = resultsIn(out)
      // A name that has come to mean another file since it was judged is not opened; what is reported as done is done.
      const moved = refused.filter((text) => /path changed after it was checked/.test(text))
      assert.deepEqual(refused, command === undefined ? [] : moved)
      assert.equal(madeIn(readFileSync(file, 'utf8')), 8 - refused.length)
    })
  }

  test('edits of one answer are made in its order, whatever the file is called', async () => {
    const at = await stage([
      {
        call: [
          { name: 'write_file', args: { file_path: '{cwd}/link.txt', content: 'first\n' } },
          { name: 'replace', args: { file_path: '{cwd}/real.txt', old_string: 'first', new_string: 'second' } },
          { name: 'replace', args: { file_path: '{cwd}/link.txt', old_string: 'second', new_string: 'third' } },
        ],
      },
      { say: 'Done.' },
    ])
    symlinkSync('real.txt', join(at.work, 'link.txt'))
    assert.deepEqual(resultsIn((await dragoman(YOLO, at)).out), { done: 3, refused: [] })
    assert.equal(readFileSync(join(at.work, 'real.txt'), 'utf8'), 'third\n')
  })

  for (const writers of [2, 4]) {
    test(`${writers} sessions edit one file at the same time, each reading it before`, async () => {
      const random = startRandom(SEED, writers)
      for (let round = 0; round < 3; round++) {
        const at = await stage([])
        const file = join(at.work, 'shared.txt')
        writeFileSync(file, lines(writers * EDITS))
        const scripts = Object.fromEntries(
          Array.from({ length: writers }, (_, who) => [
            `w${who}`,
            {
              steps: Array.from({ length: EDITS }, (__, at2) => [
                { delay: random.below(20), call: [{ name: 'read_file', args: { absolute_path: file, limit: 1 } }] },
                { delay: random.below(20), call: [edit(file, who * EDITS + at2)] },
              ]).flat(),
              end: { say: 'Done.' },
            },
          ]),
        )
        const server = await startRehearsalServer({ scripts })
        after(() => server.close())
        const env = { ...at.env, DRAGOMAN_OPENAI_CHAT_BASE_URL: `${server.url}/v1` }
        const ran = await Promise.all(
          Object.keys(scripts).map((name) =>
            dragoman(YOLO, { ...at, env: { ...env, DRAGOMAN_MODEL: `openai-chat/${name}` } }),
          ),
        )
        const results = ran.map(({ out }) => resultsIn(out))
        const edits = results.reduce((sum, { done }) => sum + done, 0) - writers * EDITS
        assert.equal(madeIn(readFileSync(file, 'utf8')), edits, `round ${round}`)
        assert.ok(edits > 0)
        for (const why of results.flatMap(({ refused }) => refused)) assert.match(why, /changed after you read it/)
        assert.deepEqual(readdirSync(join(at.home, '.local/share/dragoman/writes')), [])
      }
    })
  }

  const EDITOR = `
    const fsync = fs.fsyncSync
    let times = 0
    fs.fsyncSync = (handle) => {
      fsync(handle)
      let path = ''
      try { path = fs.readlinkSync('/proc/self/fd/' + handle) } catch {}
      if (path.includes('/.dragoman-') && times++ < 1) fs.appendFileSync(process.env.EDITED, 'by the editor\\n')
    }`

  const linux = { skip: process.platform === 'linux' ? false : 'tells by /proc when a file is written' }

  test('an editor writes the file while an edit is on its way: both changes are there', linux, async () => {
    const at = await stage([{ call: [edit('{cwd}/a.txt', 0)] }, { say: 'Done.' }])
    const file = join(at.work, 'a.txt')
    writeFileSync(file, 'line0=old\n')
    const env = { ...at.env, ...preload(EDITOR), EDITED: file }
    const { out, err } = await dragoman(YOLO, { ...at, env })
    assert.deepEqual(resultsIn(out), { done: 1, refused: [] }, err)
    assert.equal(readFileSync(file, 'utf8'), 'line0=new\nby the editor\n')
  })

  test(
    'an editor writes the file while it is written whole: its change stays, and the model is told',
    linux,
    async () => {
      const at = await stage([
        { call: [{ name: 'write_file', args: { file_path: '{cwd}/a.txt', content: 'all new\n' } }] },
        { say: 'Done.' },
      ])
      const file = join(at.work, 'a.txt')
      const env = { ...at.env, ...preload(EDITOR), EDITED: file }
      for (const before of ['old\n', undefined]) {
        rmSync(file, { force: true })
        if (before !== undefined) writeFileSync(file, before)
        const { out } = await dragoman(YOLO, { ...at, env })
        assert.match(resultsIn(out).refused.join(), /changed after you read it/)
        assert.equal(readFileSync(file, 'utf8'), `${before ?? ''}by the editor\n`)
      }
    },
  )

  test('what other names a file has is told: they keep what it was', async () => {
    const at = await stage([{ call: [edit('{cwd}/a.txt', 0)] }, { say: 'Done.' }])
    writeFileSync(join(at.work, 'a.txt'), 'line0=old\n')
    linkSync(join(at.work, 'a.txt'), join(at.work, 'b.txt'))
    await dragoman(YOLO, at)
    assert.equal(readFileSync(join(at.work, 'a.txt'), 'utf8'), 'line0=new\n')
    assert.equal(readFileSync(join(at.work, 'b.txt'), 'utf8'), 'line0=old\n')
    assert.ok(JSON.stringify(at.server.requests.at(-1)?.body).includes('1 other name (hard link)'))
  })
})

test('the temporary file of a process that was killed is gone after the next start', async () => {
  const at = await stage([{ call: [edit('{cwd}/sub/a.txt', 0)] }, { say: 'Done.' }])
  mkdirSync(join(at.work, 'sub'))
  writeFileSync(join(at.work, 'sub/a.txt'), 'line0=old\n')
  const KILL = `
    const rename = fs.renameSync
    fs.renameSync = (from, to) => {
      if (/\\.dragoman-[0-9a-f]+\\.tmp$/.test(from)) process.kill(process.pid, 'SIGKILL')
      rename(from, to)
    }`
  await dragoman(YOLO, { ...at, env: { ...at.env, ...preload(KILL) } })
  const left = readdirSync(join(at.work, 'sub')).filter((name) => name.startsWith('.dragoman-'))
  assert.equal(left.length, 1, 'it was killed in the middle')
  // A file of another's, with a name like ours, is not ours.
  writeFileSync(join(at.work, 'sub/.dragoman-0123456789abcdef.tmp'), 'not ours')
  const next = await stage([{ say: 'Hello.' }])
  await dragoman(['-p', 'hi'], { work: at.work, env: { ...next.env, HOME: at.home } })
  assert.deepEqual(readdirSync(join(at.work, 'sub')).sort(), ['.dragoman-0123456789abcdef.tmp', 'a.txt'])
  assert.equal(readFileSync(join(at.work, 'sub/a.txt'), 'utf8'), 'line0=old\n')
  assert.deepEqual(readdirSync(join(at.home, '.local/share/dragoman/writes')), [])
})
