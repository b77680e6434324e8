import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { startRehearsalServer } from '../../src/rehearsal/server.ts'
import { askGateway, gatewayTo } from './support.ts'

const STREAMS = 200

test(`${STREAMS} streams at once: each client gets its own answer, whole`, async () => {
  const rehearsal = await startRehearsalServer({
    scripts: {
      script: {
        steps: [{ say: 'You said {word}.', take: { word: { $from: 'user', match: 'word\\d+' } }, pace: 1, pieces: 5 }],
      },
    },
    maxRecords: 1,
  })
  const gateway = await gatewayTo(rehearsal, ['openai-chat'])
  try {
    const all = await Promise.all(
      Array.from({ length: STREAMS }, (_none, at) =>
        askGateway(gateway, at % 2 === 0 ? 'anthropic' : 'openai-chat', {
          turns: [{ role: 'user', parts: [{ kind: 'text', text: `This is word${at}` }] }],
          patience: 300_000,
        }),
      ),
    )
    for (const [at, { turn, answered }] of all.entries()) {
      assert.equal(turn.finish.reason, 'stop', answered.text)
      assert.deepEqual(
        turn.parts.map((part) => (part.kind === 'text' ? part.text : part.kind)),
        [`You said word${at}.`],
      )
    }
  } finally {
    await gateway.close()
    await rehearsal.close()
  }
})

test('nothing of a request is left in memory when it has ended', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const rehearsal = await startRehearsalServer({ scripts: { script: { steps: [{ say: 'Hello.' }] } }, maxRecords: 1 })
  // Budgets and queues are kept per client.
  const gateway = await gatewayTo(rehearsal, ['openai-chat'], {
    routes: [{ match: '*', to: 'up-openai-chat/script', maxCostPerDay: 1e9, concurrency: 20 }],
    price: () => 0.01,
  })
  // Larger than all that may stay of a request in the log.
  const turns = [{ role: 'user' as const, parts: [{ kind: 'text' as const, text: 'x'.repeat(100_000) }] }]
  const askMany = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at += 10)
      await Promise.all(
        Array.from({ length: 10 }, (_none, one) =>
          askGateway(gateway, one % 2 === 0 ? 'anthropic' : 'openai-chat', { turns, patience: 300_000 }),
        ),
      )
  }
  const measure = (): number => {
    collectGarbage()
    return process.memoryUsage().heapUsed / 2 ** 20
  }
  try {
    // The log keeps 64 million characters of bodies.
    await askMany(700)
    const before = measure()
    await askMany(300)
    const growth = measure() - before
    // 300 requests of 100 kB would be 30 MB.
    assert.ok(growth < 12, `${growth.toFixed(1)} MB`)
  } finally {
    await gateway.close()
    await rehearsal.close()
  }
})
