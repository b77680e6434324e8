import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { RunEvent } from '../../src/agent/loop/run-event.ts'
import type { Fault } from '../../src/model/fault.ts'
import { EMPTY_LIVE_CONVERSATION, applyRunEvent } from '../../src/cli/tui/conversation-state.ts'
import { looksLikeApiKey, findKeyProvider } from '../../src/cli/tui/onboarding/api-key-format.ts'
import { renderChoiceList } from '../../src/cli/tui/onboarding/list-dialog.ts'
import { lineText } from '../../src/cli/tui/term/styled-line.ts'
import { dragoman, stage } from '../support/command.ts'
import { EDIT, open } from '../support/conversation.ts'
import { noTmux, openTerminal } from '../support/tmux.ts'

const LONG = Array.from({ length: 60 }, (_unused, at) => `echo step number ${at} $(date)`).join('\n')

describe('what somebody new may do', { skip: noTmux }, () => {
  for (const [columns, rows] of [
    [80, 24],
    [30, 8],
  ] as const)
    test(`a command of 60 lines on ${columns}×${rows}: the question, the command and all keys are there`, async () => {
      const { terminal } = await open(
        [{ call: [{ name: 'run_shell_command', args: { command: LONG } }] }, { say: 'Ok.' }],
        {
          columns,
          rows,
        },
      )
      terminal.type('go')
      terminal.press('Enter')
      const screen = await terminal.shows(/\? Run/)
      assert.match(screen, /│ echo step number 0/)
      assert.match(screen, /… lines 1–\d+ of \d+, PgDn/)
      for (const key of ['y', 'a', 'n', 'Esc']) assert.ok(screen.includes(`[${key}]`), `${key}\n${screen}`)
      terminal.press('End')
      await terminal.hides('│ echo step number 0')
      if (rows > 8) assert.match(await terminal.shows('│ echo step number 59'), /\? Run this/)
      if (rows > 8) assert.match(terminal.screen(), /\[a\] always…/)
      terminal.press('Escape')
      await terminal.shows('Ok.')
    })

  test('an editor that is left without a change approves nothing', async () => {
    const { terminal, work } = await open(EDIT, { env: { EDITOR: 'true' } })
    terminal.type('say goodbye')
    terminal.press('Enter')
    await terminal.shows('[e] edit it first')
    terminal.press('e')
    await terminal.shows(/Nothing was changed; the approval is still open[^]*\[y\] yes, once/)
    assert.equal(readFileSync(join(work, 'a.txt'), 'utf8'), 'hello\n')
    terminal.press('y')
    await terminal.shows('All done.')
    assert.equal(readFileSync(join(work, 'a.txt'), 'utf8'), 'goodbye\n')
  })

  test('/fork says from where, and /resume alone offers the others', async () => {
    const { terminal } = await open([{ say: 'One.' }])
    terminal.type('remember 4711')
    terminal.press('Enter')
    await terminal.shows('One.')
    await terminal.hides('working')
    terminal.type('/fork')
    terminal.press('Enter')
    await terminal.shows(/Forked from \d{8}-\d{6}-\w+ into/)
    terminal.type('/resume')
    terminal.press('Enter')
    await terminal.shows(/> \/resume\s*\n› \d{8}-\d{6}-\w+ +\d{4}-\d\d-\d\d \d\d:\d\d  remember 4711/)
    // What is typed after the list was left is no word of the command.
    terminal.press('Escape')
    await terminal.hides('› ')
    terminal.type('and now')
    await terminal.shows(/^> and now$/m)
  })

  test('/fork says what it did where a long conversation fills the screen', async () => {
    const long = Array.from({ length: 60 }, (_unused, at) => `- point ${at}`).join('\n')
    const { terminal } = await open([{ say: long }])
    terminal.type('tell me all')
    terminal.press('Enter')
    await terminal.shows('point 59')
    await terminal.hides('working')
    terminal.type('/fork')
    terminal.press('Enter')
    assert.match(await terminal.shows(/Forked from \d{8}-\d{6}-\w+ into/), /point 59[^]*Forked from/)
  })

  test('the status line names the branch that a command checked out, and none on a detached head', async () => {
    const checkOut = (where: string) => ({
      call: [{ name: 'run_shell_command', args: { command: `git checkout -q ${where}` } }],
    })
    const here = await stage([checkOut('-b feature'), { say: 'One.' }, checkOut('--detach'), { say: 'Two.' }])
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
        cwd: here.work,
        env: { ...process.env, ...here.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' },
      })
    git('init', '-q', '-b', 'main')
    git('commit', '-q', '--allow-empty', '-m', 'first')
    const terminal = openTerminal(['--yolo'], { ...here, columns: 140 })
    await terminal.shows('⎇ main')
    for (const [text, said] of [
      ['branch', 'One.'],
      ['detach', 'Two.'],
    ] as const) {
      terminal.type(text)
      terminal.press('Enter')
      await terminal.shows(said)
      if (text === 'branch') await terminal.shows('⎇ feature')
    }
    await terminal.hides('⎇')
    terminal.type('!git checkout -q main')
    terminal.press('Enter')
    await terminal.shows('⎇ main')
  })

  test('/resume goes on with the model of that session, /fork says what it did, and the last words name the session', async () => {
    const { terminal, env, work } = await open([{ say: 'One.' }], { rows: 90 })
    const other = await dragoman(['-p', 'held elsewhere', '--yolo', '-m', 'rehearsal/parallel'], { env, work })
    assert.equal(other.code, 0, other.err)
    const [{ id = '' } = {}] = JSON.parse((await dragoman(['sessions', 'list', '--json'], { env, work })).out) as {
      id?: string
    }[]
    terminal.type(`/resume ${id}`)
    terminal.press('Enter')
    await terminal.shows(/Continuing with the model of this session, rehearsal\/parallel/)
    terminal.type('/fork')
    terminal.press('Enter')
    const forked = await terminal.shows(/Forked from \S+\s+into\s+\S+\.\s+The\s+original\s+is\s+unchanged:\s+\/resume/)
    assert.ok(forked.includes(`Forked from ${id}`))
    terminal.press('C-d')
    const words = await terminal.shows('ended with 0')
    const used = /into\s+(\S+)\./.exec(forked)?.[1] ?? 'none'
    assert.match(words, new RegExp(`--resume\\s+${used}`))
  })

  test('a fault is told once, with what to do here', async () => {
    const { terminal } = await open([{ say: 'No.', misbehave: [{ kind: 'status', status: 401 }] }])
    terminal.type('go')
    terminal.press('Enter')
    await terminal.shows(/Send a message to\s+try\s+again\./)
    assert.doesNotMatch(terminal.history(), /--resume/)
  })

  test('small words: a long paste is folded, a file that is not there is named, commands answer', async () => {
    const { terminal, home, server } = await open([{ say: 'Thanks.' }, { say: 'Again.' }], { rows: 40 })
    terminal.paste(Array.from({ length: 200 }, (_unused, at) => `line ${at}`).join('\n'))
    await terminal.shows('[paste 1: 200 lines]')
    terminal.press('Enter')
    await terminal.shows(/> line 0\n[^]* {2}line 7\n {2}… 192 more lines\n[^]*Thanks\./)
    assert.match(JSON.stringify(server.requests[0]?.body), /line 199/)
    terminal.type('look at @nofile.txt ')
    terminal.press('Enter')
    await terminal.shows('@nofile.txt is sent as text: no such file')
    await terminal.shows('Again.')
    terminal.type('/modle')
    terminal.press('Enter')
    await terminal.shows(/Unknown command \/modle; did you mean \/model or \/mode\?/)
    terminal.type('/mode plan')
    terminal.press('Enter')
    await terminal.shows('Mode plan: only looks, then makes a plan.')
    terminal.type('/theme light')
    terminal.press('Enter')
    await terminal.shows('The theme is now light')
    assert.match(readFileSync(join(home, '.config/dragoman/config.json'), 'utf8'), /"theme": "light"/)
  })

  test('a mentioned folder is attached as its list of names, and a file that is not attached is named', async () => {
    const { terminal, work, server } = await open([{ say: 'Thanks.' }])
    mkdirSync(join(work, 'lib/inner'), { recursive: true })
    writeFileSync(join(work, 'lib/one.ts'), 'secret content')
    writeFileSync(join(work, 'long.txt'), 'x'.repeat(200_000))
    terminal.type('look at @lib and @long.txt ')
    terminal.press('Enter')
    await terminal.shows('@long.txt is sent as a name: the file is long')
    await terminal.shows('Thanks.')
    const body = JSON.stringify(server.requests[0]?.body)
    assert.match(body, /folder lib ---\\ninner\/\\none\.ts\\n---/)
    assert.doesNotMatch(body, /secret content|xxxx/)
  })

  test('Control-O shows the tool that runs', async () => {
    const { terminal } = await open(
      [{ call: [{ name: 'run_shell_command', args: { command: 'echo so-far; sleep 4' } }] }, { say: 'Done.' }],
      { args: ['--yolo'] },
    )
    terminal.type('go')
    terminal.press('Enter')
    await terminal.shows(/● run_shell_command[^]*so-far/)
    terminal.press('C-o')
    await terminal.shows(/so-far[^]*so-far/)
    assert.doesNotMatch(terminal.screen(), /No tool has run/)
    await terminal.shows('Done.')
  })
})

