import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { run } from '../../src/agent/loop/run.ts'
import type { WireId } from '../../src/model/turn.ts'
import type { Policy } from '../../src/policy/policy.ts'
import type { RehearsalScript } from '../../src/rehearsal/script/script.ts'
import type { RehearsalServer } from '../../src/rehearsal/server.ts'
import { resumeSession } from '../../src/session/session.ts'
import { memoryStore } from '../../src/session/store/memory-store.ts'
import { tool } from '../../src/tool/custom-tool.ts'
import { wireIds } from '../../src/wire/wires.ts'
import { agentOf, closing, modelOn, play, rehearse } from '../support/stage.ts'

const servers: RehearsalServer[] = []
after(async () => {
  for (const server of servers) await server.close()
})

async function stage(steps: RehearsalScript['steps'], more: Partial<RehearsalScript> = {}): Promise<RehearsalServer> {
  const server = await rehearse(steps, more)
  servers.push(server)
  return server
}

/** A tool that counts how often it ran, and with what. */
function counter(work: (n: number) => unknown = (n) => `counted ${n}`) {
  const ran: number[] = []
  const parameters = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const
  const count = tool({
    name: 'count',
    description: 'Counts.',
    parameters,
    effects: () => [],
    execute: (input) => {
      ran.push(input.n)
      return work(input.n)
    },
  })
  return { count, ran }
}

const counts = (...numbers: number[]) => numbers.map((n) => ({ name: 'count', args: { n } }))

/** What was sent, in the plain form of all wires. */
function sent(server: RehearsalServer, at: number) {
  const request = server.requests.at(at)
  assert.ok(request, `request ${at}`)
  return request.conversation
}

/** The outputs of the results in a request, in order. */
function outputs(server: RehearsalServer, at: number): string[] {
  return sent(server, at)
    .messages.flatMap((message) => message.parts)
    .flatMap((part) =>
      part.type === 'result' ? [typeof part.output === 'string' ? part.output : JSON.stringify(part.output)] : [],
    )
}

