import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, describe, test } from 'node:test'
import { agent, memoryStore, provider, tool, type TurnEvent, wireIds, withRetry } from '../../src/index.ts'
import { type ScriptedServer, scriptedModel, scriptedServer, type ScriptStep } from '../../src/testing.ts'
import { modelOn } from '../support/stage.ts'

const servers: ScriptedServer[] = []
after(async () => {
  for (const server of servers) await server.close()
})
async function serve(...args: Parameters<typeof scriptedServer>): Promise<ScriptedServer> {
  const server = await scriptedServer(...args)
  servers.push(server)
  return server
}

const weather = tool({
  name: 'get_weather',
  description: 'The weather in a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  effects: () => [],
  execute: ({ city }) => `sunny in ${city}`,
})
const look: ScriptStep = { call: [{ name: 'get_weather', args: { city: 'Berlin' } }] }

describe('scriptedModel', () => {
  for (const wire of wireIds)
    test(`gives the events of a real model on ${wire}, also if it misbehaves`, async () => {
      const misbehaviours: ScriptStep['misbehave'][] = [
        [],
        ['index-zero', 'ids-same'],
        [{ kind: 'framing', style: 'crlf' }],
        [{ kind: 'cut', at: 'arguments', how: 'close' }],
        [{ kind: 'status', status: 503 }],
        [{ kind: 'text-call' }],
        ['whole'],
      ]
      for (const misbehave of misbehaviours) {
        const steps = [{ think: 'Hm.', say: 'I look.', ...look, ...(misbehave && { misbehave }) }]
        const server = await serve(steps)
        const request = { model: 'script', tools: [weather.spec], turns: [USER_TURN], system: 'Be brief.' }
        const options = { turnKey: 'key' }
        const expected = await collect(modelOn(wire, server).stream(request, options))
        const actual = await collect(scriptedModel(steps, { origin: { wire } }).stream(request, options))
        const content = (events: readonly TurnEvent[]) =>
          events.map((event) =>
            event.type === 'open'
              ? { type: 'open' }
              : event.type === 'finish'
                ? // Its native data has counts that are estimated from the bytes.
                  { type: 'finish', reason: event.reason, kind: event.fault?.kind }
                : event.type === 'usage'
                  ? { type: 'usage' } // estimated from the bytes
                  : withoutSigner(event),
          )
        assert.deepEqual(merge(content(actual)), merge(content(expected)), JSON.stringify(misbehave))
        assert.ok(actual.some(({ type }) => type === 'finish'))
      }
    })

  test('gives each request the next step, also in a session that exists, and records what was sent', async () => {
    const store = memoryStore()
    const before = agent({ model: scriptedModel([{ say: 'One.' }, { say: 'Two.' }]), store })
    await before.run('first')
    await before.run('second')
    await before.close()

    const model = scriptedModel([look, { expect: { results: 'sunny' }, say: 'Yes.' }])
    const one = agent({ model, store, session: before.session, tools: [weather], instructions: 'Be brief.' })
    assert.equal((await one.run('Is it sunny?')).text, 'Yes.')
    model.assertDone()
    const [first, last] = model.requests
    assert.deepEqual(last?.messages.slice(-4), [
      { role: 'assistant', text: 'Two.' },
      { role: 'user', text: 'Is it sunny?' },
      { role: 'assistant', text: '', calls: [{ name: 'get_weather', args: { city: 'Berlin' } }] },
      { role: 'tool', text: 'sunny in Berlin', name: 'get_weather' },
    ])
    assert.equal(first?.request.turns.length, 5, 'the request does not grow with the session')
    assert.equal(first.conversation.system, 'Be brief.')
    assert.deepEqual(
      first.conversation.tools?.map(({ name }) => name),
      ['get_weather'],
    )
    await one.close()
  })

  test('answers by the history if the script says where it starts', async () => {
    const model = scriptedModel({ steps: [look, { say: 'Sunny.' }], start: 'prompt' })
    const one = agent({ model, tools: [weather] })
    assert.equal((await one.run('one')).text, 'Sunny.')
    assert.equal((await one.run('two')).text, 'Sunny.')
    assert.equal(model.requests.length, 4)
    await one.close()
  })

  test('answers a request that meets `when` at any time, and goes on with the same step', async () => {
    const model = scriptedModel([{ say: 'One.' }, { when: { user: 'help' }, say: 'Aside.' }, { say: 'Two.' }])
    const one = agent({ model })
    const texts: string[] = []
    for (const prompt of ['help', 'a', 'help', 'b']) texts.push((await one.run(prompt)).text)
    assert.deepEqual(texts, ['Aside.', 'One.', 'Aside.', 'Two.'])
    model.assertDone()
    await one.close()
  })

  test('is not done while a step was not requested, and says which one', async () => {
    const model = scriptedModel([
      { say: 'One.' },
      { when: { user: 'never' }, say: 'Never.' },
      { say: 'Two.', repeat: 2 },
      { loop: [{ say: 'Three.' }] },
    ])
    const one = agent({ model })
    await one.run('a')
    await one.run('b')
    assert.throws(() => model.assertDone(), {
      name: 'AssertionError',
      message:
        'steps[2] was requested 1 times, not 2 times: {"say":"Two.","repeat":2}\n' +
        'steps[3].loop[0] was not requested: {"say":"Three."}',
    })
    await one.run('c')
    await one.run('d')
    await one.run('e')
    model.assertDone()
    await one.close()
  })

  test('fails a request that does not meet its step, and one that has no step', async () => {
    const wrong = scriptedModel([{ expect: { user: 'goodbye', tools: ['get_weather'] }, say: 'x' }])
    const end = await agent({ model: wrong, tools: [weather] }).run('hello')
    assert.equal(end.finish, 'fault')
    assert.match(end.fault?.message ?? '', /must contain "goodbye"; it is "hello"/)
    assert.throws(
      () => wrong.assertDone(),
      /^AssertionError.*Request 1: .*must contain "goodbye"[^]*steps\[0\] was not/,
    )

    const short = scriptedModel([look])
    const surplus = await agent({ model: short, tools: [weather] }).run('hello')
    assert.equal(surplus.finish, 'fault')
    assert.throws(() => short.assertDone(), /Request 2: The script has no step for this request: all are used\./)
    const ended = await agent({ model: scriptedModel({ steps: [], end: { say: 'Over.' } }) }).run('hello')
    assert.equal(ended.text, 'Over.')
  })

  test('rejects what is no script', () => {
    assert.throws(() => scriptedModel([{ says: 'x' } as ScriptStep]), /Invalid script: .*says/)
  })

  test('tries a step again that misbehaves so many times', async () => {
    const model = scriptedModel([
      { say: 'There.', misbehave: [{ kind: 'status', status: 503, hint: 'milliseconds', wait: 1, times: 1 }] },
      { say: 'Next.' },
    ])
    const one = agent({ model: withRetry(model) })
    assert.equal((await one.run('go')).text, 'There.')
    assert.equal((await one.run('go on')).text, 'Next.')
    assert.equal(model.requests.length, 3)
    model.assertDone()
    await one.close()
  })

  test('has the prices of the model that it says it is', async () => {
    const origin = { provider: 'openai', model: 'gpt-5.2' }
    const step = { say: 'x', usage: { input: 1_000_000, output: 0, reasoning: 0 } }
    const { cost } = await agent({ model: scriptedModel([step], { origin }) }).run('go')
    assert.ok(cost !== undefined && cost > 0)
  })

  test('can be stopped while it waits, and while it answers', async () => {
    for (const slow of [{ delay: 60_000 }, { pace: 60_000 }, { misbehave: [{ kind: 'stall', at: 'text' } as const] }]) {
      const model = scriptedModel([{ say: 'A long answer in many pieces.', ...slow }, { say: 'Again.' }])
      const one = agent({ model })
      const run = one.run('go')
      while (model.requests.length === 0) await sleep(1)
      run.cancel()
      assert.equal((await run).finish, 'cancelled')
      assert.equal((await one.run('and now?')).text, 'Again.')
      model.assertDone()
      await one.close()
    }
  })
})

