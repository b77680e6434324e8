import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createShellTool } from '../../src/tool/builtin/run-shell-command.ts'
import { findCommandPrograms } from '../../src/tool/builtin/support/command-programs.ts'
import { cleanOutput } from '../../src/tool/builtin/support/clean-output.ts'
import { textOf, workspace } from './workspace.ts'

/** The eight fields of an answer. */
function fields(text: string): Record<string, string> {
  const pattern =
    /^Command: ([^]*)\nDirectory: (.*)\nOutput: ([^]*)\nError: (.*)\nExit Code: (.*)\nSignal: (.*)\nBackground PIDs: (.*)\nProcess Group PGID: (.*)$/
  const found = pattern.exec(text)
  assert.ok(found, text)
  const [, command = '', directory = '', output = '', error = '', code = '', signal = '', pids = '', group = ''] = found
  return { command, directory, output, error, code, signal, pids, group }
}

describe('run_shell_command', () => {
  test('exactly the eight lines, in order', async () => {
    using ws = workspace()
    const text = await ws.say('run_shell_command', { command: 'echo hello' })
    const group = /PGID: (\d+)$/.exec(text)?.[1] ?? ''
    assert.equal(
      text,
      `Command: echo hello\nDirectory: (root)\nOutput: hello\nError: (none)\nExit Code: 0\nSignal: (none)\nBackground PIDs: (none)\nProcess Group PGID: ${group}`,
    )
    assert.notEqual(group, '')
  })

  test('no output, a failure, a signal, a directory', async () => {
    using ws = workspace()
    mkdirSync(join(ws.root, 'sub'))
    assert.deepEqual(
      { ...fields(await ws.say('run_shell_command', { command: 'true' })), group: '' },
      {
        command: 'true',
        directory: '(root)',
        output: '(empty)',
        error: '(none)',
        code: '0',
        signal: '(none)',
        pids: '(none)',
        group: '',
      },
    )
    const failed = await ws.call('run_shell_command', { command: 'echo oops >&2; exit 4' })
    assert.equal(failed.error, undefined, 'a command that fails is no failure of the tool')
    assert.deepEqual([fields(textOf(failed))['output'], fields(textOf(failed))['code']], ['oops', '4'])
    assert.equal(fields(await ws.say('run_shell_command', { command: 'kill -TERM $$' }))['signal'], 'SIGTERM')
    const sub = fields(await ws.say('run_shell_command', { command: 'pwd', dir_path: 'sub' }))
    assert.deepEqual([sub['directory'], sub['output']], ['sub', join(ws.root, 'sub')])
  })

  test('a server in the background: its number, its group, and where it prints', async () => {
    using ws = workspace()
    const text = await ws.say('run_shell_command', { command: 'sleep 300 & echo up' })
    const { output, pids, group } = fields(text)
    assert.match(output ?? '', /^up\n\[Background processes print to .*\.txt\]$/)
    assert.match(pids ?? '', /^\d+$/)
    await ws.call('run_shell_command', { command: `kill -- -${group}` })
    // A signal is delivered when the process gets its turn, which may take a while on a busy machine.
    const isAlive = `ps -o stat= -p ${pids} | grep -qv Z`
    const wait = `for i in $(seq 200); do ${isAlive} || { echo gone; break; }; sleep 0.1; done`
    assert.equal(fields(await ws.say('run_shell_command', { command: wait }))['output'], 'gone')
  })

  test('a server in the foreground, and a prompt, come to an end', async () => {
    using ws = workspace()
    const tool = createShellTool({ idle: 2000, timeout: 60_000 })
    const output = await tool.run({ command: 'echo listening; sleep 60' }, ws.context)
    assert.equal(output.error?.type, 'timeout')
    const { output: printed, error, code } = fields(textOf(output))
    assert.deepEqual([printed, code], ['listening', '(none)'])
    assert.equal(
      error,
      'The command was stopped: it printed nothing for 2 s. Start long-running programs in the background with &.',
    )
    const asked = fields(await ws.say('run_shell_command', { command: 'read -p "name? " name; echo "<$name>"' }))
    assert.equal(asked['output'], '<>')
  })

  test('long output: the beginning, the end, and a file that read_file can read', async () => {
    using ws = workspace()
    const { output = '' } = fields(await ws.say('run_shell_command', { command: 'seq 50000' }))
    assert.match(output, /^1\n2\n3\n/)
    assert.match(output, /\n49999\n50000$/)
    assert.ok(output.length < 40_000)
    const path = /the whole output is in (\S+) /.exec(output)?.[1] ?? ''
    assert.match(await ws.say('read_file', { absolute_path: path, offset: 30_000, limit: 1 }), /\n30001\n$/)
  })

  test('what it prints is shown while it runs', async () => {
    using ws = workspace()
    const shown: string[] = []
    await ws.call(
      'run_shell_command',
      { command: 'echo one; until [ -e heard ]; do sleep 0.05; done; echo two' },
      {
        progress(text) {
          shown.push(text)
          writeFileSync(join(ws.root, 'heard'), '')
        },
      },
    )
    assert.equal(shown[0], 'one\n')
    assert.equal(shown.at(-1), 'one\ntwo\n')
  })

  test('cancelling', async () => {
    using ws = workspace()
    const stop = new AbortController()
    setTimeout(() => stop.abort(), 150)
    const output = await ws.call('run_shell_command', { command: 'sleep 60' }, { signal: stop.signal })
    assert.equal(output.error?.type, 'cancelled')
  })

  test('refusals', async () => {
    using ws = workspace({ file: '' })
    symlinkSync('../outside', join(ws.root, 'dir'))
    const type = async (input: Record<string, string>) => (await ws.call('run_shell_command', input)).error?.type
    assert.equal(await type({ command: '  ' }), 'invalid-arguments')
    assert.equal(await type({ command: 'a\0b' }), 'invalid-arguments')
    assert.equal(await type({ command: 'pwd', directory: 'nosuch' }), 'file-not-found')
    assert.equal(await type({ command: 'pwd', directory: 'file' }), 'file-not-found')
    assert.equal(await type({ command: 'pwd', directory: 'dir' }), 'path-not-in-workspace')
    assert.equal(await type({ command: 'pwd', directory: '..' }), 'path-not-in-workspace')
    assert.equal(await type({}), 'invalid-arguments')
  })

  test('the question to the person', async () => {
    using ws = workspace()
    const command = 'cd src && FOO=1 /usr/bin/git status | grep "a; b"'
    assert.deepEqual(await createShellTool().preview?.({ command, description: 'Look around' }, ws.context), {
      kind: 'exec',
      title: 'Look around (in .)',
      command,
      rootCommand: 'cd, git, grep',
      folder: ws.root,
    })
  })
})

describe('words for people', () => {
  test('the programs of a command', () => {
    assert.deepEqual(findCommandPrograms('ls'), ['ls'])
    assert.deepEqual(findCommandPrograms('A=1 B=2 make all; ls -l\nls && (cat x)'), ['make', 'ls', 'cat'])
    assert.deepEqual(findCommandPrograms(`echo 'a | b' "c && d" e\\;f & wait`), ['echo', 'wait'])
    assert.deepEqual(findCommandPrograms('   '), [])
  })

  test('what was printed', () => {
    assert.equal(cleanOutput('\u001b[31mred\u001b[0m\r\nplain'), 'red\nplain')
    assert.equal(cleanOutput('10%\r50%\r100%\ndone\r'), '100%\ndone')
    assert.equal(cleanOutput('\0\u0001\0\0'), '(binary output, about 4 bytes)')
  })
})
