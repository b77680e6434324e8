import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { main } from '../../examples/library-agent.ts'
import { agent, jsonlStore, memoryStore, type StandardSchema, tool, toolHandler } from '../../src/index.ts'
import type { CallPart } from '../../src/model/turn.ts'
import type { RehearsalServer } from '../../src/rehearsal/server.ts'
import { modelOn, rehearse } from '../support/stage.ts'

const servers: RehearsalServer[] = []
after(async () => {
  for (const server of servers) await server.close()
})

const rain = { call: [{ name: 'get_weather', args: { city: 'Berlin' } }] }

async function modelOf(steps: Parameters<typeof rehearse>[0]) {
  const server = await rehearse(steps)
  servers.push(server)
  return { server, model: modelOn('openai-chat', server) }
}

describe('the library', () => {
  test('the example runs', async () => {
    const { model } = await modelOf([rain, { expect: { results: 'sunny in Berlin' }, say: 'Yes.' }])
    assert.deepEqual(await main(model), { text: 'Yes.', calls: ['get_weather'] })
  })

  test('a run can be awaited, and a session gone on with', async () => {
    const { model, server } = await modelOf([{ say: 'One.' }, { say: 'Two.' }])
    const store = memoryStore()
    const first = agent({ model, store })
    const end = await first.run('first')
    assert.deepEqual([end.text, end.reason, end.turns], ['One.', 'done', 1])
    await first.close()
    const second = agent({ model, store, session: first.session })
    assert.equal((await second.run('second')).text, 'Two.')
    assert.match(JSON.stringify(server.requests[1]?.conversation.messages), /first[^]*One\.[^]*second/)
  })

  test('a run can be iterated, and awaited after or meanwhile', async () => {
    const { model } = await modelOf([{ say: 'One.' }, { say: 'Two.' }])
    const helper = agent({ model })
    const first = helper.run('first')
    const types: string[] = []
    for await (const { type } of first) types.push(type)
    assert.deepEqual([types[0], types.at(-1)], ['run-open', 'run-close'])
    assert.deepEqual([(await first).text, (await first).reason], ['One.', 'done'])
    const second = helper.run('second')
    const awaited = second.then(({ text }) => text)
    await assert.rejects(async () => {
      for await (const _event of second);
    }, /iterated only once; await it/)
    assert.equal(await awaited, 'Two.')
    await helper.close()
  })

  test('a run can be cancelled', async () => {
    const { model } = await modelOf([{ say: 'Long. '.repeat(200), pace: 10 }])
    const run = agent({ model }).run('go')
    setTimeout(() => run.cancel(), 50)
    assert.equal((await run).reason, 'cancelled')
  })

  test('a schema of any library is understood, and a tool that throws becomes an error that the model sees', async () => {
    const city: StandardSchema<{ city: string }> = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (value) => {
          const given = (value as { city: string }).city
          return given === 'Atlantis'
            ? { issues: [{ message: 'is under water', path: ['city'] }] }
            : { value: { city: given.toUpperCase() } }
        },
        jsonSchema: { input: () => ({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }) },
      },
    }
    const weather = tool({
      name: 'get_weather',
      description: 'Weather.',
      parameters: city,
      effects: () => [],
      run: ({ city: name }) => `${name}: fine`,
    })
    const { model, server } = await modelOf([
      {
        call: [
          { name: 'get_weather', args: { city: 'Rome' } },
          { name: 'get_weather', args: { city: 'Atlantis' } },
        ],
      },
      { expect: { results: ['ROME: fine', 'city: is under water'] }, say: 'Well.' },
    ])
    assert.equal((await agent({ model, tools: [weather] }).run('go')).text, 'Well.')
    assert.deepEqual(server.failures, [])
  })

  test('without a declaration of its effects a tool is asked about, and with nobody to ask it is denied', async () => {
    const unknown = tool({
      name: 'get_weather',
      description: 'Weather.',
      parameters: { type: 'object' },
      run: () => 'ran',
    })
    const { model, server } = await modelOf([rain, { say: 'No.' }])
    await agent({ model, tools: [unknown] }).run('go')
    assert.match(JSON.stringify(server.requests[1]?.conversation.messages), /There is no user to ask/)
    const asked = await modelOf([rain, { expect: { results: 'ran' }, say: 'Yes.' }])
    const end = await agent({
      model: asked.model,
      tools: [unknown],
      ask: (ask) => Promise.resolve({ ask: ask.id, outcome: 'proceed-once' }),
    }).run('go')
    assert.equal(end.text, 'Yes.')
  })

  test('a model that is not there is a sentence', () => {
    assert.throws(() => agent({ model: 'nobody/x' }), /nobody/)
    const untyped = agent as (options?: unknown) => unknown
    for (const wrong of [undefined, null, {}, { model: '' }, { model: {} }, 'gemini'])
      assert.throws(
        () => untyped(wrong),
        /^TypeError: agent\(\) needs a model: agent\(\{ model: "provider\/model" \}\)/,
      )
    assert.ok(typeof jsonlStore === 'function')
  })
})

describe('a handler for hosts that keep their own loop', () => {
  const call = (name: string, input: Record<string, string>): CallPart => ({
    kind: 'call',
    id: name,
    name,
    raw: JSON.stringify(input),
    input,
  })
  const context = { host: {} as never, folders: [], seenFiles: { setHash: () => undefined, getHash: () => undefined } }

  test('executes in order, in time, and never throws', async () => {
    const handler = toolHandler(context, 50)
    const parameters = { type: 'object', properties: { x: { type: 'string' } }, required: ['x'] }
    handler.register(tool({ name: 'echo', description: 'Echoes.', parameters, run: ({ x }) => x }))
    handler.register(
      tool({
        name: 'slow',
        description: 'Slow.',
        parameters,
        run: () => new Promise((resolve) => setTimeout(resolve, 500)),
      }),
    )
    handler.register(
      tool({ name: 'broken', description: 'Broken.', parameters, run: () => Promise.reject(new Error('no luck')) }),
    )
    assert.ok(handler.has('echo') && !handler.has('nothing'))
    assert.deepEqual(
      handler.definitions.map(({ name }) => name),
      ['echo', 'slow', 'broken'],
    )
    const calls = [
      call('slow', { x: '1' }),
      call('echo', { x: '2' }),
      call('broken', { x: '3' }),
      call('nothing', {}),
      call('echo', {}),
    ]
    const results = await handler.executeAll(calls)
    assert.deepEqual(
      results.map(({ id }) => id),
      calls.map(({ id }) => id),
    )
    assert.deepEqual(
      results.map(({ error }) => error?.type),
      ['timeout', undefined, 'exception', 'unknown-tool', 'invalid-arguments'],
    )
  })

  test('hidden characters do not reach the model', async () => {
    const handler = toolHandler(context)
    const parameters = { type: 'object', properties: {} }
    handler.register(tool({ name: 'page', description: 'A page.', parameters, run: () => 'seen\u{E0041}\u{E0042}' }))
    handler.register(
      tool({ name: 'broken', description: 'Broken.', parameters, run: () => Promise.reject(new Error('no\u{E0041}')) }),
    )
    const [page, broken] = await handler.executeAll([call('page', {}), call('broken', {})])
    assert.deepEqual(page?.content, [{ kind: 'text', text: 'seen' }])
    assert.deepEqual(broken?.content, [{ kind: 'text', text: 'broken failed: no' }])
  })
})
