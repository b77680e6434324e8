import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import type { WireId } from '../../src/model/turn.ts'
import type { Model } from '../../src/provider/model.ts'
import { createModel, createHttpClient } from '../../src/provider/http/node-http-client.ts'
import { withBudget, createBudgetLedger } from '../../src/provider/middleware/budget.ts'
import { withFallback } from '../../src/provider/middleware/fallback.ts'
import { withAdaptation } from '../../src/provider/middleware/adaptation/with-adaptation.ts'
import { withRetry } from '../../src/provider/middleware/retry.ts'
import type { RehearsalScript } from '../../src/rehearsal/script/script.ts'
import type { RehearsalServer } from '../../src/rehearsal/server.ts'
import { tool } from '../../src/tool/custom-tool.ts'
import { wireIds } from '../../src/wire/wires.ts'
import { answers } from '../provider/support/answers.ts'
import { aimed } from '../provider/support/ask.ts'
import { hastyClock } from '../provider/support/clock.ts'
import { type Heard, reply, serve, stream } from '../provider/support/server.ts'
import { agentOf, closing, modelOn, play, rehearse } from '../support/stage.ts'

/** A tool that counts how often it ran. */
function counter(name = 'count', answer: (n: number) => string = (n) => `counted ${n}`) {
  const ran: number[] = []
  const one = tool({
    name,
    description: 'Counts.',
    parameters: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
    effects: () => [],
    execute: ({ n }) => {
      ran.push(n)
      return answer(n)
    },
  })
  return { one, ran }
}

const call = (n: number) => [{ name: 'count', args: { n } }]

async function stage(t: TestContext, steps: RehearsalScript['steps']): Promise<RehearsalServer> {
  const server = await rehearse(steps)
  t.after(() => server.close())
  return server
}

function patient(wire: WireId, server: RehearsalServer): Model {
  return withRetry(modelOn(wire, server, 'script', undefined, { httpClient: createHttpClient({}) }), {
    clock: hastyClock(),
  })
}

