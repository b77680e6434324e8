import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { WIRES } from '../support/seals.ts'
import { dragoman, stage } from '../support/command.ts'
import { root } from '../support/paths.ts'
import { clearAway } from '../support/clear.ts'

describe('dragoman -p', () => {
  test('text: what the model says is on standard output, what it does on standard error', async () => {
    const here = await stage([
      { say: 'Looking.', call: [{ name: 'read_file', args: { absolute_path: '{cwd}/a.txt' } }] },
      { expect: { results: 'forty-two' }, say: 'It says forty-two.' },
    ])
    writeFileSync(join(here.work, 'a.txt'), 'forty-two\n')
    const { code, out, err } = await dragoman(['-p', 'what is in a.txt?'], here)
    assert.equal(out, 'Looking.\nIt says forty-two.\n')
    assert.match(err, /read_file/)
    assert.equal(code, 0)
    assert.deepEqual(here.server.failures, [])
  })

  test('json and stream-json: the forms that scripts read', async () => {
    const here = await stage([{ call: [{ name: 'list_directory', args: { path: '{cwd}' } }] }, { say: 'Done.' }])
    const json = JSON.parse((await dragoman(['-p', 'go', '-o', 'json'], here)).out) as {
      response: string
      session_id: string
      stats: { tool_calls: number }
    }
    assert.equal(json.response, 'Done.')
    assert.equal(json.stats.tool_calls, 1)
    const lines = (await dragoman(['-p', 'go', '--output-format', 'stream-json'], here)).out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; timestamp: string })
    for (const type of ['init', 'message', 'tool_use', 'tool_result', 'result'])
      assert.ok(
        lines.some((line) => line.type === type),
        type,
      )
    assert.ok(lines.every((line) => !Number.isNaN(Date.parse(line.timestamp))))
  })

  test('what is piped in stands before the prompt', async () => {
    const here = await stage([{ say: 'ok' }])
    await dragoman(['-p', 'summarise'], here, { input: 'the diff' })
    const said = JSON.stringify(here.server.requests[0]?.conversation.messages.at(-1))
    assert.match(said, /the diff\\n\\nsummarise/)
  })

  test('what is piped in is waited for, however slowly it comes', async () => {
    const here = await stage([{ say: 'ok' }])
    const late = (child: ChildProcess) => setTimeout(() => child.stdin?.end('late'), 700)
    await dragoman(['-p', 'ask'], here, { started: late, open: true })
    assert.match(JSON.stringify(here.server.requests[0]?.conversation.messages.at(-1)), /late\\n\\nask/)
  })

  test('a question without a person is a denial that tells the model why; --allowed-tools answers it beforehand', async () => {
    const shell = { call: [{ name: 'run_shell_command', args: { command: 'echo done > made.txt' } }] }
    const here = await stage([shell, { say: 'Well.' }])
    assert.equal((await dragoman(['-p', 'go'], here)).code, 0)
    assert.match(JSON.stringify(here.server.requests[1]?.conversation.messages), /There is no user to ask/)
    assert.ok(!existsSync(join(here.work, 'made.txt')))
    await dragoman(['-p', 'go', '--allowed-tools', 'run_shell_command'], here)
    assert.equal(readFileSync(join(here.work, 'made.txt'), 'utf8'), 'done\n')
  })

  test('--approval-mode: plan changes nothing, auto_edit edits', async () => {
    const edit = { call: [{ name: 'write_file', args: { file_path: '{cwd}/new.txt', content: 'hello\n' } }] }
    const here = await stage([edit, { say: 'Well.' }])
    await dragoman(['-p', 'go', '--approval-mode', 'plan'], here)
    assert.ok(!existsSync(join(here.work, 'new.txt')))
    await dragoman(['-p', 'go', '--approval-mode', 'auto_edit'], here)
    assert.equal(readFileSync(join(here.work, 'new.txt'), 'utf8'), 'hello\n')
  })

  test('--resume goes on with the latest session; --fork leaves it as it is', async () => {
    const here = await stage([{ say: 'One.' }, { say: 'Two.' }, { say: 'Three.' }])
    await dragoman(['-p', 'first'], here)
    assert.equal((await dragoman(['-p', 'second', '--resume'], here)).out, 'Two.\n')
    assert.equal((await dragoman(['-p', 'third', '--fork', 'latest'], here)).out, 'Three.\n')
    const listed = JSON.parse((await dragoman(['sessions', 'list', '--json'], here)).out) as {
      id: string
      parent?: object
    }[]
    assert.deepEqual(
      listed.map(({ parent }) => parent !== undefined),
      [true, false],
    )
  })

  test('limits: --max-turns ends with 53, and says how to go on', async () => {
    const here = await stage([
      { loop: [{ say: 'Turn {n}.', call: [{ name: 'list_directory', args: { path: '{cwd}' } }] }] },
    ])
    const { code, err } = await dragoman(['-p', 'go', '--max-turns', '2'], here)
    assert.equal(code, 53)
    assert.match(err, /continue with dragoman --resume/)
  })

  test('interrupted: exit code 130, nothing is left open, and the session goes on', async () => {
    const here = await stage([{ say: 'Long. '.repeat(100), pace: 20 }, { say: 'Back.' }])
    const { code } = await dragoman(['-p', 'go'], here, {
      started: (child) => void child.stdout?.once('data', () => child.kill('SIGINT')),
    })
    assert.equal(code, 130)
    assert.equal((await dragoman(['-p', 'and?', '--resume'], here)).code, 0)
    assert.deepEqual(here.server.failures, [])
  })

  test('everything that a person can get wrong has one sentence and the right exit code', async () => {
    const here = await stage([{ say: 'ok' }])
    const wrong: [string[], number, RegExp][] = [
      [['-p', 'x', '--output-format', 'yaml'], 42, /text, json, stream-json/],
      [['-p', 'x', '--approval-mode', 'wild'], 42, /default, auto_edit, yolo, plan/],
      [['-p', 'x', '--no-such-flag'], 42, /no-such-flag/],
      [['-p', 'x', '--max-turns', '-1'], 42, /max-turns/],
      [['-p', 'x', '--cwd', '/no/such/folder'], 42, /the folder .* does not exist/],
      [['-p', 'x', '--resume', 'nonsense'], 42, /no session nonsense/],
      [['-p', 'x', '-m', 'nobody/x'], 42, /nobody/],
      [['-p', 'x', '-m', 'anthropic/claude-sonnet-4-5'], 41, /ANTHROPIC_API_KEY/],
      [['-p', 'x', '--system-file', '/no/such/file'], 52, /system prompt/],
      [['sessions', 'show', 'nonsense'], 42, /no session nonsense/],
      [['sessions', 'fly'], 42, /list, show, export, reply, rm/],
      [['sessions', 'reply', 'nonsense', 'yes'], 42, /no session nonsense/],
      [['--fork', '-p', 'x'], 42, /no session/],
      [['-m', 'rehearsal/hello', '-p', 'x', '--resume', 'nonsense'], 42, /no session nonsense/],
      [['-y', '--approval-mode', 'plan', '-p', 'x'], 42, /contradict/],
      [['-p', 'x', '--cwd', join(root, 'package.json')], 42, /the folder .* does not exist/],
    ]
    for (const [args, code, words] of wrong) {
      const ended = await dragoman(args, here)
      assert.equal(ended.code, code, `${args.join(' ')}: ${ended.err}`)
      assert.match(ended.err, words)
      assert.equal(ended.err.trim().split('\n').length, 1, ended.err)
    }
  })

  test('a session is exported as Markdown, as JSON, and as the messages of every wire', async () => {
    const here = await stage([{ call: [{ name: 'list_directory', args: { path: '{cwd}' } }] }, { say: 'Done.' }])
    await dragoman(['-p', 'go'], here)
    assert.match(
      (await dragoman(['sessions', 'export', 'latest'], here)).out,
      /## User\n\ngo[^]*list_directory: ok[^]*Done\./,
    )
    for (const format of ['json', ...WIRES]) {
      const { out, code } = await dragoman(['sessions', 'export', 'latest', '--format', format], here)
      assert.equal(code, 0, format)
      assert.match(JSON.stringify(JSON.parse(out)), /list_directory/)
    }
    const stats = JSON.parse((await dragoman(['sessions', 'show', 'latest', '--stats', '--json'], here)).out) as {
      tools: object
      turns: number
    }
    assert.deepEqual([stats.turns, Object.keys(stats.tools)], [2, ['list_directory']])
  })
})

