import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createModel, createHttpClient } from '../../src/provider/http/node-http-client.ts'
import { answers } from './support/answers.ts'
import { aimed, answerOf, eventsOf, SECRET } from './support/ask.ts'
import { reply, serve, stream } from './support/server.ts'

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
const said = (content: string): string => data({ choices: [{ index: 0, delta: { content } }] })
const END = [data({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }), 'data: [DONE]\n\n']

test('a key that a server says in its text goes no further, however it is cut', async (t) => {
  const words = `Your key is ${SECRET}, or ${SECRET.slice(0, 7)}, or ${SECRET}${SECRET}.`
  for (const size of [1, 2, 3, 7, 11, words.length]) {
    const parts = words.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
    const { url } = await serve(t, (response) => stream(response, [...parts.map(said), ...END]))
    const events = await eventsOf(createModel(aimed('groq/x', url), { httpClient: createHttpClient({}) }))
    const clean = words.replaceAll(SECRET, '[key]')
    const shown = events.flatMap((event) => (event.type === 'part-delta' ? [event.text] : [])).join('')
    assert.equal(shown, clean, `pieces of ${size}`)
    const closed = events.find((event) => event.type === 'part-close')
    assert.deepEqual(closed?.type === 'part-close' && closed.part, { kind: 'text', text: clean })
  }
})

test('nor does a key in fields that nobody reads', async (t) => {
  const chunk = { debug: { authorization: `Bearer ${SECRET}` }, choices: [{ index: 0, delta: { content: 'Hi' } }] }
  const { url } = await serve(t, (response) => stream(response, [data(chunk), ...END]))
  const events = await eventsOf(createModel(aimed('groq/x', url), { httpClient: createHttpClient({}) }))
  assert.match(JSON.stringify(events), /Bearer \[key\]/)
  assert.ok(!JSON.stringify(events).includes(SECRET))
})

test('what a model calls is never altered', async (t) => {
  const { url } = await serve(t, (response) =>
    stream(response, answers['openai-chat'].call('get_weather', { city: 'sk-canary' }).events),
  )
  const { turn } = await answerOf(createModel(aimed('groq/x', url), { httpClient: createHttpClient({}) }))
  assert.ok(turn.parts[0]?.kind === 'call' && turn.parts[0].input?.['city'] === 'sk-canary')
})

test('errors lose whatever looks like a secret, be it somebody else’s', async (t) => {
  const other = 'sk-ant-api03-0123456789abcdefghij'
  const { url } = await serve(t, (response) =>
    reply(response, { error: { message: `${other} and postgres://me:pa55word@db.example are wrong` } }, 400),
  )
  const { turn } = await answerOf(createModel(aimed('groq/x', url), { httpClient: createHttpClient({}) }))
  assert.equal(turn.finish.fault?.message, '[secret] and postgres://[secret]@db.example are wrong')
})
