import assert from 'node:assert/strict'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { stage } from '../support/command.ts'
import { noTmux, openTerminal } from '../support/tmux.ts'

const task = (prompt: string, more: object = {}) => ({
  name: 'task',
  args: { description: 'a task', prompt, subagent_type: 'general', ...more },
})
const shell = (command: string, more: object = {}) => ({
  call: [{ name: 'run_shell_command', args: { command, ...more } }],
})

for (const columns of [60, 100, 160])
  describe(`subagents, hooks and tasks in a terminal of ${columns} columns`, { skip: noTmux }, () => {
    test('subagents ask under their names, show what they do, and can be looked at in full', async () => {
      const at = await stage([
        { when: { user: 'CHILD A', turns: 0 }, say: 'I look first.', ...shell('echo a > a.txt') },
        { when: { user: 'CHILD A', turns: 1 }, say: 'A is done.' },
        { when: { user: 'CHILD B', turns: 0 }, ...shell('echo b > b.txt') },
        { when: { user: 'CHILD B', turns: 1 }, say: 'B is done.' },
        { call: [task('CHILD A'), task('CHILD B')] },
        { expect: { results: ['A is done.', 'B is done.'] }, say: 'Both are done.' },
      ])
      const terminal = openTerminal([], { ...at, columns, rows: 40 })
      await terminal.shows('Type a request.')
      terminal.type('go')
      terminal.press('Enter')
      await terminal.shows('general asks: Run this?')
      await terminal.shows('1 of 2')
      terminal.press('y')
      await terminal.hides('1 of 2')
      await terminal.shows('general asks: Run this?')
      terminal.press('C-o')
      await terminal.shows('(session ')
      const written = ['a.txt', 'b.txt'].filter((name) => existsSync(join(at.work, name)))
      assert.ok(written.length < 2, 'the question is still open')
      terminal.press('y')
      await terminal.shows('Both are done.')
      assert.ok(existsSync(join(at.work, 'a.txt')) && existsSync(join(at.work, 'b.txt')))
      assert.match(terminal.history(), /I look first\./)
      assert.deepEqual(at.server.failures, [])
    })

    test('/agents, /hooks and /tasks list what there is', async () => {
      const at = await stage([shell('echo up; sleep 1000', { run_in_background: true }), { say: 'Started.' }])
      mkdirSync(join(at.home, '.claude/agents'), { recursive: true })
      writeFileSync(join(at.home, '.claude/agents/mine.md'), '---\nname: mine\ndescription: Mine own.\n---\nDo it.\n')
      const hooks = { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'true' }] }] }
      writeFileSync(join(at.home, '.claude/settings.json'), JSON.stringify({ hooks }))
      const terminal = openTerminal(['--approval-mode', 'yolo', '--sandbox', 'off'], { ...at, columns, rows: 40 })
      await terminal.shows('Type a request.')
      terminal.type('/agents')
      terminal.press('Enter')
      await terminal.shows('Mine own.')
      terminal.type('/hooks')
      terminal.press('Enter')
      await terminal.shows('PreToolUse Bash true')
      terminal.type('/tasks')
      terminal.press('Enter')
      await terminal.shows('Nothing runs in the background.')
      terminal.type('go')
      terminal.press('Enter')
      await terminal.shows('Started.')
      terminal.type('/tasks')
      terminal.press('Enter')
      await terminal.shows('c1 echo up')
      terminal.type('/tasks keep c1')
      terminal.press('Enter')
      await terminal.shows('c1 goes on after this session')
      terminal.type('/tasks')
      terminal.press('Enter')
      await terminal.shows(/running for \d+ s, kept/)
      terminal.type('/tasks stop c1')
      terminal.press('Enter')
      await terminal.shows(/c1: ended/)
    })
  })
