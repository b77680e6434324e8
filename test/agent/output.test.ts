import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { OutputSpec } from '../../src/agent/output/output-spec.ts'
import type { AgentContext } from '../../src/agent/agent-context.ts'
import type { RunEvent } from '../../src/agent/loop/run-event.ts'
import type { JsonObject } from '../../src/model/json.ts'
import type { WireId } from '../../src/model/turn.ts'
import type { RehearsalServer } from '../../src/rehearsal/server.ts'
import { resumeSession } from '../../src/session/session.ts'
import { memoryStore } from '../../src/session/store/memory-store.ts'
import { tool } from '../../src/tool/custom-tool.ts'
import type { StandardSchema } from '../../src/tool/standard-schema.ts'
import { wireIds } from '../../src/wire/wires.ts'
import { agentOf, closing, modelOn, play, rehearse } from '../support/stage.ts'

const servers: RehearsalServer[] = []
after(async () => {
  for (const server of servers) await server.close()
})

const schema: JsonObject = {
  type: 'object',
  properties: { city: { type: 'string' }, degrees: { type: 'number' }, note: { type: 'string' } },
  required: ['city', 'degrees'],
}
const spec: OutputSpec = { schema }
const RIGHT = '{"city":"Oslo","degrees":-3.5}'
const ping = tool({ name: 'ping', description: 'Pings.', parameters: { type: 'object' }, execute: () => 'pong' })

async function start(
  steps: Parameters<typeof rehearse>[0],
  more: Partial<AgentContext> = { output: spec },
  wire: WireId = 'openai-chat',
  tools = [ping],
) {
  const server = await rehearse(steps)
  servers.push(server)
  const agent = agentOf(modelOn(wire, server), tools, more)
  return { server, agent }
}

const bodies = (server: RehearsalServer): string[] => server.requests.map(({ body }) => JSON.stringify(body))

const outputs = (events: readonly RunEvent[]) => events.filter((event) => event.type === 'output')