describe('scriptedServer', () => {
  test('plays for many sessions at once, on every wire, with the keys they have', async () => {
    const server = await serve([look, { expect: { results: 'sunny' }, say: 'Yes, says {who}.' }], {
      values: { who: 'the script' },
    })
    const ids = ['openai-chat', 'openai', 'anthropic', 'gemini']
    const texts = await Promise.all(
      ids.map(async (id) => {
        const model = provider(id, { apiKey: `key-${id}`, baseUrl: server.url })('any-model')
        return (await agent({ model, tools: [weather] }).run('go')).text
      }),
    )
    assert.deepEqual(new Set(texts), new Set(['Yes, says the script.']))
    server.assertDone()
    assert.equal(server.requests.length, 8)
    for (const id of ids)
      assert.ok(server.requests.some(({ headers }) => JSON.stringify(headers).includes(`key-${id}`)))
    assert.deepEqual(server.requests.find(({ wire, position }) => wire === 'anthropic' && position === 1)?.messages, [
      { role: 'user', text: 'go' },
      { role: 'assistant', text: '', calls: [{ name: 'get_weather', args: { city: 'Berlin' } }] },
      { role: 'tool', text: 'sunny in Berlin', name: 'get_weather' },
    ])
  })

  test('counts what was not as expected', async () => {
    const server = await serve([{ say: 'One.' }, { say: 'Two.' }])
    const model = provider('openai-chat', { apiKey: 'k', baseUrl: server.url })('x')
    const one = agent({ model })
    await one.run('a')
    assert.throws(() => server.assertDone(), /steps\[1\] was not requested: \{"say":"Two\."\}/)
    await one.run('b')
    server.assertDone()
    assert.equal((await one.run('c')).finish, 'fault')
    assert.match(server.failures[0]?.message ?? '', /no step for this request/)
    assert.throws(() => server.assertDone(), /Request 3/)
    await one.close()
  })
})

const USER_TURN = { role: 'user', parts: [{ kind: 'text', text: 'go' }] } as const

async function collect(stream: AsyncIterable<TurnEvent>): Promise<TurnEvent[]> {
  const events: TurnEvent[] = []
  for await (const event of stream) events.push(event)
  return events
}

/** Native data names the provider and the model that made it. */
function withoutSigner(event: unknown): unknown {
  return JSON.parse(JSON.stringify(event, (key, value: unknown) => (key === 'signer' ? undefined : value)))
}

/** How many deltas a text has depends on how the bytes arrive. */
function merge(events: readonly unknown[]): unknown[] {
  const merged: { type?: string; index?: number; text?: string }[] = []
  for (const event of events as typeof merged) {
    const last = merged.at(-1)
    if (event.type === 'part-delta' && last?.type === 'part-delta' && last.index === event.index)
      last.text = `${last.text}${event.text}`
    else merged.push({ ...event })
  }
  return merged
}