for (const wire of wireIds) {
  describe(`on the ${wire} wire`, () => {
    test('text', async () => {
      const server = await stage([{ say: 'Hello there.' }])
      const events = await play(agentOf(modelOn(wire, server), [counter().count]), 'hi')
      assert.deepEqual([closing(events).reason, closing(events).text], ['done', 'Hello there.'])
      assert.equal(sent(server, 0).system, 'You are tested.')
      assert.deepEqual(server.failures, [])
    })

    test('one tool: the call goes back with its result', async () => {
      const server = await stage(
        [
          { think: 'Hm.', say: 'Counting.', call: counts(7) },
          { expect: { results: 'counted 7' }, say: 'Seven.' },
        ],
        { requires: 'signatures' },
      )
      const { count, ran } = counter()
      const events = await play(agentOf(modelOn(wire, server), [count]), 'count to 7')
      assert.equal(closing(events).text, 'Seven.')
      assert.deepEqual(ran, [7])
      assert.ok(outputs(server, 1)[0]?.includes('counted 7'))
      assert.deepEqual(server.failures, [])
    })

    test('a loop of five steps: each request extends the one before it, with the same system and tools', async () => {
      const server = await stage([...[1, 2, 3, 4, 5].map((n) => ({ call: counts(n) })), { say: 'Done.' }])
      const { count, ran } = counter()
      await play(agentOf(modelOn(wire, server), [count]), 'go')
      assert.deepEqual(ran, [1, 2, 3, 4, 5])
      assert.equal(server.requests.length, 6)
      for (let at = 1; at < 6; at++) {
        const [shorter, longer] = [server.requests[at - 1], server.requests[at]].map(
          (request) => request?.bytes.toString() ?? '',
        )
        const open = (shorter ?? '').replace(/[\]}]+$/, '')
        assert.ok(longer?.startsWith(open), `request ${at} extends request ${at - 1}`)
      }
      assert.deepEqual(server.failures, [])
    })

    test('eight calls side by side: they overlap, and their results go back in the order of the calls', async () => {
      const numbers = [1, 2, 3, 4, 5, 6, 7, 8]
      const server = await stage([{ call: counts(...numbers) }, { say: 'All.' }])
      let running = 0
      let most = 0
      const { count, ran } = counter(async (n) => {
        most = Math.max(most, ++running)
        await new Promise((resolve) => setTimeout(resolve, 5 * (9 - n)))
        running--
        return `counted ${n}`
      })
      await play(agentOf(modelOn(wire, server), [count]), 'go')
      assert.deepEqual(
        [...ran].sort((a, b) => a - b),
        numbers,
      )
      assert.ok(most > 1, 'they overlap')
      assert.deepEqual(
        outputs(server, 1).map((text) => Number(/counted (\d)/.exec(text)?.[1])),
        numbers,
      )
      assert.deepEqual(server.failures, [])
    })

    test('a denied call is a result that says why, and the run goes on', async () => {
      const server = await stage([{ call: counts(1) }, { expect: { results: 'too dangerous' }, say: 'I see.' }])
      const { count, ran } = counter()
      const policy: Policy = {
        decide: () => ({ verdict: 'deny', rule: 'test', why: 'It is too dangerous.' }),
        remember: () => '',
      }
      const events = await play(agentOf(modelOn(wire, server), [count], { policy }), 'go')
      assert.equal(closing(events).text, 'I see.')
      assert.deepEqual(ran, [])
      assert.deepEqual(server.failures, [])
    })

    test('cancelled in the middle of an answer: no call runs, and the session goes on', async () => {
      const server = await stage([{ say: 'Long. '.repeat(50), call: counts(1), pace: 5 }, { say: 'Back.' }])
      const { count, ran } = counter()
      const agent = agentOf(modelOn(wire, server), [count])
      const stop = new AbortController()
      setTimeout(() => stop.abort(), 60)
      const events = await play(agent, 'go', stop.signal)
      assert.equal(closing(events).reason, 'cancelled')
      assert.deepEqual(ran, [])
      const again = await play(agent, 'and now?')
      assert.equal(closing(again).reason, 'done')
      assert.deepEqual(server.failures, [])
    })

    test('cancelled in the middle of a tool: every call has a result, and the session goes on', async () => {
      const server = await stage([{ call: counts(1, 2) }, { say: 'Back.' }])
      const stop = new AbortController()
      const { count } = counter(() => {
        stop.abort()
        return new Promise((resolve) => setTimeout(resolve, 50))
      })
      const agent = agentOf(modelOn(wire, server), [count])
      assert.equal(closing(await play(agent, 'go', stop.signal)).reason, 'cancelled')
      assert.equal(closing(await play(agent, 'and now?')).text, 'Back.')
      assert.equal(outputs(server, 1).length, 2)
      for (const output of outputs(server, 1)) assert.match(output, /stopped/)
      assert.deepEqual(server.failures, [])
    })

    test('resumed: an intent without a result is never run again; forked: both go on apart', async () => {
      const server = await stage([{ call: counts(1) }, { say: 'Two.' }, { say: 'Three.' }])
      const store = memoryStore()
      const { count, ran } = counter()
      const model = modelOn(wire, server)
      const log = await store.create({ id: 'first', folder: '/' })
      const agent = agentOf(model, [count], { session: resumeSession(log) })
      await play(agent, 'go')
      await log.close()
      const fork = await store.create({
        id: 'fork',
        folder: '/',
        parent: { session: 'first', seq: agent.session.entries.at(-1)?.seq ?? 0 },
      })
      assert.equal(
        closing(await play(agentOf(model, [count], { session: resumeSession(fork) }), 'in the fork')).text,
        'Three.',
      )
      const again = await store.open('first')
      assert.equal(
        closing(await play(agentOf(model, [count], { session: resumeSession(again) }), 'in the first')).text,
        'Three.',
      )
      assert.deepEqual(ran, [1])
      const asked = (at: number) => JSON.stringify(sent(server, at).messages.at(-1))
      assert.match(asked(2), /in the fork/)
      assert.match(asked(3), /in the first/)
      assert.doesNotMatch(JSON.stringify(sent(server, 3).messages), /in the fork/)
      assert.deepEqual(server.failures, [])
    })

    test('a long history is summarised, and the summary takes its place', async () => {
      const big = { usage: { input: 900, output: 10 } }
      const server = await stage([
        { when: { user: 'about to be replaced' }, say: 'The person wants to count.' },
        { call: counts(1), ...big },
        { call: counts(2), ...big },
        { say: 'Done.' },
      ])
      const { count } = counter((n) => `counted ${n} `.repeat(200))
      const model = { ...modelOn(wire, server), window: 1000 }
      const agent = agentOf(model, [count])
      const events = await play(agent, 'count, please')
      assert.ok(
        events.some((event) => event.type === 'compact' && event.done),
        'it was summarised',
      )
      const last = JSON.stringify(sent(server, -1).messages)
      assert.match(last, /summary of the conversation so far[^]*The person wants to count/)
      assert.doesNotMatch(last, /count, please/)
      assert.ok(
        agent.session.entries.some((entry) => entry.kind === 'user'),
        'the log keeps what was said',
      )
      assert.deepEqual(server.failures, [])
    })

    test('handed over to every other wire in the middle of a session', async () => {
      for (const other of wireIds.filter((one): one is WireId => one !== wire)) {
        const server = await stage(
          [
            { think: 'Hm.', say: 'One.', call: counts(1) },
            { say: 'Begun.' },
            { think: 'Hm.', call: counts(2) },
            { say: 'Gone on.' },
          ],
          { requires: 'signatures' },
        )
        const { count, ran } = counter()
        const first = agentOf(modelOn(wire, server), [count])
        await play(first, 'begin')
        const second = { ...first, model: modelOn(other, server) }
        assert.equal(closing(await play(second, 'go on')).text, 'Gone on.', `${wire} to ${other}`)
        assert.deepEqual(ran, [1, 2])
        assert.deepEqual(
          outputs(server, -1).map((text) => Number(/counted (\d)/.exec(text)?.[1])),
          [1, 2],
        )
        assert.deepEqual(server.failures, [], `${wire} to ${other}`)
      }
    })
  })
}

