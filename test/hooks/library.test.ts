import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agent, tool } from '../../src/index.ts'
import { scriptedModel } from '../../src/testing.ts'

test('hooks of the library: refuse, change, add, go on; one that throws is a notice', async () => {
  const seen: string[] = []
  const echo = tool({
    name: 'echo',
    description: 'Echoes.',
    parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    effects: () => [],
    execute: ({ text }) => text,
  })
  const model = scriptedModel([
    {
      call: [
        { name: 'echo', args: { text: 'secret' } },
        { name: 'echo', args: { text: 'plain' } },
      ],
    },
    { expect: { results: ['refused', 'PLAIN'] }, say: 'First.' },
    { say: 'Second.' },
  ])
  const made = agent({
    model,
    tools: [echo],
    hooks: {
      userPromptSubmit: ({ prompt }) => void seen.push(prompt),
      preToolUse({ input }) {
        if (input['text'] === 'secret') return { permission: 'deny', reason: 'no secrets' }
        return { updatedInput: { text: JSON.stringify(input['text']).slice(1, -1).toUpperCase() } }
      },
      postToolUse() {
        throw new Error('broken hook')
      },
      stop: ({ isActive }) => (isActive ? undefined : { block: { reason: 'once more' } }),
      sessionEnd: () => void seen.push('end'),
    },
  })
  const notices: string[] = []
  const run = made.run('go')
  for await (const event of run) if (event.type === 'notice') notices.push(event.text)
  assert.equal((await run).text, 'Second.')
  await made.close()
  assert.deepEqual(seen, ['go', 'end'])
  assert.match(notices.join('\n'), /A hook failed \(postToolUse\): broken hook/)
})
