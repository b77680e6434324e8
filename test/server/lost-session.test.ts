import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAgentOnLog } from '../../src/agent/library/create-agent.ts'
import { memoryStore } from '../../src/session/store/memory-store.ts'
import { createTakenOverError, type Store } from '../../src/session/store/store.ts'
import { modelOn, rehearse } from '../support/stage.ts'

test('an agent on a session that its worker has lost writes nothing, and does not open it again', async (t) => {
  const server = await rehearse([{ say: 'Hello.' }])
  t.after(() => server.close())
  const store = memoryStore()
  const log = await store.create({ id: 's', folder: '/' })
  log.append({ kind: 'user', parts: [{ kind: 'text', text: 'Hi' }], prompt: 's#1' })
  await log.flush()
  let openings = 0
  const observed: Store = {
    ...store,
    open(id, how) {
      openings++
      return store.open(id, how)
    },
  }
  const lost = AbortSignal.abort(createTakenOverError('s'))
  const agent = createAgentOnLog(
    { model: modelOn('openai-chat', server), store: observed },
    { ...log, lost, entries: (await store.read('s')).entries },
    {},
  )
  const { finish } = await agent.resume({ signal: lost })
  await agent.close()
  assert.notEqual(finish, 'done')
  assert.equal(openings, 0)
  assert.deepEqual(
    (await store.read('s')).entries.map(({ kind }) => kind),
    ['open', 'user'],
  )
})