describe('a structured answer', () => {
  test('markup of a call in a string of the answer is content, and comes while it is written', async () => {
    for (const wire of wireIds) {
      const note = 'Never write <function=ping></function> or [TOOL_CALLS]ping{} in an answer, dear reader.'
      const value = { city: 'Oslo', degrees: 1, note }
      const { agent } = await start(
        [{ say: `\n ${JSON.stringify(value)}`, pieces: 30, pace: 2 }],
        { output: spec },
        wire,
      )
      const events = await play(agent, 'go')
      assert.deepEqual(closing(events).output, value)
      const partial = outputs(events).filter((event) => event.isPartial && JSON.stringify(event).includes('answer'))
      assert.ok(partial.length > 0, `${wire}: the rest was held back`)
      assert.ok(!events.some((event) => event.type === 'turn' && event.event.type === 'warn'), wire)
    }
  })

  test('a call that is written as text before the answer still runs', async () => {
    const { agent, server } = await start([
      { say: '<tool_call>{"name":"ping","arguments":{}}</tool_call>' },
      { expect: { results: 'pong' }, say: RIGHT },
    ])
    assert.deepEqual(closing(await play(agent, 'go')).output, JSON.parse(RIGHT))
    assert.deepEqual(server.failures, [])
  })

  for (const wire of wireIds) {
    test(`${wire}: right at once, after a call`, async () => {
      const { agent, server } = await start(
        [{ call: [{ name: 'ping', args: {} }] }, { expect: { results: 'pong' }, say: RIGHT, pieces: 10, pace: 5 }],
        { output: spec },
        wire,
      )
      const events = await play(agent, 'how warm is it?')
      const end = closing(events)
      assert.deepEqual([end.reason, end.output, end.text], ['done', { city: 'Oslo', degrees: -3.5 }, RIGHT])
      const shown = outputs(events)
      assert.deepEqual(shown.at(-1), { type: 'output', value: end.output, isPartial: false })
      assert.ok(shown.length > 2 && shown.slice(0, -1).every(({ isPartial }) => isPartial))
      for (const body of bodies(server)) assert.match(body, /degrees/)
      assert.deepEqual(server.failures, [])
    })

    test(`${wire}: wrong, then right`, async () => {
      const { agent, server } = await start(
        [
          { say: 'It is cold.' },
          { expect: { user: 'no complete JSON value' }, say: '{"city":"Oslo"}' },
          { expect: { user: 'degrees' }, say: `Here it is:\n\`\`\`json\n${RIGHT}\n\`\`\`` },
        ],
        { output: spec },
        wire,
      )
      const end = closing(await play(agent, 'how warm is it?'))
      assert.deepEqual([end.reason, end.output], ['done', { city: 'Oslo', degrees: -3.5 }])
      assert.equal(server.requests.length, 3)
      assert.deepEqual(server.failures, [])
    })

    test(`${wire}: always wrong ends the run, and the session goes on`, async () => {
      const store = memoryStore()
      const log = await store.create({ id: 'again', folder: '/' })
      const { agent, server } = await start(
        [{ repeat: 3, say: '{"city":1}' }, { say: RIGHT }],
        { output: spec, session: resumeSession(log) },
        wire,
      )
      const end = closing(await play(agent, 'how warm is it?'))
      assert.deepEqual([end.reason, end.fault?.code, end.text], ['fault', 'output-invalid', '{"city":1}'])
      assert.match(end.fault?.message ?? '', /degrees/)
      assert.equal('output' in end, false)
      assert.equal(server.requests.length, 3)
      await log.close()
      const later = { ...agent, session: resumeSession(await store.open('again')) }
      assert.deepEqual(closing(await play(later, 'once more')).output, { city: 'Oslo', degrees: -3.5 })
      assert.deepEqual(server.failures, [])
    })
  }

  test('the response format is sent together with tools only where that works', async () => {
    for (const [wire, pattern] of [
      ['openai-chat', /"response_format":\{"type":"json_schema"/],
      ['openai-responses', /"text":\{"format":\{"type":"json_schema"/],
      ['anthropic', /"output_config":\{"format":\{"type":"json_schema"/],
    ] as const) {
      const { agent, server } = await start([{ say: RIGHT }], { output: spec }, wire)
      await play(agent, 'go')
      assert.match(bodies(server)[0] ?? '', pattern)
    }
    // The name of the rehearsal model says nothing, so Gemini is treated as one before 3.
    const { agent, server } = await start([{ say: RIGHT }], { output: spec }, 'gemini')
    await play(agent, 'go')
    assert.doesNotMatch(bodies(server)[0] ?? '', /responseMimeType/)
    const alone = await start([{ say: RIGHT }], { output: spec }, 'gemini', [])
    await play(alone.agent, 'go')
    assert.match(bodies(alone.server)[0] ?? '', /"responseMimeType":"application\/json","responseJsonSchema":/)
  })

  test('each request extends the one before it, though the answer is repaired', async () => {
    for (const wire of wireIds) {
      const { agent, server } = await start([{ say: 'no' }, { say: RIGHT }], { output: spec }, wire)
      await play(agent, 'go')
      const [first = '', second = ''] = bodies(server).map((body) => body.replace(/[\]}]+$/, ''))
      assert.ok(first.length > 100 && second.startsWith(first), wire)
    }
  })

  test('an absent property that the vendor makes null is absent', async () => {
    const { agent } = await start([{ say: '{"city":"Oslo","degrees":1,"note":null}' }])
    assert.deepEqual(closing(await play(agent, 'go')).output, { city: 'Oslo', degrees: 1 })
  })

  test('never a guess between two values, and brackets in a sentence are no value', async () => {
    const two = await start([{ repeat: 3, say: `${RIGHT}\nor\n${RIGHT}` }])
    const end = closing(await play(two.agent, 'go'))
    assert.match(end.fault?.message ?? '', /2 JSON values/)
    const one = await start([{ say: `See [1] and "{": ${RIGHT} (as of [2]).` }])
    assert.deepEqual(closing(await play(one.agent, 'go')).reason, 'fault')
    const quoted = await start([{ say: `See [1]: ${RIGHT} (as of [2]).` }])
    assert.deepEqual(closing(await play(quoted.agent, 'go')).output, { city: 'Oslo', degrees: -3.5 })
  })

  test('lists, unions and plain values are answers too', async () => {
    const union: JsonObject = {
      oneOf: [
        { type: 'object', properties: { kind: { const: 'a' }, next: { $ref: '#/$defs/n' } }, required: ['kind'] },
        { type: 'object', properties: { kind: { const: 'b' }, all: { type: 'array', items: { $ref: '#' } } } },
      ],
      $defs: { n: { type: 'number' } },
    }
    for (const [wanted, said, value] of [
      [{ type: 'array', items: { type: 'number' } }, '{"value":[1,2]}', [1, 2]],
      [{ type: 'array', items: { type: 'number' } }, 'Well: [1,2]', [1, 2]],
      [{ enum: ['yes', 'no'] }, '{"value":"yes"}', 'yes'],
      [{ enum: ['yes', 'no'] }, '"no"', 'no'],
      [{ type: 'number' }, '```\n7\n```', 7],
      [union, '{"value":{"kind":"a","next":1}}', { kind: 'a', next: 1 }],
      [union, '{"kind":"b","all":[{"kind":"a"}]}', { kind: 'b', all: [{ kind: 'a' }] }],
    ] as const) {
      const { agent, server } = await start([{ say: said }], { output: { schema: wanted as JsonObject } })
      const end = closing(await play(agent, 'go'))
      assert.deepEqual([end.reason, end.output], ['done', value], said)
      assert.match(bodies(server)[0] ?? '', /"properties":\{"value":/)
    }
    const bad = await start([{ repeat: 3, say: '{"value":{"kind":"b","all":[3]}}' }], { output: { schema: union } })
    assert.equal(closing(await play(bad.agent, 'go')).fault?.code, 'output-invalid')
  })

  test('a Standard Schema: its own validation decides, and its value is the result', async () => {
    const even: StandardSchema<{ n: bigint }> = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: async (value) => {
          const { n } = value as { n: number }
          return Promise.resolve(
            n % 2 === 0 ? { value: { n: BigInt(n) } } : { issues: [{ message: 'is odd', path: ['n'] }] },
          )
        },
        jsonSchema: { input: () => ({ type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }) },
      },
    }
    const { agent, server } = await start([{ say: '{"n":3}' }, { expect: { user: 'n: is odd' }, say: '{"n":4}' }], {
      output: { schema: even },
    })
    const events = await play(agent, 'go')
    assert.deepEqual(closing(events).output, { n: 4n })
    assert.deepEqual(outputs(events).at(-1)?.value, { n: 4n })
    assert.deepEqual(server.failures, [])
  })

  test('a Standard Schema of a list gets the list itself', async () => {
    const list: StandardSchema<number> = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (value) =>
          Array.isArray(value)
            ? { value: value.length }
            : { issues: [{ message: `no list: ${JSON.stringify(value)}` }] },
        jsonSchema: { input: () => ({ type: 'array', minItems: 1 }) },
      },
    }
    const { agent } = await start([{ say: '{"value":[]}' }], { output: { schema: list } })
    const events = await play(agent, 'go')
    assert.equal(closing(events).output, 0)
    const bare = await start([{ say: '[1, 2]', pieces: 3, pace: 5 }], { output: { schema: list } })
    assert.deepEqual(outputs(await play(bare.agent, 'go')).at(-2)?.value, [1, 2])
  })

  test('without a schema nothing changes', async () => {
    const { agent, server } = await start([{ say: RIGHT }], {})
    const events = await play(agent, 'go')
    assert.deepEqual(outputs(events), [])
    assert.equal('output' in closing(events), false)
    assert.doesNotMatch(bodies(server)[0] ?? '', /response_format|degrees":\{/)
  })

  test('an answer that is cut is no answer', async () => {
    const misbehave = [{ kind: 'finish-wrong', word: 'length' }] as const
    const { agent } = await start([{ say: '{"city":"Os', misbehave }])
    const end = closing(await play(agent, 'go'))
    assert.deepEqual([end.reason, end.output], ['length', undefined])
  })
})

describe('the choice of tools', () => {
  const call = { call: [{ name: 'ping', args: {} }] }
  const sent = (server: RehearsalServer) =>
    server.requests.map(({ body }) => (body as { tool_choice?: unknown }).tool_choice)

  test('a forced call is forced once', async () => {
    for (const [toolChoice, first] of [
      ['required', 'required'],
      [{ name: 'ping' }, { type: 'function', function: { name: 'ping' } }],
    ] as const) {
      const { agent, server } = await start([call, call, { say: 'Done.' }], { toolChoice })
      assert.equal(closing(await play(agent, 'go')).text, 'Done.')
      assert.deepEqual(sent(server), [first, undefined, undefined])
    }
  })

  test('any other choice holds for the whole run', async () => {
    const { agent, server } = await start([call, { say: 'Done.' }], { toolChoice: { only: ['ping'] } })
    await play(agent, 'go')
    assert.match(JSON.stringify(sent(server)), /^\[(.*"allowed_tools".*"ping".*),\1\]$/)
  })

  test('T153 a call outside `only` does not run, whether the API can say so or not', async () => {
    let runs = 0
    const other = tool({
      name: 'other',
      description: 'Another.',
      parameters: { type: 'object' },
      execute: () => `ran ${++runs}`,
    })
    for (const wire of wireIds) {
      const { agent, server } = await start(
        [
          { call: [{ name: 'other', args: {} }, ...call.call] },
          { expect: { results: ['Only these tools may be called in this request: ping', 'pong'] }, say: 'Done.' },
        ],
        { toolChoice: { only: ['ping'] } },
        wire,
        [ping, other],
      )
      assert.equal(closing(await play(agent, 'go')).text, 'Done.', wire)
      assert.deepEqual(server.failures, [])
    }
    assert.equal(runs, 0)
  })

  test('provider options are in every request', async () => {
    const { agent, server } = await start([call, { say: 'Done.' }], { providerOptions: { 'openai-chat': { seed: 7 } } })
    await play(agent, 'go')
    for (const body of bodies(server)) assert.match(body, /"seed":7/)
  })
})
