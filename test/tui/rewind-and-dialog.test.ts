import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { stage } from '../support/command.ts'
import { writeForeignLog } from '../support/foreign-sessions.ts'
import { noTmux, openTerminal } from '../support/tmux.ts'

const TODOS = [
  { description: 'read the code of the parser', status: 'completed' },
  { description: 'change it', status: 'in_progress' },
]

describe('what people bring along, in the terminal', { skip: noTmux }, () => {
  for (const columns of [60, 100, 160])
    test(`todos, a question, rewind and redo at ${columns} columns`, async () => {
      const at = await stage({
        steps: [
          { call: [{ name: 'write_todos', args: { todos: TODOS } }] },
          {
            call: [
              {
                name: 'ask_user',
                args: {
                  question: 'Which name should the file have?',
                  options: [{ label: 'one.txt', description: 'the short one' }, { label: 'other.txt' }],
                },
              },
            ],
          },
          { call: [{ name: 'write_file', args: { file_path: '{cwd}/one.txt', content: 'one\n' } }] },
          { say: 'First done.' },
          { call: [{ name: 'run_shell_command', args: { command: 'echo two > two.txt; rm one.txt' } }] },
          { say: 'Second done.' },
          { loop: [{ say: 'Once more.' }] },
        ],
      })
      const env = { ...at.env, DRAGOMAN_SANDBOX: 'off' }
      const terminal = openTerminal(['--yolo'], { ...at, env, columns, rows: 40 })
      await terminal.shows('openai-chat/script')
      terminal.type('make the first file')
      terminal.press('Enter')
      const asked = await terminal.shows('write an answer')
      assert.match(asked, /1 of 2 done[^]*☑ read the code of the parser[^]*☐ change it/)
      assert.match(asked, /The model asks:[^]*Which name should the file have\?[^]*1\. one\.txt: the short one/)
      terminal.press('1')
      await terminal.shows('First done.')
      assert.match(JSON.stringify(at.server.requests.map(({ body }) => body)), /The user answered: one\.txt/)
      await terminal.hides('Esc stops')
      terminal.type('now the second one')
      terminal.press('Enter')
      await terminal.shows('Second done.')
      await terminal.hides('Esc stops')
      assert.ok(!existsSync(join(at.work, 'one.txt')))

      terminal.press('Escape')
      await terminal.shows('Press Esc again to go back to an earlier message')
      terminal.press('Escape')
      const list = await terminal.shows(/\/rewind[^]*now the second one/)
      assert.match(list, /2 +now the second one[^]*1 +make the first file/)
      terminal.press('Enter')
      await terminal.shows(/2 both[^]*2 conversation[^]*2 files/)
      terminal.press('Enter')
      await terminal.shows('To reverse this: /redo')
      await terminal.shows(/\/redo\s+> now the second one\s+openai-chat/)
      assert.equal(readFileSync(join(at.work, 'one.txt'), 'utf8'), 'one\n')
      assert.ok(!existsSync(join(at.work, 'two.txt')))

      terminal.press('C-c')
      await terminal.shows(/\/redo\s+>\s+openai-chat/)
      terminal.type('/redo')
      terminal.press('Enter')
      await terminal.shows(/Session \S+\./)
      await terminal.shows(/files? (?:was|were) restored/)
      assert.equal(readFileSync(join(at.work, 'two.txt'), 'utf8'), 'two\n')
      assert.ok(!existsSync(join(at.work, 'one.txt')))

      terminal.type('/diff')
      terminal.press('Enter')
      await terminal.shows(/new two\.txt[^]*1 file, \+1 −0/)
      terminal.type('/context')
      terminal.press('Enter')
      await terminal.shows(/■ System prompt/)
      for (const line of terminal.screen().split('\n')) assert.ok(line.length <= columns, line)
    })

  test('an answer of one’s own, no answer, and a picker for the sessions of other agents', async () => {
    const question = { name: 'ask_user', args: { question: 'Which colour?', options: [{ label: 'red' }] } }
    const at = await stage({
      steps: [{ call: [question] }, { say: 'Noted.' }, { call: [question] }, { say: 'Never mind.' }],
    })
    const terminal = openTerminal([], { ...at, columns: 80 })
    await terminal.shows('openai-chat/script')
    terminal.type('paint it for me')
    terminal.press('Enter')
    await terminal.shows('write an answer')
    terminal.press('w')
    await terminal.shows('send this to the model')
    terminal.type('blue, please')
    terminal.press('Enter')
    await terminal.shows('Noted.')
    await terminal.hides('Esc stops')
    terminal.type('and again please')
    terminal.press('Enter')
    await terminal.shows('write an answer')
    terminal.press('Escape')
    await terminal.shows('Never mind.')
    const sent = JSON.stringify(at.server.requests.at(-1)?.body)
    assert.match(sent, /The user answered: blue, please/)
    assert.match(sent, /The user did not want to answer/)

    mkdirSync(join(at.home, '.claude/projects/-work'), { recursive: true })
    writeFileSync(join(at.home, '.claude/projects/-work/a.jsonl'), writeForeignLog('claude', at.work))
    const picker = openTerminal(['import', 'session'], { ...at, columns: 80 })
    await picker.shows(/1\. .*Claude Code +What is the secret word/)
    picker.press('Enter')
    await picker.shows(/Imported from Claude Code as session/)
    await picker.shows('ended with 0')
  })

  test('a first word that is nearly a command is not sent; pickers, titles, notifications and a status line of one’s own', async () => {
    const at = await stage({ steps: [{ loop: [{ say: 'Hello yourself.' }] }] })
    mkdirSync(join(at.home, '.config/dragoman'), { recursive: true })
    const config = {
      statusLine: 'read -r line; echo "mine: $(echo "$line" | grep -o openai-chat/script | head -1)"',
      terminalTitle: true,
    }
    writeFileSync(join(at.home, '.config/dragoman/config.json'), JSON.stringify(config))
    const terminal = openTerminal([], { ...at, columns: 100 })
    await terminal.shows('mine: openai-chat/script')
    terminal.type('clera')
    terminal.press('Enter')
    await terminal.shows(/Did you mean \/clear\? To send “clera” to the model, press Enter again/)
    assert.equal(at.server.requests.length, 0)
    terminal.press('Enter')
    await terminal.shows('Hello yourself.')
    await terminal.hides('Esc stops')
    terminal.type('compres')
    terminal.press('Enter')
    await terminal.shows(/Did you mean \/compress\?/)
    terminal.press('C-u')
    await terminal.hides(/^> compres$/m)
    assert.equal(at.server.requests.length, 1)
    terminal.type('/model')
    terminal.press('Enter')
    await terminal.shows(/openai-chat\/\S+ +in use/)
    terminal.press('Escape')
    await terminal.hides(/openai-chat\/\S+ +in use/)
    terminal.type('/review the tests')
    terminal.press('Enter')
    await terminal.shows(/Review the changes in this workspace/)
    await terminal.hides('Esc stops')
    assert.match(JSON.stringify(at.server.requests.at(-1)?.body), /Look especially at: the tests/)
  })
})
