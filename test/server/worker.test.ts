import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from '../../src/server/client/connect.ts'
import type { Entry } from '../../src/session/log/entry.ts'
import { tool } from '../../src/tool/custom-tool.ts'
import { startTestServer, TOKEN, until } from './support.ts'

const kindsOf = (entries: readonly Entry[]) => entries.map(({ kind }) => kind)

/** A tool that works until the test lets it end. */
function createGatedTool() {
  const started: string[] = []
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const made = tool({
    name: 'work',
    description: 'Works.',
    parameters: { type: 'object', properties: {} },
    effects: () => [],
    async execute(_input, { signal }) {
      started.push('work')
      await Promise.race([opened, new Promise((resolve) => signal.addEventListener('abort', resolve))])
      return 'worked'
    },
  })
  return { made, started, open: () => open() }
}

test('a message to a run reaches the model with its next request, once', async () => {
  const { made, started, open } = createGatedTool()
  const { server, backend, model } = await startTestServer(
    [{ call: [{ name: 'work', args: {} }] }, { expect: { user: 'and hurry' }, say: 'Hurried.' }],
    { tools: [made] },
  )
  const agent = await connect({ url: server.url, token: TOKEN }).create({ id: 's' })
  const run = agent.run('Work.')
  await until('the tool runs', () => started.length > 0)
  await agent.send('and hurry')
  await until(
    'the worker has it',
    async () => (await backend.inbox.list({ tenant: 'default', session: 's' })).length === 1,
  )
  open()
  assert.deepEqual([(await run).finish, (await run).text], ['done', 'Hurried.'])
  model.assertDone()
  const { entries } = await backend.getStore('default').read('s')
  assert.equal(entries.filter(({ kind }) => kind === 'user').length, 2)
  await until(
    'the inbox is empty',
    async () => (await backend.inbox.list({ tenant: 'default', session: 's' })).length === 0,
  )
})

test('cancel stops the run in progress, and the prompts behind it end, too', async () => {
  const { made, started } = createGatedTool()
  const { server, backend } = await startTestServer([{ call: [{ name: 'work', args: {} }] }, { say: 'Never.' }], {
    tools: [made],
  })
  const agent = await connect({ url: server.url, token: TOKEN }).create({ id: 's' })
  const run = agent.run('Work.')
  const behind = agent.run('And then?')
  await until('the tool runs', () => started.length > 0)
  await until(
    'both are there',
    async () => (await backend.inbox.list({ tenant: 'default', session: 's' })).length === 1,
  )
  await agent.cancel()
  assert.equal((await run).finish, 'cancelled')
  assert.equal((await behind).finish, 'cancelled')
  const { entries } = await backend.getStore('default').read('s')
  assert.deepEqual(
    entries.flatMap((entry) => (entry.kind === 'result' ? [entry.result.status] : [])),
    ['cancelled'],
  )
})

test('after a quota fault the prompt is tried again later, by itself', async () => {
  const { server, backend } = await startTestServer(
    [{ say: 'At last.', misbehave: [{ kind: 'status', status: 402, times: 3 }] }],
    { retry: { rateMs: 20, quotaMs: 20 } },
  )
  const agent = await connect({ url: server.url, token: TOKEN }).create({ id: 's' })
  const end = await agent.run('Hi.')
  assert.deepEqual([end.finish, end.text], ['done', 'At last.'])
  const { entries } = await backend.getStore('default').read('s')
  assert.equal(entries.filter(({ kind }) => kind === 'close').length, 1)
  assert.ok(entries.some(({ kind }) => kind === 'fault'))
})

test('a server that stops leaves its runs to the next one, which goes on by itself', async () => {
  const { made, started } = createGatedTool()
  const steps = [{ call: [{ name: 'work', args: {} }] }, { expect: { results: 'interrupted' }, say: 'I see.' }]
  const first = await startTestServer(steps, { tools: [made] })
  await first.api('POST', '/v1/sessions', { id: 's' })
  const { json } = await first.api('POST', '/v1/sessions/s/prompts', { input: 'Work.' })
  await until('the tool runs', () => started.length > 0)
  await first.server.close()
  await first.backend.close()
  const { entries } = await first.backend.getStore('default').read('s')
  assert.ok(!kindsOf(entries).includes('close'), kindsOf(entries).join())
  const second = await startTestServer(steps, { tools: [made], folder: first.folder })
  const end = await until('it ends', async () => {
    const prompt = await second.api('GET', `/v1/sessions/s/prompts/${encodeURIComponent(json['message'] ?? '')}`)
    return prompt.json['state'] === 'ended' && prompt.json
  })
  assert.deepEqual([end['reason'], end['text'], started.length], ['done', 'I see.', 1])
})

test('an agent that cannot be made ends the prompt with the reason', async () => {
  const { server } = await startTestServer([], {
    worker: { openAgent: () => Promise.reject(new Error('The workspace cannot be checked out.')) },
  })
  const agent = await connect({ url: server.url, token: TOKEN }).create()
  const end = await agent.run('Hi.')
  assert.deepEqual([end.finish, end.fault?.message], ['fault', 'The workspace cannot be checked out.'])
})

test('the client: forks, keys, and errors with a code', async () => {
  const { server, model } = await startTestServer({ start: 'prompt', steps: [{ say: 'Hello.' }] })
  const connection = connect({ url: server.url, token: TOKEN })
  const agent = await connection.create()
  const [one, other] = [agent.run('Hi.', { key: 'k' }), agent.run('Hi.', { key: 'k' })]
  assert.deepEqual([(await one).text, (await other).text], ['Hello.', 'Hello.'])
  assert.equal(model.requests.length, 1)
  const fork = await agent.fork()
  assert.equal((await fork.run('More.')).finish, 'done')
  assert.deepEqual([(await agent.history).length, (await fork.history).length], [2, 4])
  await assert.rejects(connection.open('none').info, { name: 'ServerError', code: 'not-found', status: 404 })
  await assert.rejects(connect({ url: server.url, token: 'wrong-token' }).create(), { code: 'unauthorized' })
  await assert.rejects(async () => connection.open('none').run('x'), { code: 'not-found' })
  const stop = new AbortController()
  stop.abort()
  assert.equal((await agent.run('x', { signal: stop.signal })).finish, 'cancelled')
})
