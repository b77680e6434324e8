import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { until } from '../support/alive.ts'
import { dragoman, stage } from '../support/command.ts'
import { preload } from '../support/preload.ts'
import { entriesIn, forgedLog, logsIn } from '../support/session-files.ts'

const FREE = ['--yolo', '--sandbox', 'off']

/** A command that leaves a mark each time that it runs, and takes a while. */
const MARKED = { name: 'run_shell_command', args: { command: 'echo EFFECT >> {cwd}/effects; sleep 3' } }

/** A session whose process was killed while a command ran, or right before it began. */
async function killed(when: 'while it runs' | 'before it begins') {
  const here = await stage({ steps: [{ say: 'I run it.', call: [MARKED] }], end: { say: 'Well.' } })
  const effects = join(here.work, 'effects')
  let child: ChildProcess | undefined
  // The entry after the turn says that the call begins.
  const dies = `const real = fs.writeSync
    fs.writeSync = (handle, bytes, ...rest) => {
      if (String(bytes).includes('"kind":"intent"')) process.kill(process.pid, 'SIGKILL')
      return real(handle, bytes, ...rest)
    }`
  const env = when === 'while it runs' ? here.env : { ...here.env, ...preload(dies) }
  const ended = dragoman(['-p', 'go', ...FREE], { ...here, env }, { started: (one) => (child = one) })
  if (when === 'while it runs') {
    await until(() => existsSync(effects), 60_000)
    child?.kill('SIGKILL')
  }
  assert.equal((await ended).code, null)
  const [log = ''] = logsIn(here.home)
  const runs = (): number => (existsSync(effects) ? readFileSync(effects, 'utf8').trim().split('\n').length : 0)
  return { ...here, log, runs }
}

/** What the model was told of the call. */
function toldOf(server: Awaited<ReturnType<typeof stage>>['server']): string {
  return JSON.stringify(server.requests.at(-1)?.body)
}

describe('a call whose begin can no longer be read', () => {
  const damages: Record<string, (line: Buffer) => Buffer> = {
    'a flipped bit': (line) => {
      line[40] = (line[40] ?? 0) ^ 1
      return line
    },
    'a torn end': (line) => line.subarray(0, 30),
    'a page of NULs': (line) => Buffer.alloc(line.length),
    'no line at all, and no lock': () => Buffer.alloc(0),
  }
  for (const [name, damage] of Object.entries(damages))
    for (const prompt of [[], ['-p', 'go on']])
      test(`${name}, ${prompt.length > 0 ? 'with' : 'without'} a prompt: it does not run again, and is not called harmless`, async () => {
        const { log, runs, server, ...here } = await killed('while it runs')
        const bytes = readFileSync(log)
        const at = bytes.lastIndexOf('\n{', bytes.length - 2) + 1
        assert.match(bytes.subarray(at).toString(), /"kind":"intent"/)
        writeFileSync(log, Buffer.concat([bytes.subarray(0, at), damage(Buffer.from(bytes.subarray(at)))]))
        if (name.includes('lock')) rmSync(log.replace('.jsonl', '.lock'))
        const ended = await dragoman([...prompt, '--resume', ...FREE], here)
        assert.equal(ended.code, 0, ended.err)
        assert.match(ended.err, /may have had an effect, and does not run again/)
        assert.match(toldOf(server), /It may have had an effect/)
        assert.doesNotMatch(toldOf(server), /had no effect/)
        assert.equal(runs(), 1)
      })
})

test('a call that had not begun runs once, if the log is whole', async () => {
  const { runs, ...here } = await killed('before it begins')
  assert.equal(runs(), 0)
  assert.equal((await dragoman(['--resume', ...FREE], here)).code, 0)
  assert.equal((await dragoman(['-p', 'more', '--resume', ...FREE], here)).code, 0)
  assert.equal(runs(), 1)
})

test('two damaged neighbours: an altered call neither runs nor reaches the model', async () => {
  const { log, server, ...here } = await killed('before it begins')
  const lines = readFileSync(log, 'utf8').split('\n')
  const at = lines.findIndex((line) => line.includes('"kind":"turn"'))
  lines[at - 1] = `#${lines[at - 1]?.slice(1)}`
  lines[at] = lines[at]?.replaceAll('EFFECT', 'EFFECU') ?? ''
  writeFileSync(log, lines.join('\n'))
  const ended = await dragoman(['--resume', ...FREE], here)
  assert.equal(ended.code, 0, ended.err)
  assert.match(ended.err, /1 altered, skipped/)
  assert.doesNotMatch(toldOf(server), /EFFECU/)
  // The model, which knows nothing of it, makes the call again as it was.
  assert.equal(readFileSync(join(here.work, 'effects'), 'utf8'), 'EFFECT\n')
})

