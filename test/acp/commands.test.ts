import assert from 'node:assert/strict'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { stage } from '../support/command.ts'
import { choose, type Editor, openEditor } from './support/editor.ts'

const LIMIT = { timeout: 300_000 }

function write(path: string, ...lines: string[]): void {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, `${lines.join('\n')}\n`)
}

async function listCommands(editor: Editor) {
  const { availableCommands } = await editor.until(() => editor.updatesOf('available_commands_update')[0])
  return new Map(availableCommands.map((command) => [command.name, command]))
}

test('skills and custom commands are listed, with their hint, and used by /name with words', LIMIT, async () => {
  const place = await stage({
    start: 'prompt',
    steps: [
      { when: { user: { matches: 'Skill tidy\\.[^]*Tidy up src/a\\.ts\\.' } }, say: 'Tidied.' },
      { when: { user: 'Explain why to a child.' }, say: 'Explained.' },
      { say: 'Something else.' },
    ],
  })
  const config = join(place.home, '.config/dragoman')
  write(
    join(config, 'skills/tidy/SKILL.md'),
    '---',
    'description: tidies a file',
    'argument-hint: <file>',
    '---',
    'Tidy up $ARGUMENTS.',
  )
  write(
    join(config, 'skills/inner/SKILL.md'),
    '---',
    'description: only for the model',
    'user-invocable: false',
    '---',
    'Inner.',
  )
  write(join(config, 'commands/explain.toml'), 'description = "explains"', 'prompt = "Explain {{args}} to a child."')
  write(join(config, 'commands/git/log.md'), 'Show the log.')
  write(join(config, 'agents/reviewer.md'), '---', 'name: reviewer', 'description: Reviews changes.', '---', 'Review.')
  // The project is not trusted: nothing of it is offered.
  write(join(place.work, '.claude/commands/evil.md'), 'Evil.')
  const editor = await openEditor(place)
  const { sessionId } = await editor.newSession()
  const commands = await listCommands(editor)
  assert.deepEqual(commands.get('tidy'), { name: 'tidy', description: 'tidies a file', input: { hint: '<file>' } })
  assert.equal(commands.get('explain')?.description, 'explains')
  assert.ok(commands.has('git:log'))
  for (const name of ['inner', 'evil']) assert.equal(commands.has(name), false, name)

  assert.equal(await editor.prompt(sessionId, '/tidy src/a.ts'), 'end_turn')
  assert.match(editor.text(), /Tidied\./)
  assert.equal(await editor.prompt(sessionId, '/explain why'), 'end_turn')
  assert.match(editor.text(), /Explained\./)
  const sent = place.server.requests.length
  assert.equal(await editor.prompt(sessionId, '/agents'), 'end_turn')
  assert.match(editor.text(), /- explore: .*\n- general: .*\n- reviewer: Reviews changes\./)
  assert.equal(await editor.prompt(sessionId, '/skills'), 'end_turn')
  assert.match(editor.text(), /- \/tidy: tidies a file/)
  assert.equal(place.server.requests.length, sent)
  // A command that does not exist is a message like any other.
  assert.equal(await editor.prompt(sessionId, '/evil now'), 'end_turn')
  assert.match(JSON.stringify(place.server.requests.at(-1)?.body), /\/evil now/)
  await editor.close()
})

test('a command of a custom command is asked about, can be refused, and can be cancelled', LIMIT, async () => {
  const place = await stage({ start: 'prompt', steps: [{ say: 'Answered.' }] })
  const commands = join(place.home, '.config/dragoman/commands')
  write(join(commands, 'make.md'), 'It printed !`echo made >> made.txt; echo done`.')
  write(join(commands, 'wait.md'), '---', 'allowed-tools: Bash(*), Nonsense(((', '---', '!`touch waits; sleep 1000`')
  let answer = 'no'
  const editor = await openEditor(place, { args: ['--sandbox', 'off'], permit: () => choose(answer) })
  const { sessionId } = await editor.newSession()
  assert.equal(await editor.prompt(sessionId, '/make'), 'end_turn')
  assert.equal(editor.questions.length, 1)
  assert.match(editor.text(), /\/make was not sent/)
  assert.equal(existsSync(join(place.work, 'made.txt')), false)
  assert.equal(place.server.requests.length, 0)
  answer = 'once'
  assert.equal(await editor.prompt(sessionId, '/make'), 'end_turn')
  assert.match(JSON.stringify(place.server.requests.at(-1)?.body), /It printed done/)

  const ended = editor.prompt(sessionId, '/wait')
  while (!existsSync(join(place.work, 'waits'))) await new Promise((resolve) => setTimeout(resolve, 20))
  await editor.agent.notify('session/cancel', { sessionId })
  assert.equal(await ended, 'cancelled')
  assert.equal(place.server.requests.length, 1)
  await editor.close()
})

test('the list of steps is the plan of the editor, with its progress, also after load', LIMIT, async () => {
  const todos = (...statuses: string[]) => ({
    call: [
      {
        name: 'write_todos',
        args: { todos: statuses.map((status, at) => ({ description: `step ${at + 1}`, status })) },
      },
    ],
  })
  const place = await stage([
    todos('in_progress', 'pending', 'pending'),
    todos('completed', 'in_progress', 'cancelled'),
    { say: 'Half done.' },
  ])
  const editor = await openEditor(place)
  const { sessionId } = await editor.newSession()
  assert.equal(await editor.prompt(sessionId, 'Work.'), 'end_turn')
  const plans = (one: Editor) =>
    one.updatesOf('plan').map(({ entries }) => entries.map(({ content, status }) => `${content} ${status}`))
  const expected = [
    ['step 1 in_progress', 'step 2 pending', 'step 3 pending'],
    ['step 1 completed', 'step 2 in_progress'],
  ]
  assert.deepEqual(plans(editor), expected)
  assert.equal(editor.questions.length, 0)
  await editor.close()
  const next = await openEditor(place)
  await next.agent.request('session/load', { sessionId, cwd: place.work, mcpServers: [] })
  assert.deepEqual(plans(next), expected)
  await next.close()
})