for (const wire of wireIds) {
  describe(`on the ${wire} wire`, () => {
    test('a retry runs nothing twice, and the front end is told to drop what it showed', async (t) => {
      const server = await stage(t, [
        { say: 'First.', call: call(1), misbehave: [{ kind: 'cut', at: 'before-end', times: 2 }] },
        { expect: { results: 'counted 1' }, say: 'Done.' },
      ])
      const { one, ran } = counter()
      const agent = agentOf(patient(wire, server), [one])
      const events = await play(agent, 'go')
      assert.equal(closing(events).text, 'Done.')
      assert.deepEqual(ran, [1])
      assert.equal(server.countRequests(), 4)
      const anew = events.filter((event) => event.type === 'turn' && event.event.type === 'open' && event.event.anew)
      assert.equal(anew.length, 2)
      assert.equal(agent.session.entries.filter(({ kind }) => kind === 'intent').length, 1)
    })

    test('a malformed call gets a second try, in words, and leaves no trace that the next request must carry', async (t) => {
      const server = await stage(t, [
        { call: call(1), misbehave: [{ kind: 'malformed-call', times: 1 }] },
        { call: call(2) },
        { say: 'Done.' },
      ])
      const { one, ran } = counter()
      assert.equal(closing(await play(agentOf(patient(wire, server), [one]), 'go')).text, 'Done.')
      assert.ok(ran.length > 0 && new Set(ran).size === ran.length)
      const told = JSON.stringify(server.requests[1]?.conversation.messages)
      assert.match(told, /could not be parsed|not valid JSON/, told)
      assert.deepEqual(server.failures, [])
    })

    test('an empty answer gets a second try, in words; after three it is a fault', async (t) => {
      const server = await stage(t, [{ misbehave: [{ kind: 'empty', times: 1 }], say: 'Done.' }])
      assert.equal(closing(await play(agentOf(patient(wire, server), [counter().one]), 'go')).text, 'Done.')
      assert.match(JSON.stringify(server.requests[1]?.conversation.messages), /Your last response was empty/)
      assert.equal(server.countRequests(), 2)
      const silent = await stage(t, [{ loop: [{ misbehave: ['empty'] }] }])
      const end = closing(await play(agentOf(patient(wire, silent), [counter().one]), 'go'))
      assert.deepEqual([end.reason, end.fault?.kind, silent.countRequests()], ['fault', 'decode', 3])
    })

    const label = { 'openai-chat': 'tool_calls', anthropic: 'tool_use', gemini: 'FUNCTION_CALL' }[wire as string]
    test('a call as text that cannot be read is asked for again, once', async (t) => {
      const markup = '<tool_call>{"name": "count", "arguments": {"n": oops}}</tool_call>'
      const server = await stage(t, [{ say: markup }, { when: { user: 'could not be parsed' }, say: markup }])
      const { one, ran } = counter()
      const events = await play(agentOf(patient(wire, server), [one]), 'go')
      const { reason, text } = closing(events)
      assert.deepEqual([reason, text, ran, server.requests.length], ['done', markup, [], 2])
    })

    test('a call that is announced but not there is asked for again; after three times it is a fault (T52)', async (t) => {
      if (label === undefined) return t.skip('this wire has no label for calls')
      const lost = { kind: 'finish-wrong', word: label } as const
      const server = await stage(t, [
        { when: { user: 'no call arrived' }, say: 'Done.' },
        { say: 'I count.', misbehave: [lost] },
      ])
      assert.equal(closing(await play(agentOf(patient(wire, server), [counter().one]), 'go')).text, 'Done.')
      const again = JSON.stringify(server.requests[1]?.conversation.messages)
      assert.match(again, /no call arrived/)
      assert.doesNotMatch(again, /I count/)
      const deaf = await stage(t, [{ loop: [{ say: 'I count.', misbehave: [lost] }] }])
      const end = closing(await play(agentOf(patient(wire, deaf), [counter().one]), 'go'))
      assert.deepEqual([end.reason, end.fault?.kind, deaf.countRequests()], ['fault', 'decode', 3])
      assert.match(end.fault?.message ?? '', /announcing calls that are not there/)
      // Without tools nothing can be lost.
      const plain = await stage(t, [{ say: 'Hello.', misbehave: [lost] }])
      assert.equal(closing(await play(agentOf(patient(wire, plain), []), 'go')).reason, 'done')
    })

    test('an answer of thoughts alone counts as empty, and is not in the history (T57)', async (t) => {
      const server = await stage(t, [{ when: { user: 'response was empty' }, say: 'Done.' }, { think: 'Hm, hm.' }])
      const agent = agentOf(patient(wire, server), [counter().one])
      assert.equal(closing(await play(agent, 'go')).text, 'Done.')
      const again = JSON.stringify(server.requests[1]?.conversation.messages)
      assert.match(again, /Your last response was empty/)
      assert.doesNotMatch(again, /Hm, hm/)
      assert.equal(agent.session.turns.filter(({ role }) => role === 'assistant').length, 1)
    })

    test('quota is not rate: it is asked once, and the reason is said', async (t) => {
      const quota = {
        kind: 'status',
        status: 429,
        code: 'insufficient_quota',
        message: 'You exceeded your quota.',
      } as const
      const server = await stage(t, [{ loop: [{ misbehave: [quota] }] }])
      const end = closing(await play(agentOf(patient(wire, server), [counter().one]), 'go'))
      assert.deepEqual([end.reason, end.fault?.kind, server.countRequests()], ['fault', 'quota', 1])
      assert.match(end.fault?.message ?? '', /exceeded your quota/)
    })

    test('a history that does not fit is summarised, not sent again (T159)', async (t) => {
      const message = 'prompt is too long: 210000 tokens > 200000 maximum'
      const long = { kind: 'status', status: 400, message } as const
      const server = await stage(t, [
        { when: { user: 'about to be replaced' }, say: 'The person wants to count.' },
        { when: { request: 3 }, misbehave: [long] },
        { when: { results: 'counted 2' }, say: 'Done.' },
        { call: call(1) },
        { call: call(2) },
      ])
      const { one, ran } = counter('count', (n) => `counted ${n} `.repeat(300))
      const agent = agentOf(patient(wire, server), [one])
      const events = await play(agent, 'go')
      assert.ok(
        events.some((event) => event.type === 'compact' && event.done),
        JSON.stringify(closing(events)),
      )
      assert.equal(closing(events).reason, 'done')
      assert.deepEqual(ran, [1, 2])
      // Two calls, the refusal, the summary, and the answer.
      assert.equal(server.countRequests(), 5)
      const sizes = server.requests.map(({ bytes }) => bytes.length)
      assert.ok((sizes[4] ?? 0) < (sizes[2] ?? 0), sizes.join())
    })

    test('the next model of a list goes on, no tool runs again, and the log says who answered (T167)', async (t) => {
      const down = await stage(t, [{ loop: [{ misbehave: [{ kind: 'status', status: 503 }] }] }])
      const other = wireIds[(wireIds.indexOf(wire) + 1) % wireIds.length] as WireId
      const up = await stage(t, [{ call: call(1) }, { expect: { results: 'counted 1' }, say: 'Done.' }])
      const { one, ran } = counter()
      const agent = agentOf(withFallback([patient(wire, down), patient(other, up)]), [one])
      assert.equal(closing(await play(agent, 'go')).text, 'Done.')
      assert.deepEqual(ran, [1])
      const turns = agent.session.entries.flatMap((entry) => (entry.kind === 'turn' ? [entry.turn.origin.wire] : []))
      assert.deepEqual(turns, [other, other])
      // A server that is down may be up again, so it is asked again, five times each.
      assert.equal(down.countRequests(), 10)
    })

    test('a budget is set aside before a request, and what does not fit is not sent', async (t) => {
      const server = await stage(t, [{ loop: [{ call: call(1), usage: { input: 400, output: 100 } }] }])
      const ledger = createBudgetLedger({ tokens: 1200 }, () => undefined)
      const model = withBudget(modelOn(wire, server), ledger)
      const agent = agentOf(model, [counter().one], { params: { maxTokens: 300 } })
      const end = closing(await play(agent, 'go'))
      assert.equal(end.fault?.code, 'budget')
      assert.equal(server.countRequests(), 2)
      assert.ok(ledger.spent.tokens <= 1200)
    })
  })
}