test('a question is data in the log: another process answers it, and the call is carried out once', async () => {
  const server = await stage([{ call: counts(1) }, { expect: { results: 'counted 1' }, say: 'Counted.' }])
  const store = memoryStore()
  const { count, ran } = counter()
  const policy: Policy = { decide: () => ({ verdict: 'ask', rule: 'test', why: 'Ask.' }), remember: () => '' }
  const model = modelOn('openai-chat', server)
  const log = await store.create({ id: 'asked', folder: '/' })
  const asking = agentOf(model, [count], {
    session: resumeSession(log),
    policy,
    requestApproval: () => new Promise(() => undefined),
  })
  const stopped = run(asking, [{ kind: 'text', text: 'go' }])
  for await (const event of stopped) if (event.type === 'ask') break
  await log.close()

  const answering = await store.open('asked')
  const ask = answering.entries.findLast((entry) => entry.kind === 'ask')
  assert.equal(ask?.kind, 'ask')
  answering.append({ kind: 'reply', ask: ask?.kind === 'ask' ? ask.ask : '', outcome: 'proceed-once' })
  await answering.close()

  const again = agentOf(model, [count], { session: resumeSession(await store.open('asked')), policy })
  assert.equal(closing(await play(again, undefined)).text, 'Counted.')
  assert.deepEqual(ran, [1])
  assert.deepEqual(server.failures, [])
})

test('the same call with the same result again and again: the model is told, then stopped', async () => {
  const server = await stage([{ loop: [{ call: counts(1) }] }])
  const { count, ran } = counter()
  const events = await play(agentOf(modelOn('anthropic', server), [count]), 'go')
  assert.equal(closing(events).reason, 'loop')
  assert.ok(ran.length < 10)
  assert.ok(
    events.some((event) => event.type === 'entry' && event.entry.kind === 'note'),
    'it was told',
  )
})

test('what the person types while tools run is delivered between turns', async () => {
  const server = await stage([{ call: counts(1) }, { expect: { user: 'also this' }, say: 'Both.' }])
  const waiting = [[{ kind: 'text', text: 'and also this' } as const]]
  const { count } = counter()
  const events = await play(
    agentOf(modelOn('gemini', server), [count], { takeQueuedMessages: () => waiting.splice(0) }),
    'go',
  )
  assert.equal(closing(events).text, 'Both.')
  assert.deepEqual(server.failures, [])
})

test('an unknown tool gets an error with the nearest names; a decorated one is found', async () => {
  const server = await stage([
    {
      call: [
        { name: 'cuont', args: { n: 1 } },
        { name: 'functions.Count', args: { n: '2' } },
      ],
    },
    { expect: { results: ['Did you mean count', 'counted 2'] }, say: 'Ah.' },
  ])
  const { count, ran } = counter()
  assert.equal(closing(await play(agentOf(modelOn('openai-chat', server), [count]), 'go')).text, 'Ah.')
  assert.deepEqual(ran, [2])
  assert.deepEqual(server.failures, [])
})

test('an empty answer is asked for again, a little, and then it is a fault', async () => {
  const server = await stage([{ loop: [{ misbehave: ['empty'] }] }])
  const events = await play(agentOf(modelOn('openai-chat', server), [counter().count]), 'go')
  assert.equal(closing(events).reason, 'fault')
  assert.ok(server.requests.length <= 3)
})