test('the tour, with no terminal, no key and an empty home: exit 0, and a changed, passing scratch project', async () => {
  const here = await stage([])
  const { code, out } = await dragoman(['tour'], {
    work: here.work,
    env: {
      PATH: here.env['PATH'] ?? '',
      HOME: here.home,
      npm_lifecycle_event: 'start',
      npm_package_name: 'dragoman',
    },
  })
  assert.equal(code, 0, out)
  assert.match(out, /^ {2}npm start -- sessions show --cwd /m, 'it is called as it was called')
  const folder = /is in (\S+)/.exec(out)?.[1] ?? ''
  assert.match(readFileSync(join(folder, 'sum.js'), 'utf8'), /return a \+ b/)
  const passes = await new Promise((resolve) => {
    spawn(process.execPath, ['--test'], { cwd: folder, env: { PATH: here.env['PATH'] ?? '' } }).on('close', (status) =>
      resolve(status),
    )
  })
  assert.equal(passes, 0)
  const log = /log of this session is in\n {2}(\S+)/.exec(out)?.[1] ?? ''
  assert.ok(existsSync(log.replace('~', here.home)), 'the log is where it says')
  for (const row of out.slice(out.indexOf('The log of this session')).split('\n')) assert.ok(row.length <= 80, row)
  clearAway(folder)
})
