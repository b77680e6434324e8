import assert from 'node:assert/strict'
import { test } from 'node:test'
import { main as geminiCli } from '../../examples/embed-gemini-cli.ts'
import { main as kilocode } from '../../examples/embed-kilocode-openrouter.ts'
import { main as openAiSdk } from '../../examples/embed-openai-sdk.ts'
import { main as tachikoma } from '../../examples/embed-tachikoma.ts'

test('embed-kilocode-openrouter', async () => {
  assert.deepEqual(await kilocode(), {
    text: 'I read both.',
    pieces: 3,
    history: [
      { type: 'text', text: 'I read both.' },
      { type: 'tool_use', id: 'call_a', name: 'read_file', input: { path: 'a.txt' } },
      { type: 'tool_use', id: 'call_b', name: 'read_file', input: { path: 'b.txt' } },
    ],
    rejected: [],
  })
})

test('embed-gemini-cli', async () => {
  const { answer, shown, contents } = await geminiCli()
  assert.equal(answer, 'A README, and a blank screen.')
  assert.deepEqual(
    contents.map(({ role }) => role),
    ['user', 'model', 'user', 'model'],
  )
  const responses = contents[2]?.parts?.flatMap(({ functionResponse }) => functionResponse?.id ?? [])
  assert.deepEqual(responses, ['fc1', 'fc2'])
  assert.equal(shown[0]?.split('\n').length, 8)
  assert.equal(shown[1], '[Image: image/png]')
})

test('embed-openai-sdk', async () => {
  let shown = ''
  const { text, finish, messages } = await openAiSdk((piece) => (shown += piece))
  assert.deepEqual([text, shown, finish], ['It is sunny in both.', 'It is sunny in both.', 'stop'])
  assert.deepEqual(
    messages.map((message) => [message.role, 'tool_call_id' in message ? message.tool_call_id : '']),
    [
      ['user', ''],
      ['assistant', ''],
      ['tool', 'call_a'],
      ['tool', 'call_b'],
      ['assistant', ''],
    ],
  )
})

test('embed-tachikoma', async () => {
  const { contents, tools, toolConfig } = await tachikoma()
  assert.deepEqual(contents.slice(1), [
    {
      role: 'model',
      parts: [
        { text: 'Grüße! I look.' },
        { functionCall: { name: 'weather', args: { city: 'Zürich' } } },
        { functionCall: { name: 'sleep', args: {} } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { name: 'weather', response: { result: 'It rains in Zürich.' } } },
        { functionResponse: { name: 'sleep', response: { error: 'Timed out after 50ms' } } },
      ],
    },
  ])
  assert.deepEqual(
    tools[0]?.functionDeclarations?.map(({ name }) => name),
    ['weather', 'sleep'],
  )
  assert.deepEqual(toolConfig, { functionCallingConfig: { mode: 'AUTO' } })
})
