import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { stage } from '../support/command.ts'
import { EDIT, open } from '../support/conversation.ts'
import { root } from '../support/paths.ts'
import { noTmux, openTerminal } from '../support/tmux.ts'

/** A picture of one dot. */
const DOT = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

describe('on a real terminal', { skip: noTmux }, () => {
  test('a tool turn with an edit: the diff is shown, y allows it, the file is changed', async () => {
    const { terminal, work } = await open(EDIT)
    terminal.type('say goodbye')
    terminal.press('Enter')
    const asked = await terminal.shows('[y] yes, once')
    assert.match(asked, /Change .*a\.txt\? \+1 −1/)
    assert.match(asked, /1 -hello\n1 \+goodbye/)
    assert.equal(readFileSync(join(work, 'a.txt'), 'utf8'), 'hello\n')
    terminal.press('y')
    const done = await terminal.shows('All done.')
    assert.match(done, /✓ replace/)
    assert.equal(readFileSync(join(work, 'a.txt'), 'utf8'), 'goodbye\n')
    terminal.press('C-d')
    assert.match(await terminal.shows('ended with 0'), /is saved\. To continue:\n {2}\S*dragoman --resume/)
  })

  test('no, with a reason: nothing is changed, and the model hears why', async () => {
    const { terminal, work, server } = await open(EDIT)
    terminal.type('say goodbye')
    terminal.press('Enter')
    await terminal.shows('[y] yes, once')
    terminal.press('n')
    await terminal.shows('Reason:')
    terminal.type('not that file')
    terminal.press('Enter')
    await terminal.shows('All done.')
    assert.equal(readFileSync(join(work, 'a.txt'), 'utf8'), 'hello\n')
    assert.match(JSON.stringify(server.requests.at(-1)?.body), /not that file/)
  })

  test('e opens the change in an editor; what the person made of it is what is written', async () => {
    const { terminal, work, server } = await open(EDIT, { env: { EDITOR: 'sed -i s/goodbye/farewell/' } })
    terminal.type('say goodbye')
    terminal.press('Enter')
    await terminal.shows('[e] edit it first')
    terminal.press('e')
    await terminal.shows('All done.')
    assert.equal(readFileSync(join(work, 'a.txt'), 'utf8'), 'farewell\n')
    assert.match(JSON.stringify(server.requests.at(-1)?.body), /user changed/)
  })

  test('Esc stops the model in mid-sentence; what comes next goes on from there', async () => {
    const { terminal, server } = await open([
      { say: 'A long answer that never ends.', misbehave: [{ kind: 'stall' }] },
      { say: 'Going on.' },
    ])
    terminal.type('tell me')
    terminal.press('Enter')
    await terminal.shows(/working \d+ s/)
    terminal.press('Escape')
    await terminal.shows('Stopped. Send a message to continue.')
    await terminal.hides('working')
    terminal.press('C-d')
    await terminal.shows('ended with 0')
    assert.deepEqual(server.failures, [])
  })

  test('what is typed while the model works waits, and goes out at the next turn', async () => {
    const { terminal, server } = await open(
      [
        { say: 'I look.', call: [{ name: 'run_shell_command', args: { command: 'sleep 2; echo slept' } }] },
        { say: 'And now you.' },
      ],
      { args: ['--yolo'] },
    )
    terminal.type('first')
    terminal.press('Enter')
    await terminal.shows(/● run_shell_command/)
    terminal.type('second thing')
    terminal.press('Enter')
    await terminal.shows('⏳ second thing')
    await terminal.shows('And now you.')
    assert.match(JSON.stringify(server.requests[1]?.body), /slept[^]*second thing/)
    assert.equal(server.requests.length, 2)
  })

  test('another model in mid-session gets the conversation so far', async () => {
    const { terminal, server } = await open([{ say: 'One.' }, { say: 'Two.' }])
    terminal.type('remember 4711')
    terminal.press('Enter')
    await terminal.shows('One.')
    terminal.type('/model openai-chat/script?other')
    terminal.press('Enter')
    await terminal.shows('The model is now openai-chat/script?other')
    await terminal.shows('openai-chat/script?other · default mode')
    terminal.type('/model nobody/x')
    terminal.press('Enter')
    await terminal.shows('There is no provider “nobody”')
    terminal.press('C-d')
    await terminal.shows('ended with 0')
    assert.equal(server.requests.length, 1)
  })

  test('--resume shows the end of the conversation and goes on with it', async () => {
    const here = await open([{ say: 'One.' }, { say: 'Two.' }])
    here.terminal.type('remember 4711')
    here.terminal.press('Enter')
    await here.terminal.shows('One.')
    here.terminal.press('C-d')
    await here.terminal.shows('ended with 0')
    const again = openTerminal(['--resume'], here)
    await again.shows(/> remember 4711\n\nOne\./)
    again.type('what was it?')
    again.press('Enter')
    await again.shows('Two.')
    assert.match(JSON.stringify(here.server.requests.at(-1)?.body), /4711/)
  })

  test('resizing leaves one input and one status line, and loses nothing of what was said', async () => {
    const { terminal } = await open([
      { say: 'A sentence that is long enough to be broken in a narrow terminal, and then some more of it.' },
    ])
    terminal.type('go')
    terminal.press('Enter')
    await terminal.shows('more of it')
    for (const [columns, rows, typed] of [
      [60, 20, 'x'],
      [200, 40, 'xx'],
      [45, 15, 'xxx'],
      [80, 30, 'xxxx'],
    ] as const) {
      terminal.resize(columns, rows)
      await new Promise((resolve) => setTimeout(resolve, 300))
      terminal.type('x')
      await terminal.shows(new RegExp(`^> ${typed}$`, 'm'))
    }
    const screen = terminal.screen()
    assert.equal(screen.match(/openai-chat\/script · default mode/g)?.length, 1, screen)
    assert.equal(screen.match(/^> x+$/gm)?.length, 1, screen)
    assert.match(terminal.history().replace(/\s+/g, ' '), /A sentence that is long enough to be broken/)
  })

  test('/undo takes back an edit of the session that is open, and the conversation goes on', async () => {
    const { terminal, work } = await open([...EDIT, { say: 'Still here.' }])
    terminal.type('say goodbye')
    terminal.press('Enter')
    await terminal.shows('[y] yes, once')
    terminal.press('y')
    await terminal.shows('All done.')
    await terminal.hides('Esc stops')
    terminal.type('/undo')
    terminal.press('Enter')
    await terminal.shows('Restore these files?')
    terminal.type('y')
    terminal.press('Enter')
    // Only then the terminal is ours again.
    await terminal.shows(/1 file was restored[^]*\n>\s*\n/)
    assert.equal(readFileSync(join(work, 'a.txt'), 'utf8'), 'hello\n')
    terminal.type('and now?')
    terminal.press('Enter')
    await terminal.shows('Still here.')
  })

  test('a command typed in full is that command, it stands above its answer, and nothing is left behind', async () => {
    const { terminal } = await open([])
    await terminal.shows(/default mode · (?:no )?sandbox/)
    terminal.type('/mode')
    await terminal.shows('› /mode ')
    terminal.press('Enter')
    await terminal.shows(/> \/mode\n\nUnknown mode; use one of/)
    terminal.type('/tools')
    terminal.press('Enter')
    await terminal.shows(/src\/\*\*\/\*\.ts|Finds files by a glob/)
    assert.match(terminal.history(), /^Dragoman · /)
    assert.equal(terminal.history().match(/openai-chat\/script · default mode/g)?.length, 1, terminal.history())
  })

  test('a model that is too busy: one line says why and when, and Esc ends the waiting', async () => {
    const { terminal } = await open([{ say: 'No.', misbehave: [{ kind: 'status', status: 429 }] }])
    terminal.type('go')
    terminal.press('Enter')
    await terminal.shows(/rate limit of.*\s*.*Retrying in [3-9] s\./)
    assert.equal(terminal.history().match(/Retrying/g)?.length, 1, terminal.history())
    terminal.press('Escape')
    await terminal.shows('Stopped.')
  })

  for (const columns of [60, 200]) {
    test(`${columns} columns: nothing is wider than the terminal, and the question is whole`, async () => {
      const { terminal } = await open(EDIT, { columns })
      terminal.type('say goodbye')
      terminal.press('Enter')
      const screen = await terminal.shows('[Esc] no')
      for (const row of screen.split('\n')) assert.ok(row.length <= columns, row)
      for (const key of ['y', 'a', 'e', 'n', 'Esc']) assert.ok(screen.includes(`[${key}]`), key)
    })
  }

  test('NO_COLOR: no colours at all', async () => {
    const { terminal } = await open(EDIT, { env: { NO_COLOR: '1' } })
    terminal.type('say goodbye')
    terminal.press('Enter')
    await terminal.shows('[y] yes, once')
    const colours = terminal.colored().match(/\u001B\[[0-9;]*m/g) ?? []
    assert.deepEqual(
      colours.filter((one) => /(?:^|[;[])(?:3[0-8]|4[0-8]|9[0-7])(?:;|m)/.test(one)),
      [],
    )
  })

  test('a crash gives the terminal back, and the session goes on', async () => {
    const here = await open([{ say: 'One.' }, { say: 'Two.' }])
    here.terminal.type('remember 4711')
    here.terminal.press('Enter')
    await here.terminal.shows('One.')
    process.kill(here.terminal.pid, 'SIGTERM')
    await here.terminal.shows('ended with')
    // Echo is on again, and the cursor too.
    assert.match(await here.terminal.shows(/^echo/m), /^echo/m)
  })

  test('a long paste stands as a mark and goes out whole', async () => {
    const { terminal, server } = await open([{ say: 'Thanks.' }])
    const text = Array.from({ length: 50 }, (_unused, at) => `line ${at}`).join('\n')
    terminal.paste(text)
    await terminal.shows('[paste 1: 50 lines]')
    terminal.press('Enter')
    await terminal.shows('Thanks.')
    assert.match(JSON.stringify(server.requests[0]?.body), /line 0\\nline 1\\n[^]*line 49/)
  })

  test('the path of a picture, dropped as terminals paste it, attaches the picture', async () => {
    const { terminal, server, work } = await open([{ say: 'A dot.' }])
    writeFileSync(join(work, 'my shot.png'), DOT)
    terminal.type('what is this? ')
    terminal.paste(`${work}/my\\ shot.png `)
    await terminal.shows('> what is this? @"my shot.png"')
    terminal.press('Enter')
    assert.match(await terminal.shows('A dot.'), /\[my shot\.png, 1 kB\]/)
    const sent = JSON.stringify(server.requests[0]?.body)
    assert.ok(sent.includes(`data:image/png;base64,${DOT.toString('base64')}`), sent)
  })

  test('/export writes a file and says where; what is there already stays as it is', async () => {
    const { terminal, work } = await open([{ say: 'Certainly.' }])
    terminal.type('hello')
    terminal.press('Enter')
    await terminal.shows('Certainly.')
    terminal.type('/export talk.md')
    terminal.press('Enter')
    await terminal.shows(/Session written to[^]*talk\.md/)
    const text = readFileSync(join(work, 'talk.md'), 'utf8')
    assert.match(text, /^# Session [^]*## User\n\nhello\n[^]*Certainly\.\n$/)
    terminal.type('/export a.txt')
    terminal.press('Enter')
    await terminal.shows('Use a name that ends in .md or .json')
    terminal.type('and more')
    terminal.press('Enter')
    terminal.type('/export talk.md')
    terminal.press('Enter')
    await terminal.shows('talk.md already exists.')
    assert.equal(readFileSync(join(work, 'talk.md'), 'utf8'), text)
    for (const said of [/session-[\w-]+\.json/, /session-[\w-]+-2\.json/]) {
      terminal.type('/export json')
      terminal.press('Enter')
      await terminal.shows(said)
    }
    const files = readdirSync(work).filter((name) => name.endsWith('.json'))
    assert.equal(files.length, 2)
    for (const file of files) assert.ok(Array.isArray(JSON.parse(readFileSync(join(work, file), 'utf8'))))
  })

  test('/memory shows the files that are remembered, with their paths, and nothing else', async () => {
    const { terminal, work } = await open([])
    terminal.type('/memory')
    terminal.press('Enter')
    await terminal.shows('No instructions or memories.')
    writeFileSync(join(work, 'AGENTS.md'), 'Tabs, *never* spaces.\n')
    terminal.type('/memory')
    terminal.press('Enter')
    const screen = await terminal.shows('Tabs, never spaces.')
    assert.match(screen, /AGENTS\.md\n\s*Tabs/)
    assert.doesNotMatch(screen, /\b20\d\d\b|platform/)
  })

  test('a session in which nothing was said is not kept; /resume goes back to the one before', async () => {
    const { terminal, work, env } = await open([{ say: 'One.' }, { say: 'Two.' }])
    terminal.type('remember 4711')
    terminal.press('Enter')
    await terminal.shows('One.')
    await terminal.hides('working')
    terminal.type('/clear')
    terminal.press('Enter')
    await terminal.shows(/> \/clear\n\nNew session; the previous one is saved: \/resume/)
    terminal.type('/resume ')
    await terminal.shows(/› \d{8}-\d{6}-\w+ +\d{4}-\d\d-\d\d \d\d:\d\d +remember 4711/)
    terminal.press('Enter')
    await terminal.shows(/Session [^\n]*\n\n> remember 4711\n\nOne\./)
    terminal.type('/resume')
    terminal.press('Enter')
    await terminal.shows('There is no other session in this folder.')
    terminal.press('C-d')
    await terminal.shows('ended with 0')
    const other = openTerminal([], { work, env })
    await other.shows('Type a request.')
    other.press('C-d')
    assert.doesNotMatch(await other.shows('ended with 0'), /is kept/)
    const list = spawnSync(process.execPath, [join(root, 'bin/dragoman'), 'sessions', 'list'], {
      cwd: work,
      env,
      encoding: 'utf8',
    })
    assert.match(list.stdout, /^\S+ {2}\S+ \S+ {2}1 prompt {4}\S+\n {2}remember 4711\n$/)
  })

  test('/model offers what can be used here, and says it', async () => {
    const { terminal } = await open([])
    terminal.type('/model gpt-')
    await terminal.shows(/› openai\/gpt-|› openai-chat\/gpt-/)
    terminal.press('C-c')
    await terminal.hides('› openai')
    terminal.type('/model')
    terminal.press('Enter')
    await terminal.shows(/› openai-chat\/script +in use\n +openai/)
    terminal.press('Down')
    await terminal.shows(/› openai\S+ +\d+ \d+k tokens/)
    terminal.press('Enter')
    await terminal.shows(/The model is now openai\S+; the conversation continues\./)
  })

  test('@ completes a file, and the file goes along', async () => {
    const { terminal, server } = await open([{ say: 'Seen.' }])
    terminal.type('look at @a.t')
    await terminal.shows('› @a.txt')
    terminal.press('Tab')
    await terminal.shows('> look at @a.txt')
    terminal.press('Enter')
    await terminal.shows('Seen.')
    assert.match(JSON.stringify(server.requests[0]?.body), /--- a\.txt ---\\nhello/)
  })
})

describe('for a screen reader', { skip: noTmux }, () => {
  test('plain lines, nothing is written twice, and questions are answered by lines', async () => {
    const here = await stage(EDIT)
    writeFileSync(join(here.work, 'a.txt'), 'hello\n')
    mkdirSync(join(here.home, '.config/dragoman'), { recursive: true })
    writeFileSync(join(here.home, '.config/dragoman/config.json'), '{"screenReader":true}')
    const terminal = openTerminal([], here)
    await terminal.shows('Type a request.')
    terminal.type('say goodbye')
    terminal.press('Enter')
    await terminal.shows('Answer y, a, or n')
    terminal.type('y')
    terminal.press('Enter')
    const screen = await terminal.shows('All done.')
    assert.equal(readFileSync(join(here.work, 'a.txt'), 'utf8'), 'goodbye\n')
    assert.equal(screen.match(/I change it\./g)?.length, 1)
    terminal.press('C-d')
    await terminal.shows('ended with 0')
  })
})

describe('the first minute', { skip: noTmux }, () => {
  test('no key: three ways on, and never an error', async () => {
    const here = await stage([])
    const env = { PATH: here.env['PATH'] ?? '', HOME: here.home }
    const terminal = openTerminal([], { work: here.work, env })
    const page = await terminal.shows('No API key found')
    assert.match(page, /Paste an API key/)
    assert.match(page, /Take the tour/)
    terminal.press('Escape')
    await terminal.shows('ended with 0')
  })

  test('a key that does not work leads back to the ways on; letters narrow the list of vendors', async () => {
    const here = await stage([])
    const env = { PATH: here.env['PATH'] ?? '', HOME: here.home, DRAGOMAN_OPENROUTER_BASE_URL: 'http://127.0.0.1:9/v1' }
    const terminal = openTerminal([], { work: here.work, env, rows: 15 })
    await terminal.shows('No API key found')
    terminal.press('1')
    await terminal.shows('› gemini')
    terminal.type('router')
    await terminal.shows('› openrouter')
    terminal.press('Enter')
    await terminal.shows('API key for openrouter')
    terminal.type('not-a-key-at-all')
    terminal.press('Enter')
    await terminal.shows(/the key was not stored, because it could not be\s+checked/)
    await terminal.shows('› 1. Paste an API key')
    terminal.press('Escape')
    await terminal.shows('ended with 0')
  })

  test('a folder with settings of its own: asked once, and it works either way', async () => {
    const here = await stage([{ say: 'Hello.' }])
    mkdirSync(join(here.work, '.dragoman'))
    writeFileSync(join(here.work, '.dragoman/config.json'), '{"approvalMode":"yolo"}')
    const terminal = openTerminal([], here)
    await terminal.shows('This folder has project files that can act')
    terminal.press('2')
    await terminal.shows('yolo mode')
    terminal.press('C-d')
    await terminal.shows('ended with 0')
    const again = openTerminal([], here)
    await again.shows('yolo mode')
  })
})
