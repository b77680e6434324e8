import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dragoman, stage } from '../support/command.ts'

const TODOS = [
  { description: 'read the code', status: 'completed' },
  { description: 'change it', status: 'in_progress' },
  { description: 'test it', status: 'pending' },
]

test('without a user, a question is answered by nobody, in every mode, and a list of steps needs no approval', async () => {
  for (const mode of ['default', 'yolo', 'plan']) {
    const at = await stage([
      { call: [{ name: 'write_todos', args: { todos: TODOS } }] },
      {
        call: [
          {
            name: 'ask_user',
            args: { question: 'Tabs or spaces?', options: [{ label: 'Tabs' }, { label: 'Spaces' }] },
          },
        ],
      },
      { say: 'I assumed spaces.' },
    ])
    const { code, out, err } = await dragoman(['--approval-mode', mode, '-p', 'go on then'], at)
    assert.equal(code, 0, err)
    assert.match(out, /I assumed spaces/)
    const sent = JSON.stringify(at.server.requests.at(-1)?.body)
    assert.match(sent, /The list has 3 steps, 2 of them open/)
    assert.match(sent, /Nobody is there to answer/)
  }
})

test('lists with two steps at once and questions without words are refused with a reason', async () => {
  const at = await stage([
    { call: [{ name: 'write_todos', args: { todos: [TODOS[1]!, TODOS[1]!] } }] },
    { call: [{ name: 'ask_user', args: { question: ' ' } }] },
    { say: 'Well.' },
  ])
  assert.equal((await dragoman(['-p', 'go on then'], at)).code, 0)
  const sent = JSON.stringify(at.server.requests.at(-1)?.body)
  assert.match(sent, /Only one step may be in_progress/)
  assert.match(sent, /question must not be empty/)
})
