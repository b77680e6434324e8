import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { dragoman } from '../support/command.ts'
import { EDIT, open } from '../support/conversation.ts'
import { noTmux, openTerminal } from '../support/tmux.ts'

describe('what a person does every day', { skip: noTmux }, () => {
  for (const key of ['C-c', 'Escape'])
    test(`${key} stops the model; what waited comes back into the input, and nothing is sent`, async () => {
      const { terminal, server } = await open([{ say: 'Slow.', delay: 60_000 }, { loop: [{ say: 'Sent.' }] }])
      terminal.type('begin')
      terminal.press('Enter')
      await terminal.shows('working')
      while (server.requests.length === 0) await sleep(20)
      for (const text of ['first afterthought', 'second afterthought']) {
        terminal.type(text)
        terminal.press('Enter')
        await terminal.shows(`⏳ ${text}`)
      }
      terminal.press(key)
      await terminal.shows(/Stopped\.[^]*> first afterthought\s+second afterthought/)
      await terminal.hides('working')
      assert.doesNotMatch(terminal.screen(), /⏳/)
      assert.equal(server.requests.length, 1)
    })

  test('Up takes back the message that waits, to be changed', async () => {
    const { terminal, server } = await open([{ say: 'Slow.', delay: 8000 }, { loop: [{ say: 'Sent.' }] }])
    terminal.type('begin')
    terminal.press('Enter')
    await terminal.shows('working')
    terminal.type('use tabs')
    terminal.press('Enter')
    await terminal.shows('⏳ use tabs')
    terminal.press('Up')
    await terminal.hides('⏳')
    await terminal.shows('> use tabs')
    terminal.type(', not spaces')
    terminal.press('Enter')
    await terminal.shows('Sent.')
    assert.match(JSON.stringify(server.requests.at(-1)?.body), /"use tabs, not spaces"/)
  })

  test('an approval prompt that was open when the program was ended is asked again, and counts once', async () => {
    const { terminal, work, env, server } = await open(EDIT)
    terminal.type('change it')
    terminal.press('Enter')
    await terminal.shows('Change a.txt?')
    process.kill(terminal.pid, 'SIGTERM')
    await terminal.shows('ended with 130')
    assert.match(terminal.screen(), /--resume/)
    assert.equal(readFileSync(join(work, 'a.txt'), 'utf8'), 'hello\n')
    const again = openTerminal(['--continue'], { work, env })
    await again.shows('Change a.txt?')
    again.press('y')
    await again.shows('All done.')
    assert.equal(readFileSync(join(work, 'a.txt'), 'utf8'), 'goodbye\n')
    assert.equal(server.requests.length, 2, 'the model was not asked again for the call')
    assert.doesNotMatch(server.requests[1]?.bytes.toString() ?? '', /stopped|did not run/)
  })

  test('@ knows files that were made since the start', async () => {
    const { terminal, work } = await open([{ loop: [{ say: 'Good.' }] }])
    terminal.type('@a.t')
    await terminal.shows('› @a.txt')
    terminal.press('Escape')
    terminal.press('C-u')
    mkdirSync(join(work, 'deep'))
    writeFileSync(join(work, 'deep/brand-new.ts'), '')
    terminal.type('look at @brand')
    await terminal.shows('› @deep/brand-new.ts')
  })

  test('--fork shows the history, as --resume does', async () => {
    const { terminal, work, env } = await open([{ loop: [{ say: 'The answer is 4711.' }] }])
    terminal.type('what is it?')
    terminal.press('Enter')
    await terminal.shows('The answer is 4711.')
    terminal.press('C-d')
    await terminal.shows('ended with 0')
    const forked = openTerminal(['--fork', 'latest'], { work, env })
    await forked.shows(/> what is it\?[^]*The answer is 4711\./)
  })

  test('a plan that was edited is shown as it was approved, as Markdown', async () => {
    const plan = '# Plan\n\n- **first** step\n- [ ] second step'
    const steps = [{ call: [{ name: 'exit_plan_mode', args: { plan } }] }, { say: 'All done.' }]
    const { terminal, work } = await open(steps, { args: ['--approval-mode', 'plan'], env: { EDITOR: './editor' } })
    writeFileSync(join(work, 'editor'), '#!/bin/sh\nsed -i "s/second/third/" "$1"\n')
    chmodSync(join(work, 'editor'), 0o755)
    terminal.type('go')
    terminal.press('Enter')
    await terminal.shows('Carry out this plan?')
    terminal.press('e')
    await terminal.shows('All done.')
    const shown = terminal.history()
    assert.match(shown, /✓ exit_plan_mode Plan approved as edited\n\s+Plan\n\s+• first step\n\s+☐ third step/)
    assert.doesNotMatch(shown, /second step|\{"plan"/)
  })

  test('a refused plan stays in sight, with the reason', async () => {
    const steps = [
      { call: [{ name: 'exit_plan_mode', args: { plan: '1. **Remove** everything' } }] },
      { say: 'All done.' },
    ]
    const { terminal } = await open(steps, { args: ['--approval-mode', 'plan'] })
    terminal.type('go')
    terminal.press('Enter')
    await terminal.shows('Carry out this plan?')
    terminal.press('n')
    await terminal.shows('Reason:')
    terminal.type('too much')
    terminal.press('Enter')
    await terminal.shows('All done.')
    assert.match(terminal.history(), /⊘ exit_plan_mode Plan refused\. Comment: too much.*\n\s+1\. Remove everything/)
  })

  test('/undo asks for one key, and says which', async () => {
    const { terminal, work } = await open(EDIT, { args: ['--yolo'], rows: 50 })
    terminal.type('go')
    terminal.press('Enter')
    await terminal.shows('All done.')
    await terminal.hides('working')
    terminal.type('/undo')
    terminal.press('Enter')
    await terminal.shows('Restore these files? [y] yes   [n] no >')
    terminal.press('x')
    terminal.press('y')
    await terminal.shows('1 file was restored.')
    assert.ok(existsSync(join(work, 'a.txt')))
    terminal.type('still here')
    await terminal.shows('> still here')
  })

  test('questions about reading are in words', async () => {
    const read = { name: 'read_file', args: { absolute_path: '/etc/hostname', limit: 3 } }
    const list = { name: 'list_directory', args: { path: '/etc' } }
    const glob = { name: 'glob', args: { pattern: '*.conf', path: '/etc' } }
    const search = { name: 'search_file_content', args: { pattern: 'root', path: '/etc' } }
    const many = { name: 'read_many_files', args: { paths: ['/etc/hosts', '/etc/passwd'] } }
    const { terminal } = await open([{ call: [read, list, glob, search, many] }, { say: 'All done.' }])
    terminal.type('go')
    terminal.press('Enter')
    for (const [title, body] of [
      ['Read /etc/hostname', /│ limit: 3/],
      ['List /etc', /│ path: \/etc/],
      ['Look for files in /etc', /│ pattern: \*\.conf/],
      ['Search in /etc', /│ pattern: root/],
      ['Read /etc/hosts, /etc/passwd', /│ paths: \["\/etc\/hosts","\/etc\/passwd"\]/],
    ] as const) {
      const screen = await terminal.shows(new RegExp(`^\\? ${title}(?: \\(|\\s*$)`, 'm'))
      assert.match(screen, body)
      assert.doesNotMatch(screen, /\{/)
      terminal.press('Escape')
    }
    await terminal.shows('All done.')
  })

  test('a session that was left after /compact has ended, and a failed command counts as failed', async () => {
    const failing = { name: 'run_shell_command', args: { command: 'exit 3' } }
    const { terminal, work, env } = await open([{ call: [failing] }, { loop: [{ say: 'So it is.' }] }], {
      args: ['--yolo'],
    })
    terminal.type('go')
    terminal.press('Enter')
    await terminal.shows(/✗ run_shell_command[^]*So it is\./)
    await terminal.hides('Esc stops')
    terminal.type('/compact')
    terminal.press('Enter')
    await terminal.shows(/summarised/)
    terminal.type('/new')
    terminal.press('Enter')
    await terminal.shows('New session')
    const { out } = await dragoman(['sessions', 'list'], { work, env })
    assert.match(out, /1 prompt .*\n {2}go\n/)
    assert.doesNotMatch(out, /did not end/)
    const [, former] = JSON.parse((await dragoman(['sessions', 'list', '--json'], { work, env })).out) as {
      id: string
    }[]
    const shown = await dragoman(['sessions', 'show', former?.id ?? '', '--stats', '--json'], { work, env })
    const { tools } = JSON.parse(shown.out) as { tools: Record<string, { ok: number; failed: number }> }
    assert.deepEqual([tools['run_shell_command']?.ok, tools['run_shell_command']?.failed], [0, 1])
  })

  test('one set of names for the modes: /mode, the status line, --approval-mode', async () => {
    const { terminal, work, env } = await open([{ say: 'Good.' }])
    const help = (await dragoman(['--help'], { work, env })).out.replace(/\s+/g, ' ')
    await terminal.shows(/ default mode /)
    for (const mode of ['auto_edit', 'plan', 'yolo', 'default']) {
      terminal.type(`/mode ${mode}`)
      terminal.press('Enter')
      const screen = await terminal.shows(new RegExp(`Mode ${mode}: [^]* ${mode} mode `))
      const about = new RegExp(`Mode ${mode}: (.+)\\.`).exec(screen)?.[1] ?? 'nothing'
      assert.ok(help.includes(`${mode} (${about})`), `${mode} (${about}) in ${help}`)
    }
  })

  test('/effort shows the effort, and changes that of the next request', async () => {
    const { terminal, server } = await open([{ loop: [{ say: 'Good.' }] }])
    await terminal.shows(/ default mode /)
    const send = (text: string): void => {
      terminal.type(text)
      terminal.press('Enter')
    }
    send('/effort 5')
    await terminal.shows(/The effort is now 5, for this session/)
    send('/effort hgih')
    await terminal.shows(/Unknown effort; use off, minimal/)
    send('/effort high')
    await terminal.shows(/The effort is now high/)
    send('go')
    await terminal.shows(/Good\./)
    assert.equal(server.requests.at(-1)?.body['reasoning_effort'], 'high')
  })
})