test('a try that failed and the giving up after it are one notice', () => {
  const fault = { kind: 'overloaded', message: 'The server is busy' } as unknown as Fault
  const tried = applyRunEvent(
    EMPTY_LIVE_CONVERSATION,
    { type: 'turn', event: { type: 'open', anew: true, fault, wait: 3000 } },
    0,
  )
  assert.match(JSON.stringify(tried.live), /Retrying in 3 s/)
  const ended = { type: 'run-close', reason: 'fault', fault } as unknown as RunEvent
  assert.deepEqual(applyRunEvent(tried, ended, 0).live, [])
  const well = { type: 'run-close', reason: 'done' } as unknown as RunEvent
  assert.equal(applyRunEvent(tried, well, 0).live.length, 1)
})

test('an attachment is shown by its name, and text that looks like one is text', () => {
  const parts = [
    { kind: 'text', text: 'look at @a.txt and @pond:one' },
    { kind: 'text', text: '--- a.txt ---\nsecret', name: 'a.txt' },
    { kind: 'text', text: '--- pond:one ---', name: 'pond:one' },
    { kind: 'text', text: 'what is in it', name: 'pond:one' },
    { kind: 'text', text: '--- typed ---\nby hand' },
  ]
  const event = { type: 'entry', entry: { kind: 'user', parts } } as unknown as RunEvent
  assert.deepEqual(applyRunEvent(EMPTY_LIVE_CONVERSATION, event, 0).live, [
    { kind: 'user', text: 'look at @a.txt and @pond:one\n[a.txt]\n[pond:one]\n--- typed ---\nby hand' },
  ])
})

