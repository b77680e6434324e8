import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { open } from '../support/conversation.ts'
import { noTmux } from '../support/tmux.ts'

/** Does a process with these words in its command line run? */
const runs = (words: string) => spawnSync('pgrep', ['-f', words]).status === 0

describe('a command of the person’s own', { skip: noTmux }, () => {
  test('runs as theirs, outside of any sandbox, and the model hears what it printed', async () => {
    const { terminal, home, server } = await open([{ say: 'I see.' }], { env: { MY_OWN: 'mine-4711' } })
    terminal.type('!touch ~/x && echo $MY_OWN')
    terminal.press('Enter')
    await terminal.shows(/! touch ~\/x && echo \$MY_OWN\nmine-4711\n/)
    assert.ok(existsSync(join(home, 'x')))
    terminal.type('well?')
    terminal.press('Enter')
    await terminal.shows('I see.')
    assert.match(JSON.stringify(server.requests[0]?.body), /The user ran this command:[^]*mine-4711/)
  })

  test('a key that it prints is seen by the person, and by nobody else', async () => {
    const key = 'own-Zq7Rt2Xw9Lm4Kp8Vb3Nc6'
    const { terminal, server, home } = await open([{ say: 'I see.' }], { env: { MISTRAL_API_KEY: key } })
    terminal.type('!echo "key: $MISTRAL_API_KEY"')
    terminal.press('Enter')
    await terminal.shows(`key: ${key}`)
    terminal.type('well?')
    terminal.press('Enter')
    await terminal.shows('I see.')
    const body = JSON.stringify(server.requests[0]?.body)
    assert.match(body, /The user ran this command:[^]*key: /)
    assert.ok(!body.includes(key))
    assert.notEqual(spawnSync('grep', ['-r', key, home]).status, 0, 'it is in a file')
  })

  test('what it prints is shown while it runs; Esc and Control-C end it with all that it has started', async () => {
    const { terminal } = await open([])
    for (const [key, seconds] of [
      ['Escape', '7301'],
      ['C-c', '7302'],
    ] as const) {
      terminal.type(`!echo begun-${seconds}; sleep ${seconds} & sleep ${seconds}; echo never`)
      terminal.press('Enter')
      await terminal.shows(new RegExp(`^ {0,2}begun-${seconds}$`, 'm'))
      await terminal.shows(/working/)
      terminal.press(key)
      await terminal.shows(new RegExp(`begun-${seconds}\\n\\[stopped\\]`))
      assert.ok(!runs(`^sleep ${seconds}`))
    }
    assert.doesNotMatch(terminal.screen(), /^never/m)
    terminal.press('C-d')
    await terminal.shows('ended with 0')
  })

  test('Control-D while it runs, even if it will not listen: it ends, and the screen is clean', async () => {
    const { terminal } = await open([])
    terminal.type("!trap '' TERM; echo deaf; sleep 7303")
    terminal.press('Enter')
    await terminal.shows(/^ {0,2}deaf$/m)
    terminal.press('C-d')
    const screen = await terminal.shows('ended with 0')
    assert.ok(!runs('^sleep 7303'))
    assert.doesNotMatch(screen.split('ended with 0')[1] ?? '', /working|asks/)
    assert.doesNotMatch(screen, /working/)
  })

  test('!! gives it the terminal', async () => {
    const { terminal } = await open([])
    terminal.type('!!read -p "Your name: " name; echo "It is $name."; sleep 1')
    terminal.press('Enter')
    // Not the words in the command that was typed.
    await terminal.shows(/^Your name:/m)
    terminal.type('Ann')
    terminal.press('Enter')
    await terminal.shows('It is Ann.')
    await terminal.shows(/^>\s*$/m)
    terminal.type('hello again')
    await terminal.shows('> hello again')
  })
})