test('a turn of an old log that lost the line before it: its calls are not used, and that is said', async () => {
  const { log, runs, server, ...here } = await killed('before it begins')
  const lines = forgedLog(entriesIn(log)).split('\n')
  const at = lines.findIndex((line) => line.includes('"kind":"turn"'))
  lines[at - 1] = ''.padEnd(80, '\0')
  writeFileSync(log, lines.join('\n'))
  const ended = await dragoman(['--resume', ...FREE], here)
  assert.equal(ended.code, 0, ended.err)
  assert.match(ended.err, /1 unverified, used without calls and decisions/)
  assert.match(toldOf(server), /I run it/)
  assert.doesNotMatch(toldOf(server), /EFFECT/)
  assert.equal(runs(), 0)
})

test('entries with right sums and wrong shapes are set aside, told once, and every command goes on', async () => {
  const here = await stage({
    steps: [{ say: 'I look.', call: [{ name: 'list_directory', args: { path: '{cwd}' } }] }],
    end: { say: 'Well.' },
  })
  assert.equal((await dragoman(['-p', 'go', ...FREE], here)).code, 0)
  const [log = ''] = logsIn(here.home)
  const whole = entriesIn(log)
  type Shape = (entries: Record<string, unknown>[], kind: (name: string) => Record<string, object>) => void
  const shapes: Record<string, Shape> = {
    'parts are null': (_, kind) => Object.assign(kind('turn')['turn'] ?? {}, { parts: null }),
    'no origin': (_, kind) => Object.assign(kind('turn')['turn'] ?? {}, { origin: undefined }),
    'a number for text': (_, kind) => Object.assign(kind('note'), { text: 7 }),
    'a result of nothing': (_, kind) => Object.assign(kind('result'), { result: {} }),
    'a huge number': (entries) => entries.push({ seq: Number.MAX_SAFE_INTEGER, at: 1, kind: 'note', text: 'last' }),
    'an unknown kind': (entries) => entries.push({ seq: 900, at: 1, kind: 'hologram' }),
    'a version that is text': (entries) => Object.assign(entries[0] ?? {}, { version: 'two' }),
  }
  let count = 0
  for (const [name, change] of Object.entries(shapes)) {
    const entries = structuredClone(whole)
    change(entries, (kind) => entries.find((entry) => entry['kind'] === kind) as Record<string, object>)
    writeFileSync(log, forgedLog(entries))
    const first = await dragoman(['-p', 'on', '--resume', ...FREE], here)
    assert.equal(first.code, 0, `${name}: ${first.err}`)
    assert.match(first.err, /1 unknown to this version, skipped/, name)
    assert.equal((await dragoman(['-p', 'and on', '--resume', ...FREE], here)).code, 0, name)
    const words = [
      ['sessions', 'list'],
      ['sessions', 'show'],
      ['sessions', 'export'],
      ['sessions', 'export', '--format', 'anthropic'],
      ['undo', '--yes'],
      ['-p', 'x', '--fork'],
    ]
    // Each command sees some of the shapes; they all read through one door.
    for (const [at, command] of words.entries()) {
      if ((at + count) % 3 > 0) continue
      const ended = await dragoman(command, here)
      assert.equal(ended.code, 0, `${name}, ${command.join(' ')}: ${ended.err}`)
      assert.doesNotMatch(ended.err, /internal error/)
    }
    count++
    for (const fork of logsIn(here.home)) if (fork !== log) rmSync(fork)
    assert.deepEqual(here.server.failures, [], name)
  }
})

describe('a log that is gone in the middle of a run', () => {
  const ways: Record<string, (log: string) => void> = {
    'was moved away': (log) => renameSync(log, `${log}.bak`),
    'was deleted with its folder': (log) => rmSync(dirname(log), { recursive: true }),
    'was replaced by another file': (log) => {
      renameSync(log, `${log}.bak`)
      writeFileSync(log, 'something else\n')
    },
  }
  for (const [name, way] of Object.entries(ways))
    test(`it ${name}: the run stops and says so, and nothing is lost`, async () => {
      const here = await stage([
        {
          say: 'I wait.',
          call: [
            {
              name: 'run_shell_command',
              args: { command: 'touch {cwd}/begun; while [ ! -e {cwd}/go ]; do sleep 0.1; done; echo WAITED' },
            },
          ],
        },
        { say: 'Then.', call: [{ name: 'run_shell_command', args: { command: 'touch {cwd}/after' } }] },
        { say: 'Done.' },
        { say: 'Gone on.' },
      ])
      const ended = dragoman(['-p', 'go', ...FREE], here)
      await until(() => existsSync(join(here.work, 'begun')), 60_000)
      const [log = ''] = logsIn(here.home)
      way(log)
      writeFileSync(join(here.work, 'go'), '')
      const { code, err } = await ended
      assert.equal(code, 1, err)
      const id = /continue with dragoman --resume (\S+?)\.?\n/.exec(err)?.[1] ?? ''
      assert.match(err, /moved, removed or replaced during the session; it was saved again/)
      assert.ok(!existsSync(join(here.work, 'after')), 'nothing ran that is not on record')
      const kept = logsIn(here.home).find((file) => file.endsWith(`/${id}.jsonl`)) ?? ''
      assert.match(readFileSync(kept, 'utf8'), /WAITED/)
      const again = await dragoman(['-p', 'on', '--resume', id, ...FREE], here)
      assert.equal(again.code, 0, again.err)
    })
})