describe('what an endpoint refuses', () => {
  const chat = answers['openai-chat']

  async function refusing(t: TestContext, wrong: (body: Heard['body']) => object | undefined) {
    const { url, heard } = await serve(t, (response, one) => {
      const error = wrong(one.body)
      const done = JSON.stringify(one.body['messages']).includes('counted')
      if (error) reply(response, { error }, 400)
      else stream(response, done ? chat.text('Done.').events : chat.call('count', { n: 1 }).events)
    })
    const post = createHttpClient({})
    const model = withAdaptation(aimed('groq/x', url), (target) => createModel(target, { httpClient: post }))
    return { model, heard }
  }

  test('a parameter by name: dropped, asked once more, remembered (T155)', async (t) => {
    const { model, heard } = await refusing(t, (body) =>
      'temperature' in body ? { message: "Unsupported parameter: 'temperature'", param: 'temperature' } : undefined,
    )
    const { one, ran } = counter()
    const agent = agentOf(model, [one], { params: { temperature: 0.5 } })
    assert.equal(closing(await play(agent, 'go')).text, 'Done.')
    assert.deepEqual(ran, [1])
    assert.deepEqual(
      heard.map(({ body }) => 'temperature' in body),
      [true, false, false],
    )
  })

  test('one tool: it is left out, and the others work (T145–T149)', async (t) => {
    const { model, heard } = await refusing(t, (body) => {
      const names = (body['tools'] as { function: { name: string } }[]).map((one) => one.function.name)
      const at = names.indexOf('bad')
      return at < 0
        ? undefined
        : { message: `Invalid schema for tools[${at}].function.parameters`, type: 'invalid_request_error' }
    })
    const { one, ran } = counter()
    const agent = agentOf(model, [one, counter('bad').one])
    const events = await play(agent, 'go')
    assert.equal(closing(events).text, 'Done.')
    assert.deepEqual(ran, [1])
    assert.deepEqual(
      heard.map(({ body }) => (body['tools'] as unknown[]).length),
      [2, 1, 1],
    )
    const told = events.filter((event) => event.type === 'turn' && event.event.type === 'warn')
    assert.match(JSON.stringify(told), /refuses the tool bad, which is omitted/)
  })
})