describe('a key where none was asked for', () => {
  test('what looks like a key is known, and whose it is', () => {
    for (const [key, owner] of [
      ['sk-ant-api03-x', 'anthropic'],
      ['sk-or-v1-x', 'openrouter'],
      ['AIzaSyx', 'gemini'],
      ['gsk_x', 'groq'],
      ['xai-x', 'xai'],
      ['sk-proj-x', undefined],
      ['0123456789abcdef0123456789abcdef', undefined],
    ] as const) {
      assert.ok(looksLikeApiKey(key), key)
      assert.equal(findKeyProvider(key), owner)
      const shown = renderChoiceList([], { selected: 0, filter: key, isLong: true, width: 80, rows: 20 }).map((one) =>
        lineText(one),
      )
      assert.ok(!shown.join('\n').includes(key.slice(0, 6)), shown.join('\n'))
    }
    for (const name of ['openrouter', 'xai', 'gemini', 'anthropic']) assert.ok(!looksLikeApiKey(name), name)
  })

  test('it is never shown, pasted or typed, and is taken for its owner', { skip: noTmux }, async () => {
    const here = await stage([])
    const nowhere = 'http://127.0.0.1:9/v1'
    const env = {
      PATH: here.env['PATH'] ?? '',
      HOME: here.home,
      DRAGOMAN_OPENROUTER_BASE_URL: nowhere,
      DRAGOMAN_ANTHROPIC_BASE_URL: nowhere,
    }
    const terminal = openTerminal([], { work: here.work, env, rows: 30 })
    await terminal.shows('No API key found')
    terminal.press('1')
    await terminal.shows('Which provider is this key for?')
    terminal.paste('sk-or-v1-abcdef0123456789')
    await terminal.shows(/Checking the key for openrouter[^]*could not be\s+checked/)
    terminal.type('sk-ant-api03-abcdef0123456789')
    await terminal.shows('Key entered (29 characters, hidden)')
    terminal.press('Enter')
    await terminal.shows('Checking the key for anthropic')
    await terminal.shows(/key for anthropic[^]*could not be\s+checked/)
    assert.doesNotMatch(terminal.history(), /abcdef|api03|sk-or-v/)
    terminal.press('Escape')
    await terminal.shows('ended with 0')
  })
})
