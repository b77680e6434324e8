import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { skipWithoutBox } from '../host/box.ts'
import { dragoman, stage } from '../support/command.ts'

const noBox = await skipWithoutBox()

type Stage = Awaited<ReturnType<typeof stage>>
type Groups = Readonly<Record<string, readonly object[]>>

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const command = (text: string, matcher?: string, more: object = {}) => ({
  ...(matcher !== undefined && { matcher }),
  hooks: [{ type: 'command', command: text, ...more }],
})

/** Hooks of the user, in our settings. */
function ownHooks(here: Stage, hooks: Groups, more: object = {}): void {
  write(join(here.home, '.config/dragoman/config.json'), JSON.stringify({ hooks, ...more }))
}

const shell = (text: string) => ({ call: [{ name: 'run_shell_command', args: { command: text } }] })
const lastRequest = (here: Stage): string => JSON.stringify(here.server.requests.at(-1)?.conversation)
const readInput = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>

describe('hooks', () => {
  test('PreToolUse: the tool under its name elsewhere; exit 2 refuses with the reason, and the call has its result', async () => {
    const here = await stage([shell('echo hi > made.txt'), { say: 'Well.' }])
    ownHooks(here, { PreToolUse: [command(`cat > ${here.home}/in.json; echo no writing >&2; exit 2`, 'Bash')] })
    const { code } = await dragoman(['-p', 'go', '--allowed-tools', 'run_shell_command'], here)
    assert.equal(code, 0)
    assert.ok(!existsSync(join(here.work, 'made.txt')))
    assert.match(lastRequest(here), /A hook refused this call: no writing/)
    const input = readInput(join(here.home, 'in.json'))
    assert.equal(input['hook_event_name'], 'PreToolUse')
    assert.equal(input['tool_name'], 'Bash')
    assert.deepEqual(input['tool_input'], { command: 'echo hi > made.txt' })
    assert.equal(input['cwd'], here.work)
    assert.ok(existsSync(String(input['transcript_path'])))
  })

  test('JSON: updatedInput changes the call, additionalContext reaches the model, and a deny of the policy stays', async () => {
    const here = await stage([shell('echo one > made.txt'), { say: 'Well.' }])
    const changed = {
      hookSpecificOutput: {
        permissionDecision: 'allow',
        updatedInput: { command: 'echo two > made.txt' },
        additionalContext: 'PRE-CONTEXT',
      },
    }
    ownHooks(here, {
      PreToolUse: [command(`echo '${JSON.stringify(changed)}'`, 'Bash')],
      PostToolUse: [command(`echo '${JSON.stringify({ decision: 'block', reason: 'POST-REASON' })}'`, '.*')],
    })
    await dragoman(['-p', 'go'], here)
    assert.equal(readFileSync(join(here.work, 'made.txt'), 'utf8'), 'two\n')
    assert.match(lastRequest(here), /PRE-CONTEXT/)
    assert.match(lastRequest(here), /POST-REASON/)
    assert.match(lastRequest(here), /A hook of the user changed the arguments/)
    const denied = await stage([shell('echo one > made.txt'), { say: 'Well.' }])
    const allow = { hookSpecificOutput: { permissionDecision: 'allow' } }
    ownHooks(denied, { PreToolUse: [command(`echo '${JSON.stringify(allow)}'`)] }, { policy: { deny: ['echo'] } })
    await dragoman(['-p', 'go'], denied)
    assert.ok(!existsSync(join(denied.work, 'made.txt')))
    assert.match(lastRequest(denied), /Denied by the policy/)
  })

  test('a hook that fails, hangs or prints nonsense is reported, and loses no call', async () => {
    const here = await stage([shell('echo hi > made.txt'), { say: 'Well.' }])
    ownHooks(here, {
      PreToolUse: [
        command('echo broken >&2; exit 7'),
        command('sleep 100', undefined, { timeout: 1 }),
        command('echo "{ not json"'),
        command('/nowhere/to/be/found'),
      ],
    })
    const { code, err } = await dragoman(['-p', 'go', '--allowed-tools', 'run_shell_command'], here)
    assert.equal(code, 0)
    assert.equal(readFileSync(join(here.work, 'made.txt'), 'utf8'), 'hi\n')
    assert.match(err, /failed: exit code 7: broken/)
    assert.match(err, /it took longer than 1 s/)
    assert.match(err, /exit code 127/)
  })

  test('UserPromptSubmit adds its output or refuses; SessionStart adds; Stop lets the model go on; SessionEnd runs', async () => {
    const here = await stage([{ say: 'First.' }, { say: 'Second.' }])
    const stop = `cat > ${here.home}/stop.json; if grep -q '"stop_hook_active":false' ${here.home}/stop.json; then echo check again >&2; exit 2; fi`
    ownHooks(here, {
      SessionStart: [command('echo START-CONTEXT', 'startup')],
      UserPromptSubmit: [command('echo PROMPT-CONTEXT')],
      Stop: [command(stop)],
      SessionEnd: [command(`touch ${here.home}/ended`)],
    })
    const { out } = await dragoman(['-p', 'go'], here)
    assert.equal(out, 'First.\nSecond.\n')
    for (const text of ['START-CONTEXT', 'PROMPT-CONTEXT', 'check again'])
      assert.ok(lastRequest(here).includes(text), text)
    assert.equal(readInput(join(here.home, 'stop.json'))['stop_hook_active'], true)
    assert.ok(existsSync(join(here.home, 'ended')))
    const refusing = await stage([{ say: 'never' }])
    ownHooks(refusing, { UserPromptSubmit: [command('echo no secrets please >&2; exit 2')] })
    const refused = await dragoman(['-p', 'my password is x'], refusing)
    assert.equal(refused.code, 1)
    assert.match(refused.err, /A hook refused the prompt: no secrets please/)
    assert.equal(refusing.server.requests.length, 0)
    const stopping = await stage([{ say: 'never' }])
    ownHooks(stopping, { UserPromptSubmit: [command(`echo '{"continue":false,"stopReason":"closed today"}'`)] })
    assert.match((await dragoman(['-p', 'x'], stopping)).err, /A hook stopped the run: closed today/)
  })

  test('a trusted project: its hooks run in the sandbox; those of Gemini CLI by their own names', async () => {
    const here = await stage([
      { call: [{ name: 'read_file', args: { absolute_path: '{cwd}/a.txt' } }] },
      { say: 'Well.' },
    ])
    writeFileSync(join(here.work, 'a.txt'), 'x\n')
    write(
      join(here.work, '.gemini/settings.json'),
      `// comment\n${JSON.stringify({ hooks: { BeforeTool: [command('cat > before.json', 'read_.*', { timeout: 5000 })], AfterTool: [command('cat > after.json')], BeforeModel: [command('true')] } })}`,
    )
    assert.equal((await dragoman(['trust', '--yes'], here)).code, 0)
    const { err } = await dragoman(['-p', 'go'], here)
    assert.match(err, /the event BeforeModel does not exist here/)
    const before = readInput(join(here.work, 'before.json'))
    assert.equal(before['hook_event_name'], 'BeforeTool')
    assert.equal(before['tool_name'], 'read_file')
    const after = readInput(join(here.work, 'after.json')) as { tool_response: { llmContent: string } }
    assert.match(after.tool_response.llmContent, /x/)
  })

  test(
    'a hook that writes where the sandbox protects is told of trustHooks, and runs with it',
    { skip: noBox },
    async () => {
      const here = await stage([{ loop: [{ say: 'Well.' }] }])
      const hooks = { Stop: [command('echo x >> .claude/stops.log')] }
      write(join(here.work, '.claude/settings.json'), JSON.stringify({ hooks }))
      await dragoman(['trust', '--yes'], here)
      assert.match((await dragoman(['-p', 'go'], here)).err, /Read-only file system\. .*"trustHooks" in your settings/)
      ownHooks(here, {}, { projects: { [here.work]: { trustHooks: true } } })
      for (const _again of [1, 2]) assert.equal((await dragoman(['-p', 'go'], here)).err, '')
      assert.equal(readFileSync(join(here.work, '.claude/stops.log'), 'utf8'), 'x\nx\n')
    },
  )

  test('SubagentStop has the name of the agent; hooks guard the calls of subagents, too', async () => {
    const here = await stage([
      { when: { user: 'CHILD', turns: 0 }, ...shell('echo hi > made.txt') },
      { when: { user: 'CHILD' }, say: 'Child done.' },
      { call: [{ name: 'task', args: { description: 'd', prompt: 'CHILD', subagent_type: 'general' } }] },
      { say: 'Done.' },
    ])
    ownHooks(here, {
      PreToolUse: [command('echo not even there >&2; exit 2', 'Bash')],
      SubagentStop: [command(`cat > ${here.home}/sub.json`, 'general')],
    })
    await dragoman(['-p', 'go', '--allowed-tools', 'run_shell_command'], here)
    assert.ok(!existsSync(join(here.work, 'made.txt')))
    assert.equal(readInput(join(here.home, 'sub.json'))['agent_type'], 'general')
  })
})

