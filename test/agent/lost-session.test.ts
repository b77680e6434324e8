import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agent, memoryStore, type Store, tool } from '../../src/index.ts'
import { until } from '../support/alive.ts'
import { modelOn, rehearse } from '../support/stage.ts'

const NO_INPUT = { type: 'object', properties: {} } as const

test('when another process takes the session over, running tools are stopped, no other starts, and the run ends', async () => {
  const server = await rehearse([
    {
      call: [
        { name: 'wait', args: {} },
        { name: 'later', args: {} },
      ],
    },
    { say: 'never said' },
    { say: 'Hello again.' },
  ])
  const started: string[] = []
  let stoppedBy: unknown
  const wait = tool({
    name: 'wait',
    description: 'Waits until it is stopped.',
    parameters: NO_INPUT,
    execute: (_, { signal }) =>
      new Promise((resolve) => {
        started.push('wait')
        signal.addEventListener('abort', () => {
          stoppedBy = signal.reason
          resolve('stopped')
        })
      }),
  })
  const later = tool({
    name: 'later',
    description: 'Comes after it.',
    parameters: NO_INPUT,
    execute: () => started.push('later'),
  })
  const store = memoryStore()
  const helper = agent({ model: modelOn('openai-chat', server), tools: [wait, later], store, onApproval: () => true })
  const running = helper.run('go')
  await until(() => started.length === 1)
  const taken = await store.open(helper.session, { takeOver: true })
  const before = taken.entries.length
  const result = await running
  assert.equal(result.finish, 'taken-over')
  assert.ok(stoppedBy instanceof Error, 'the tool was stopped')
  assert.deepEqual(started, ['wait'])
  assert.equal((await store.read(helper.session)).entries.length, before, 'nothing was written by the former holder')
  assert.equal(server.requests.length, 1)
  // While the other has it, the next run is refused; after that, it opens the session again.
  await assert.rejects(async () => helper.run('again'), { code: 'in-use' })
  await taken.close()
  const again = await helper.run('again')
  assert.equal(again.finish, 'done')
  await helper.close()
  await server.close()
})

/** A store whose first log ends when the process is killed: what follows is not written. */
async function runUntilKilled(store: Store, safeToRetry: boolean | undefined) {
  const log = await store.create({ id: 'one', folder: '/' })
  log.append({ kind: 'user', parts: [{ kind: 'text', text: 'go' }], prompt: 'one#1' })
  const call = (id: string) => ({ kind: 'call', id, name: 'count', raw: '{}', input: {} }) as const
  log.append({
    kind: 'turn',
    turn: {
      role: 'assistant',
      origin: { provider: 'p', wire: 'openai-chat', model: 'm' },
      parts: [call('c1'), call('c2')],
      finish: { reason: 'calls' },
    },
    prompt: 'one#1',
    ms: 1,
  })
  log.append({ kind: 'intent', call: 'c1', name: 'count', input: {} })
  await log.close()
  let runs = 0
  const count = tool({
    name: 'count',
    description: 'Counts.',
    parameters: NO_INPUT,
    ...(safeToRetry !== undefined && { safeToRetry }),
    effects: () => [],
    execute: () => `counted ${++runs}`,
  })
  const server = await rehearse([{ call: [{ name: 'count', args: {} }] }, { say: 'Done.' }])
  const helper = agent({ model: modelOn('openai-chat', server), tools: [count], store, session: 'one' })
  assert.equal((await helper.resume()).text, 'Done.')
  await helper.close()
  await server.close()
  const { entries } = await store.read('one')
  const statuses = entries.flatMap((entry) =>
    entry.kind === 'result' ? [`${entry.result.id} ${entry.result.status}`] : [],
  )
  return { runs, statuses: statuses.sort(), starts: entries.filter(({ kind }) => kind === 'intent').length }
}

test('a call that was interrupted runs again only if its tool is safe to retry', async () => {
  assert.deepEqual(await runUntilKilled(memoryStore(), true), { runs: 2, statuses: ['c1 ok', 'c2 ok'], starts: 3 })
  const once = { runs: 1, statuses: ['c1 interrupted', 'c2 ok'], starts: 2 }
  assert.deepEqual(await runUntilKilled(memoryStore(), undefined), once)
  assert.deepEqual(await runUntilKilled(memoryStore(), false), once)
})

test('a call that was interrupted again and again is given up', async () => {
  const store = memoryStore()
  const original = store.create.bind(store)
  const crashing: Store = {
    ...store,
    async create(session) {
      const log = await original(session)
      const append = log.append.bind(log)
      return {
        ...log,
        append(body) {
          const entry = append(body)
          // It had been started twice before.
          if (body.kind === 'intent') for (let at = 0; at < 2; at++) append(body)
          return entry
        },
      }
    },
  }
  const { runs, statuses } = await runUntilKilled(crashing, true)
  assert.deepEqual({ runs, statuses }, { runs: 1, statuses: ['c1 interrupted', 'c2 ok'] })
})
