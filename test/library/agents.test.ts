import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, describe, test } from 'node:test'
import { type Context, context, type ContextManager, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import {
  agent,
  AgentBusyError,
  memoryStore,
  type Model,
  type ModelRequest,
  type RunError,
  type RunEvent,
  tool,
  type TurnEvent,
} from '../../src/index.ts'
import type { RehearsalServer } from '../../src/rehearsal/server.ts'
import { modelOn, rehearse } from '../support/stage.ts'

const servers: RehearsalServer[] = []
after(async () => {
  for (const server of servers) await server.close()
})

async function setUp(steps: Parameters<typeof rehearse>[0], wire: Parameters<typeof modelOn>[0] = 'openai-chat') {
  const server = await rehearse(steps)
  servers.push(server)
  return { server, model: modelOn(wire, server), sent: (at: number) => server.requests.at(at)?.bytes.toString() ?? '' }
}

const wait = tool({
  name: 'wait',
  description: 'Waits.',
  parameters: { type: 'object', properties: { ms: { type: 'integer' } }, required: ['ms'] },
  effects: () => [],
  execute: ({ ms }, { signal }) => sleep(ms, 'waited', { signal }),
})
const waiting = (ms: number) => ({ call: [{ name: 'wait', args: { ms } }] })

describe('a run', () => {
  test('starts at once, and its events can be read later, each exactly once', async () => {
    const { model, server } = await setUp([{ say: 'One. Two. Three.' }])
    const one = agent({ model })
    const run = one.run('go')
    while (server.requests.length === 0) await sleep(5)
    const end = await run
    const events: RunEvent[] = []
    for await (const event of run) events.push(event)
    assert.deepEqual([events[0]?.type, events.at(-1)?.type], ['run-open', 'run-close'])
    const closed = events.flatMap((event) =>
      event.type === 'turn' && event.event.type === 'part-close' ? [event.event.part] : [],
    )
    assert.deepEqual(closed, [{ kind: 'text', text: 'One. Two. Three.' }])
    assert.deepEqual(
      [end.text, end.finish, end.turns, end.session, end.output, end.pending],
      ['One. Two. Three.', 'done', 1, one.session, undefined, []],
    )
    await one.close()
  })

  test('throws if it is not done, for those who want that', async () => {
    const { model } = await setUp([{ say: 'Well.' }])
    const one = agent({ model })
    assert.equal((await one.run('go').orThrow()).text, 'Well.')
    const stopped = one.run('go', { signal: AbortSignal.abort() })
    await assert.rejects(stopped.orThrow(), ({ name, message, result }: RunError) => {
      assert.deepEqual(
        [name, message, result.finish],
        ['RunError', 'The run was not finished: cancelled.', 'cancelled'],
      )
      return true
    })
    const broken = agent({ model: { ...model, stream: () => failing() } })
    await assert.rejects(broken.run('go').orThrow(), /^RunError: Not today\.$/)
    async function* failing(): AsyncGenerator<TurnEvent> {
      yield { type: 'finish', reason: 'fault', fault: { kind: 'policy', message: 'Not today.' } }
    }
  })

  test('is refused while another one goes on, which is not disturbed', async () => {
    const { model, server } = await setUp([waiting(100), { say: 'First.' }, { say: 'Second.' }])
    const one = agent({ model, tools: [wait] })
    const first = one.run('first')
    assert.throws(() => one.run('second'), AgentBusyError)
    await assert.rejects(one.compact(), AgentBusyError)
    assert.equal((await first).text, 'First.')
    assert.equal((await one.run('second')).text, 'Second.')
    assert.equal(server.requests.length, 3)
    await one.close()
  })

  test('ends by the signal of the caller, also before it has begun; the session goes on', async () => {
    const { model, server } = await setUp([waiting(60_000), { say: 'Again.' }])
    const one = agent({ model, tools: [wait] })
    assert.equal((await one.run('no', { signal: AbortSignal.abort() })).finish, 'cancelled')
    assert.equal(server.requests.length, 0)
    const stop = new AbortController()
    const run = one.run('go', { signal: stop.signal })
    for await (const event of run) if (event.type === 'call' && event.call.status === 'executing') stop.abort()
    assert.equal((await run).finish, 'cancelled')
    assert.equal((await one.run('and now?')).text, 'Again.')
    await one.close()
  })

  test('stops when the loop over its events is left', async () => {
    const { model } = await setUp([waiting(60_000)])
    const one = agent({ model, tools: [wait] })
    const run = one.run('go')
    for await (const event of run) if (event.type === 'call' && event.call.status === 'executing') break
    assert.equal((await run).finish, 'cancelled')
    await one.close()
  })

  test('takes images and documents as bytes, and gets a message while it goes on', async () => {
    const { model, sent } = await setUp([waiting(300), { say: 'Seen.' }])
    const one = agent({ model, tools: [wait] })
    const image = { kind: 'media', mime: 'image/png', data: new Uint8Array([1, 2, 3]) } as const
    const run = one.run(['Look: ', image])
    for await (const event of run) if (event.type === 'call' && event.call.status === 'executing') one.send('and hurry')
    assert.equal((await run).text, 'Seen.')
    assert.match(sent(0), /data:image\/png;base64,AQID/)
    assert.match(sent(1), /and hurry/)
    await one.close()
  })

  test('has settings of its own, of the agent, and another model if it wants', async () => {
    const { model, sent } = await setUp([{ say: 'One.' }, { say: 'Two.' }])
    const other = await setUp([{ say: '' }, { say: '' }, { say: 'Three.' }], 'anthropic')
    const one = agent({ model, temperature: 0.5, maxTokens: 100, instructions: 'Be brief.' })
    await one.run('one')
    await one.run('two', { temperature: 1, parallelToolCalls: false })
    assert.equal((await one.run('three', { model: other.model })).text, 'Three.')
    const [first, second] = [JSON.parse(sent(0)), JSON.parse(sent(1))] as Record<string, unknown>[]
    assert.deepEqual([first?.['temperature'], second?.['temperature']], [0.5, 1])
    assert.match(sent(0), /Be brief\./)
    assert.match(other.sent(0), /"one"[^]*One\.[^]*"two"[^]*Two\.[^]*"three"/)
    await one.close()
  })
})

describe('middleware', () => {
  test('sees requests that do not change under it, and the events; deltas say what they belong to', async () => {
    const { model } = await setUp([waiting(1), { think: 'Hm.', say: 'Done.' }, { say: 'Again.' }], 'anthropic')
    const requests: ModelRequest[] = []
    const kinds = new Set<string>()
    const logged: Model = {
      ...model,
      async *stream(request, options) {
        requests.push(request)
        for await (const event of model.stream(request, options)) {
          if (event.type === 'part-delta') kinds.add(event.kind)
          yield event
        }
      },
    }
    const one = agent({ model: logged, tools: [wait] })
    await one.run('go')
    await one.run('again')
    assert.deepEqual(
      requests.map(({ turns }) => turns.length),
      [1, 3, 5],
    )
    assert.equal(
      new Set(requests.map(({ tools }) => tools)).size,
      1,
      'the same tools, so that nothing is encoded again',
    )
    assert.deepEqual([...kinds].toSorted(), ['call', 'reasoning', 'text'])
    await one.close()
  })
})

describe('a session', () => {
  test('has a history, can be forked and compacted, and is opened by name or created', async () => {
    const { model, sent } = await setUp([{ say: 'One.' }, { say: 'Two.' }])
    const store = memoryStore()
    const one = agent({ model, store, session: 'chat-7', createIfMissing: true })
    await one.run('first')
    const fork = await one.fork()
    assert.equal((await fork.run('in the fork')).text, 'Two.')
    assert.equal((await one.run('in the main one')).text, 'Two.')
    assert.match(sent(1), /first[^]*One\.[^]*in the fork/)
    assert.doesNotMatch(sent(2), /in the fork/)
    assert.deepEqual(
      (await fork.history).map(({ role }) => role),
      ['user', 'assistant', 'user', 'assistant'],
    )
    assert.equal(await one.compact(), false, 'it is too short')
    assert.ok(!(await store.list()).some(({ unfinished }) => unfinished), 'no session counts as interrupted')
    await fork.close()
    await one.close()
    await assert.rejects(async () => one.run('after the end'), /This agent is closed/)
    await assert.rejects(one.history, /This agent is closed/)
    await assert.rejects(
      async () => agent({ model, store, session: 'nothing' }).run('go'),
      /there is no session nothing/,
    )
    const again = agent({ model, store, session: 'chat-7', createIfMissing: true })
    assert.equal((await again.history).length, 4)
    await again.close()
  })
})

/** A model that refuses what is longer than its context window, as servers do. */
function smallModel(window: number, answers: string[]): Model {
  const origin = { provider: 'small', wire: 'openai-chat', model: 'small' } as const
  return {
    origin,
    window,
    async *stream({ system, tools, turns }) {
      const tokens = Math.ceil(JSON.stringify([system, tools, turns]).length / 4)
      answers.push(tokens > window ? 'refused' : 'accepted')
      if (tokens > window) {
        yield { type: 'finish', reason: 'fault', fault: { kind: 'overflow', message: `${tokens} of ${window}` } }
        return
      }
      const part = { kind: 'text', text: 'Short.' } as const
      yield { type: 'part-open', index: 0, kind: 'text' }
      yield { type: 'part-close', index: 0, part }
      yield { type: 'finish', reason: 'stop' }
    },
  }
}

describe('a history that is longer than the window', () => {
  test('is summarised from its text, so that the session goes on; compact() says whether it could be done', async () => {
    const says = Array.from({ length: 12 }, (_, at) => ({ say: `${at} ${'word '.repeat(400)}` }))
    const { model } = await setUp(says)
    const one = agent({ model })
    for (let at = 0; at < 10; at++) await one.run(`question ${at}`)
    const answers: string[] = []
    const end = await one.run('and now?', { model: smallModel(2000, answers) })
    assert.deepEqual([end.finish, end.text], ['done', 'Short.'], answers.join())
    assert.ok(answers.includes('refused'), 'the summary of the whole history was refused first')
    await one.close()
    const broken: Model = {
      ...smallModel(2000, []),
      async *stream() {
        yield { type: 'finish', reason: 'fault', fault: { kind: 'transport', message: 'no server' } }
      },
    }
    const other = agent({ model: (await setUp(says)).model })
    for (let at = 0; at < 4; at++) await other.run(`question ${at}`)
    assert.equal((await other.run('and now?', { model: broken })).finish, 'fault')
    assert.equal(await other.compact(), true)
    await other.close()
  })
})

describe('agents as tools', () => {
  test('run in a session of their own; events, usage and cost are those of the run', async () => {
    const inner = await setUp([{ say: 'Four.', usage: { input: 10, output: 5 } }])
    const outer = await setUp([
      { call: [{ name: 'adder', args: { prompt: 'What is 2 + 2?' } }], usage: { input: 100, output: 50 } },
      { expect: { results: 'Four.' }, say: 'It is four.', usage: { input: 1000, output: 500 } },
    ])
    const adder = agent({ model: inner.model, name: 'adder', description: 'Adds numbers.' })
    const one = agent({ model: outer.model, tools: [adder.asTool()] })
    const run = one.run('go')
    const nested: string[] = []
    for await (const event of run) if (event.type === 'subagent') nested.push(`${event.name} ${event.event.type}`)
    const end = await run
    assert.deepEqual([end.text, end.usage.input, end.usage.output], ['It is four.', 1110, 555])
    assert.deepEqual([nested[0], nested.at(-1)], ['adder run-open', 'adder run-close'])
    assert.match(inner.sent(0), /What is 2 \+ 2\?/)
    assert.deepEqual(outer.server.failures, [])
    await one.close()
  })

  test('stop with the run that called them, and ask where it asks', async () => {
    const danger = tool({ name: 'danger', description: 'x', parameters: { type: 'object' }, execute: () => 'done it' })
    const inner = await setUp([{ call: [{ name: 'danger', args: {} }] }, { say: 'Did.' }, waiting(60_000)])
    const task = { call: [{ name: 'worker', args: { prompt: 'x' } }] }
    const outer = await setUp([task, { say: 'Fine.' }, task])
    const worker = agent({ model: inner.model, name: 'worker', tools: [danger, wait] })
    const asked: string[] = []
    const one = agent({
      model: outer.model,
      tools: [worker.asTool({ description: 'Works.' })],
      onApproval: ({ tool: name }) => asked.push(name) > 0,
    })
    assert.equal((await one.run('go')).text, 'Fine.')
    assert.deepEqual(asked, ['danger'])
    assert.match(inner.sent(1), /done it/)
    const run = one.run('again')
    for await (const event of run)
      if (event.type === 'subagent' && event.event.type === 'call' && event.event.call.status === 'executing')
        run.cancel()
    assert.equal((await run).finish, 'cancelled')
    await one.close()
  })

  test('share the cost limit of the run that called them', async () => {
    const inner = await setUp([{ say: 'Expensive.', usage: { input: 1_000_000, output: 10 } }])
    const outer = await setUp([{ call: [{ name: 'worker', args: { prompt: 'x' } }], usage: { input: 10, output: 5 } }])
    const priced = (model: typeof inner.model) => ({
      ...model,
      origin: { ...model.origin, provider: 'openai', model: 'gpt-5.2' },
    })
    const worker = agent({ model: priced(inner.model), name: 'worker', maxTokens: 100 })
    const limits = { cost: 0.05 }
    const one = agent({ model: priced(outer.model), tools: [worker.asTool()], limits, maxTokens: 100 })
    assert.equal((await one.run('go')).finish, 'cost-limit')
    await one.close()
  })

  test('can take over the conversation', async () => {
    const support = await setUp([{ say: '' }, { say: 'Refunded.' }], 'anthropic')
    const triage = await setUp([{ call: [{ name: 'transfer_to_billing', args: {} }] }])
    const billing = agent({
      model: support.model,
      name: 'billing',
      description: 'Refunds.',
      instructions: 'You refund.',
    })
    const one = agent({ model: triage.model, instructions: 'You route.', handoffs: [billing] })
    const run = one.run('I want my money back')
    const handoffs: string[] = []
    for await (const event of run) if (event.type === 'handoff') handoffs.push(event.to)
    assert.deepEqual([(await run).text, handoffs], ['Refunded.', ['billing']])
    assert.match(support.sent(0), /You refund\.[^]*money back/)
    assert.doesNotMatch(support.sent(0), /You route/)
    await one.close()
  })
})

describe('traces', () => {
  test('a run is a child of the active span, and spans of a tool are children of its call', async () => {
    const exporter = new InMemorySpanExporter()
    const tracing = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
    const tracer = tracing.getTracer('test')
    context.setGlobalContextManager(createContextManager())
    try {
      const { model } = await setUp([{ call: [{ name: 'query', args: {} }] }, { say: 'Done.' }])
      const query = tool({
        name: 'query',
        description: 'Queries.',
        parameters: { type: 'object', properties: {} },
        effects: () => [],
        async execute() {
          await sleep(1)
          tracer.startSpan('SELECT').end()
          return 'rows'
        },
      })
      const request = tracer.startSpan('GET /chat')
      await context.with(trace.setSpan(context.active(), request), async () => {
        await agent({ model, tools: [query], telemetry: { tracer } }).run('go')
      })
      request.end()
      const spans = exporter.getFinishedSpans()
      const parentOf = (name: string) => {
        const span = spans.find((one) => one.name === name)
        return spans.find((one) => one.spanContext().spanId === span?.parentSpanContext?.spanId)?.name
      }
      assert.equal(parentOf('invoke_agent dragoman'), 'GET /chat')
      assert.equal(parentOf('execute_tool query'), 'invoke_agent dragoman')
      assert.equal(parentOf('SELECT'), 'execute_tool query')
    } finally {
      context.disable()
    }
  })
})

/** As programs with OpenTelemetry have it: the context follows asynchronous work. */
function createContextManager(): ContextManager {
  const storage = new AsyncLocalStorage<Context>()
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, work, that, ...args) => storage.run(active, () => work.apply(that, args)),
    bind: (_active, target) => target,
    enable: () => manager,
    disable: () => manager,
  }
  return manager
}