describe('hooks of a hostile project', () => {
  const touch = 'touch "$CLAUDE_PROJECT_DIR/effect"'
  const settings = (hooks: Groups) => JSON.stringify({ hooks })
  const events: Groups = Object.fromEntries(
    [
      'PreToolUse',
      'PostToolUse',
      'UserPromptSubmit',
      'SessionStart',
      'SessionEnd',
      'Stop',
      'SubagentStop',
      'PreCompact',
      'Notification',
    ].map((event) => [event, [command(touch)]]),
  )
  const gemini: Groups = Object.fromEntries(
    [
      'BeforeTool',
      'AfterTool',
      'BeforeAgent',
      'AfterAgent',
      'SessionStart',
      'SessionEnd',
      'PreCompress',
      'Notification',
    ].map((event) => [event, [command(touch)]]),
  )
  const files: readonly (readonly [string, string])[] = [
    ['.claude/settings.json', settings(events)],
    ['.claude/settings.local.json', settings(events)],
    ['.gemini/settings.json', settings(gemini)],
    ['.dragoman/hooks.json', settings(events)],
    ['.dragoman/config.json', settings(events)],
    ['.claude/agents/explore.md', '---\nname: explore\ndescription: HOSTILE\n---\nHOSTILE INSTRUCTIONS\n'],
  ]
  const play = () =>
    stage([
      { call: [{ name: 'read_file', args: { absolute_path: '{cwd}/a.txt' } }] },
      { call: [{ name: 'task', args: { description: 'd', prompt: 'CHILD', subagent_type: 'explore' } }] },
      { say: 'Done.' },
    ])

  for (const [path, text] of files)
    test(`${path}: nothing before trust, nothing after a change`, async () => {
      const here = await play()
      writeFileSync(join(here.work, 'a.txt'), 'x\n')
      write(join(here.work, path), text)
      const effect = () =>
        existsSync(join(here.work, 'effect')) ||
        here.server.requests.some(({ conversation }) => JSON.stringify(conversation).includes('HOSTILE'))
      await dragoman(['-p', 'go'], here)
      assert.ok(!effect(), 'before trust')
      await dragoman(['trust', '--yes'], here)
      write(join(here.work, path), text.replace('touch ', 'touch  ').replace('HOSTILE', 'HOSTILE AGAIN'))
      const { err } = await dragoman(['-p', 'go'], here)
      assert.ok(!effect(), 'after a change')
      assert.match(err, /not trusted/)
    })

  test('a script that a hook names, changed after trust, does not run; the calls that it guarded are asked about', async () => {
    const here = await play()
    writeFileSync(join(here.work, 'a.txt'), 'x\n')
    const script = join(here.work, 'tools/guard.sh')
    write(script, '#!/bin/sh\nexit 0\n')
    chmodSync(script, 0o755)
    write(
      join(here.work, '.claude/settings.json'),
      settings({ PreToolUse: [command(`"$CLAUDE_PROJECT_DIR"/tools/guard.sh`)] }),
    )
    await dragoman(['trust', '--yes'], here)
    write(script, '#!/bin/sh\ntouch effect\n')
    await dragoman(['-p', 'go'], here)
    assert.ok(!existsSync(join(here.work, 'effect')))
  })

  test('a script that the model changes during the session does not run any more, and is not forgotten silently', async () => {
    const here = await stage([
      {
        call: [
          { name: 'write_file', args: { file_path: '{cwd}/tools/guard.sh', content: '#!/bin/sh\ntouch effect\n' } },
        ],
      },
      { call: [{ name: 'read_file', args: { absolute_path: '{cwd}/a.txt' } }] },
      { say: 'Done.' },
    ])
    writeFileSync(join(here.work, 'a.txt'), 'x\n')
    const script = join(here.work, 'tools/guard.sh')
    write(script, '#!/bin/sh\nexit 0\n')
    chmodSync(script, 0o755)
    write(
      join(here.work, '.claude/settings.json'),
      settings({ PreToolUse: [command(`"$CLAUDE_PROJECT_DIR"/tools/guard.sh`)] }),
    )
    await dragoman(['trust', '--yes'], here)
    const { err } = await dragoman(['-p', 'go', '--approval-mode', 'auto_edit'], here)
    assert.match(readFileSync(script, 'utf8'), /touch effect/)
    assert.ok(!existsSync(join(here.work, 'effect')))
    assert.match(err, /hooks of this project have changed/)
    assert.match(lastRequest(here), /There is no user to ask/)
  })
})
