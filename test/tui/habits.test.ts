import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { until } from '../support/alive.ts'
import { dragoman, stage } from '../support/command.ts'
import { root } from '../support/paths.ts'
import { noTmux, openTerminal } from '../support/tmux.ts'

const LONG = 'word '.repeat(1600)

async function open(more: { columns?: number } = {}) {
  const here = await stage({
    steps: [
      { when: { user: 'about to be replaced' }, say: 'Short.' },
      { when: { user: 'write an AGENTS.md' }, say: 'I will look around.' },
      { loop: [{ say: 'Hello yourself.' }] },
    ],
  })
  const terminal = openTerminal([], { columns: 120, ...here, ...more })
  await terminal.shows('openai-chat/script')
  const say = async (text: string, answer: string | RegExp) => {
    // An answer is on the screen before its run has ended, and some commands need the end.
    await terminal.hides('Esc stops')
    terminal.type(text)
    terminal.press('Enter')
    return terminal.shows(answer)
  }
  return { ...here, terminal, say }
}

describe('habits in the terminal', { skip: noTmux }, () => {
  test('slash commands by the names that other agents have', async () => {
    const { say, terminal, server, work, env } = await open()
    mkdirSync(join(work, '.dragoman/commands'), { recursive: true })
    terminal.paste(LONG)
    terminal.press('Enter')
    await terminal.shows('Hello yourself.')
    await say('/context', /tokens[^]*System prompt +about [\d,\s]+[^]*Conversation +about 2.?0\d\d/)
    const compacted = await say('/compact', /summarised: about ([\d,]+) → ([\d,]+) tokens/)
    const [, before = '', after = ''] = /about ([\d,]+) → ([\d,]+) tokens/.exec(compacted) ?? []
    const [beforeTokens, afterTokens] = [before, after].map((one) => Number(one.replaceAll(',', '')))
    assert.ok(
      beforeTokens! > LONG.length / 5 && beforeTokens! < LONG.length / 3,
      `${before} are tokens, not characters`,
    )
    assert.ok(afterTokens! < beforeTokens!)
    terminal.paste(LONG)
    terminal.press('Enter')
    await terminal.shows(/summarised: [^]*Hello yourself\./)
    await say('/compact keep the herons', /keep the herons[^]*summarised: about/)
    assert.match(server.requests.at(-1)?.bytes.toString() ?? '', /about this summary: keep the herons/)
    await say('/mode acceptEdits', 'Mode auto_edit')
    await say('/permissions allow Bash(npm test)', 'A rule is added when you answer')
    await say('/mode default', 'Mode default')
    await say('/cost', /tokens/)
    await say('/permissions', /Mode default: asks/)
    await say('/init', 'I will look around.')
    assert.match(server.requests.at(-1)?.bytes.toString() ?? '', /write an AGENTS\.md/)
    await say('/new', 'New session')
    await say('/exit', 'ended with 0')
    assert.ok(existsSync(work))
    assert.equal((await dragoman(['sessions', 'list'], { work, env })).code, 0)
  })

  test('commands that exist only elsewhere are answered, and # saves a memory without a request', async () => {
    const { say, server, home } = await open()
    for (const name of ['terminal-setup', 'plugin', 'release-notes', 'ide', 'rename', 'feedback', 'upgrade', 'fast'])
      await say(`/${name}`, `There is no /${name} here: `)
    await say('# always use pnpm', 'Remembered for later sessions: always use pnpm')
    assert.match(readFileSync(join(home, '.config/dragoman/memory.md'), 'utf8'), /always use pnpm/)
    assert.equal(server.requests.length, 0)
  })

  test('a digit chooses, whatever key was pressed before: nothing is refused by mistake', async () => {
    const here = await stage([{ say: 'Good.' }])
    mkdirSync(join(here.work, '.claude/commands'), { recursive: true })
    writeFileSync(join(here.work, '.claude/commands/shine.md'), '---\nargument-hint: [what] [how]\n---\nPolish.')
    writeFileSync(join(here.work, '.claude/commands/one.md'), '---\nargument-hint: [what]\n---\nPolish.')
    const terminal = openTerminal([], { ...here, rows: 70, columns: 110 })
    await terminal.shows('2. Trust them')
    terminal.type('y')
    terminal.type('2')
    await terminal.shows('default mode')
    terminal.type('/help')
    terminal.press('Enter')
    await terminal.shows(/\/shine \[what\] \[how\] /)
    assert.match(terminal.screen(), /\/one \[what\] /)
  })

  test('/help lists aliases and commands of one’s own', async () => {
    const here = await stage([{ say: 'Good.' }])
    mkdirSync(join(here.home, '.config/dragoman/commands'), { recursive: true })
    writeFileSync(join(here.home, '.config/dragoman/commands/shine.md'), '---\ndescription: polish it\n---\nPolish.')
    const terminal = openTerminal([], { ...here, rows: 60, columns: 110 })
    await terminal.shows('openai-chat/script')
    terminal.type('/help')
    terminal.press('Enter')
    await terminal.shows(/\/shine +polish it/)
    assert.match(terminal.screen(), /\/compress.*also \/compact/)
    assert.match(terminal.screen(), /Ctrl-R searches/)
    terminal.type('/shine')
    terminal.press('Enter')
    await terminal.shows('Good.')
  })

  test('a command of one’s own takes the place of one that only sends a prompt', async () => {
    const here = await stage([{ say: 'Good.' }])
    mkdirSync(join(here.home, '.config/dragoman/commands'), { recursive: true })
    for (const name of ['review', 'quit'])
      writeFileSync(join(here.home, `.config/dragoman/commands/${name}.md`), `My own ${name}.`)
    const terminal = openTerminal([], { ...here, columns: 110 })
    await terminal.shows('openai-chat/script')
    terminal.type('/review')
    terminal.press('Enter')
    await terminal.shows('Good.')
    assert.match(here.server.requests.at(-1)?.bytes.toString() ?? '', /My own review\./)
    terminal.type('/quit')
    terminal.press('Enter')
    await terminal.shows('ended with 0')
    assert.equal(here.server.requests.length, 1)
  })

  test('help and leaving need no slash, and nothing of it is sent', async () => {
    const { say, terminal, server } = await open()
    await say('help', /Ctrl-C twice, Ctrl-D/)
    terminal.press('C-l')
    await say('?', /Ctrl-C twice, Ctrl-D/)
    await say('help me with this', 'Hello yourself.')
    assert.equal(server.requests.length, 1)
    await say('exit', 'ended with 0')
    assert.equal(server.requests.length, 1)
  })

  for (const word of ['quit', ':q'])
    test(`${word} leaves`, async () => {
      const { say, server } = await open()
      await say(word, 'ended with 0')
      assert.equal(server.requests.length, 0)
    })

  test('a mistyped slash command leads to the right one, also by its other names', async () => {
    const { say } = await open()
    await say('/compct', 'Unknown command /compct; did you mean /compact?')
    await say('/qiut', 'Unknown command /qiut; did you mean /quit?')
    await say('/permisions', 'did you mean /permissions?')
    await say('/resuem', 'did you mean /resume?')
  })

  test('more names that other agents have', async () => {
    const { say } = await open()
    await say('/plan', /plan mode/)
    await say('/approvals default', 'Mode default: asks')
    await say('/undo', /No file was changed since then/)
    await say('/continue', 'There is no other session in this folder')
    await say('/settings', /"policies"/)
  })

  test('Control-R searches what was said before', async () => {
    const { terminal, say, server } = await open()
    await say('alpha first thing', 'Hello yourself.')
    await say('beta second thing', /beta[^]*Hello yourself\./)
    await say('gamma third thing', /gamma[^]*Hello yourself\./)
    terminal.press('C-r')
    await terminal.shows('Search:')
    terminal.type('thing')
    await terminal.shows(/^> gamma third thing/m)
    terminal.press('C-r')
    await terminal.shows(/Search: thing/)
    await terminal.shows(/> beta second thing\s+Search/)
    terminal.press('C-g')
    await terminal.hides('Search:')
    assert.match(terminal.screen(), /^>\s*$/m, 'the input is as it was')
    terminal.press('C-r')
    terminal.type('alp')
    await terminal.shows(/> alpha first thing\s+Search/)
    terminal.press('Tab')
    await terminal.hides('Search:')
    terminal.type(' again')
    terminal.press('Enter')
    await terminal.shows(/> alpha first thing again/)
    await until(() => server.requests.length === 4)
    assert.match(server.requests.at(-1)?.bytes.toString() ?? '', /alpha first thing again/)
  })

  test('Control-L draws the screen anew', async () => {
    const { terminal, say } = await open()
    await say('first', 'Hello yourself.')
    terminal.type('a draft')
    await terminal.shows('> a draft')
    terminal.press('C-l')
    await terminal.hides('Hello yourself.')
    assert.match(terminal.screen(), /^\s*> a draft/, 'what is written stands at the top')
    assert.match(terminal.history(), /Hello yourself\./, 'the rest is in the scrollback')
    await say(' goes on', 'Hello yourself.')
  })

  test('Control-Z suspends, and fg brings it back', async () => {
    const here = await stage([{ loop: [{ say: 'Hello yourself.' }] }])
    const terminal = openTerminal([], { ...here, columns: 100, inShell: ['bash', '--norc', '--noprofile', '-i'] })
    terminal.type(`PS1='shell% '`)
    terminal.press('Enter')
    await terminal.shows(/^shell%/m)
    terminal.type(`clear; ${process.execPath} ${join(root, 'bin/dragoman')}`)
    terminal.press('Enter')
    await terminal.shows('openai-chat/script')
    terminal.type('half a thought')
    await terminal.shows('> half a thought')
    terminal.press('C-z')
    await terminal.shows(/Stopped/)
    terminal.type('echo in-the-$((1+1))-shell')
    terminal.press('Enter')
    await terminal.shows('in-the-2-shell')
    terminal.type('fg')
    terminal.press('Enter')
    await terminal.shows('> half a thought')
    terminal.press('Enter')
    await terminal.shows('Hello yourself.')
  })

  test('Control-Z where no shell waits does nothing that lasts', async () => {
    const { terminal } = await open()
    terminal.press('C-z')
    // What is typed while the terminal changes its mode is kept; the Enter of that moment may be a line end.
    terminal.type('still here')
    await terminal.shows('> still here')
    terminal.press('Enter')
    await terminal.shows('Hello yourself.')
  })
})
