import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { dragoman, stage } from '../support/command.ts'
import type { JsonObject } from '../../src/model/json.ts'
import { skipWithout } from '../support/programs.ts'
import { aliveIn, noneAliveIn } from '../support/alive.ts'

const call = (name: string, args: JsonObject) => ({ call: [{ name, args }] })
const start = (command: string) => call('run_shell_command', { command, run_in_background: true })
const YOLO = ['-p', 'go', '--approval-mode', 'yolo'] as const

/** In the sandbox, where there is one, and outside of it. */
const WAYS = [['off'], ...(skipWithout('bwrap') === false ? [['auto']] : [])].flat()

for (const sandbox of WAYS)
  describe(`commands in the background, sandbox ${sandbox}`, () => {
    test('start, list, read on, send input, stop; nothing outlives the session', async () => {
      const here = await stage([
        start('echo $BASHPID > pid; echo ready; while read -r line; do echo "got $line"; done; sleep 1000'),
        { expect: { results: { matches: 'c1: running' } }, ...call('read_command_output', {}) },
        { expect: { results: 'c1: echo' }, ...call('send_command_input', { id: 'c1', text: 'hello\n' }) },
        { ...call('read_command_output', { id: 'c1', wait_seconds: 1 }) },
        { ...start('echo $BASHPID > pid2; exec sleep 1000') },
        { ...call('KillShell', { shell_id: 'c1' }) },
        { expect: { results: { matches: 'c1: ended' } }, say: 'Done.' },
      ])
      const { out, err } = await dragoman([...YOLO, '--sandbox', sandbox], here)
      assert.equal(out, 'Done.\n', err)
      assert.deepEqual(here.server.failures, [])
      assert.match(JSON.stringify(here.server.requests.at(-1)?.conversation), /got hello/)
      assert.ok(existsSync(join(here.work, 'pid2')))
      if (sandbox === 'off') {
        const pid = Number(readFileSync(join(here.work, 'pid2'), 'utf8'))
        assert.throws(() => process.kill(pid, 0), 'it has ended with the session')
      }
    })

    test('what a command leaves running has an id by which it is stopped; a kill is told as a signal', async () => {
      const here = await stage([
        call('run_shell_command', { command: 'sleep 1000 & echo started' }),
        {
          expect: { results: { matches: 'background command c1: stop them with stop_command' } },
          ...call('stop_command', { id: 'c1' }),
        },
        { expect: { results: { matches: 'c1: ended' } }, ...call('run_shell_command', { command: 'kill -9 $$' }) },
        { expect: { results: { matches: 'Signal: SIGKILL' } }, ...call('run_shell_command', { command: 'exit 137' }) },
        { expect: { results: { matches: 'Exit Code: 137' } }, ...start('exit 3') },
        { expect: { results: { matches: 'c2: ended with exit code 3' } }, say: 'Done.' },
      ])
      const { out, err } = await dragoman([...YOLO, '--sandbox', sandbox], here)
      assert.equal(out, 'Done.\n', err)
      assert.deepEqual(here.server.failures, [])
    })
  })

test('a background command needs the approval of any command; input to one that is not known is an error', async () => {
  const here = await stage([
    start('touch made.txt'),
    { expect: { results: 'no user to ask' }, ...call('read_command_output', { id: 'c9' }) },
    { expect: { results: 'There is no background command' }, say: 'Done.' },
  ])
  const { out } = await dragoman(['-p', 'go', '--sandbox', 'off'], here)
  assert.equal(out, 'Done.\n')
  assert.ok(!existsSync(join(here.work, 'made.txt')))
})

test('with the setting of the user they go on after the session, and a resumed one reads and stops them', async () => {
  const here = await stage([
    start('echo $BASHPID > pid; echo first; sleep 2; echo second; cat; echo input-closed; sleep 1000'),
    { expect: { results: { matches: 'c1: running' } }, say: 'Started.' },
    { ...call('read_command_output', { id: 'c1', wait_seconds: 4 }) },
    { expect: { results: { matches: 'c1: running[^]*first[^]*second' } }, ...start('exec sleep 1000') },
    { expect: { results: { matches: 'c2: running' } }, ...call('stop_command', { id: 'c1' }) },
    { expect: { results: { matches: 'c1: ended' } }, ...call('stop_command', { id: 'c2' }) },
    { say: 'Stopped.' },
  ])
  mkdirSync(join(here.home, '.config/dragoman'), { recursive: true })
  writeFileSync(join(here.home, '.config/dragoman/config.json'), '{"keepBackgroundCommands": true}')
  const first = await dragoman([...YOLO, '--sandbox', 'off'], here)
  assert.equal(first.out, 'Started.\n', first.err)
  assert.match(first.err, /Still running[^]*c1 echo/)
  assert.ok(aliveIn(here.work).length > 0, 'it goes on')
  const second = await dragoman([...YOLO, '--sandbox', 'off', '--continue'], here)
  assert.equal(second.out, 'Stopped.\n', second.err)
  assert.match(second.err, /Still running since this session was left: c1 echo/)
  assert.deepEqual(here.server.failures, [])
  assert.doesNotMatch(
    JSON.stringify(here.server.requests.at(-1)?.conversation),
    /input-closed\\n/,
    'its input stayed open',
  )
  await noneAliveIn(here.work)
  const third = await dragoman(['-p', 'again', '--sandbox', 'off', '--continue'], here)
  assert.doesNotMatch(third.err, /Still running/)
})

test('a project cannot keep them', async () => {
  const here = await stage([start('echo $BASHPID > pid; sleep 1000'), { say: 'Started.' }])
  mkdirSync(join(here.work, '.dragoman'), { recursive: true })
  writeFileSync(join(here.work, '.dragoman/config.json'), '{"keepBackgroundCommands": true}')
  assert.equal((await dragoman(['trust', '--yes'], here)).code, 0)
  const { out, err } = await dragoman([...YOLO, '--sandbox', 'off'], here)
  assert.equal(out, 'Started.\n', err)
  assert.ok(existsSync(join(here.work, 'pid')))
  await noneAliveIn(here.work)
})
