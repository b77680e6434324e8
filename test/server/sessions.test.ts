import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tool } from '../../src/tool/custom-tool.ts'
import { connect } from '../../src/server/client/connect.ts'
import { startTestServer, TOKEN, until } from './support.ts'

const deploy = () => {
  const ran: string[] = []
  const made = tool({
    name: 'deploy',
    description: 'Deploys.',
    parameters: { type: 'object', properties: { where: { type: 'string' } }, required: ['where'] },
    execute: ({ where }) => {
      ran.push(where)
      return `Deployed to ${where}.`
    },
  })
  return { made, ran }
}

test('a prompt runs, and its result can be read', async () => {
  const { api } = await startTestServer([{ say: 'Hello.' }])
  const created = await api('POST', '/v1/sessions', { id: 's' })
  assert.equal(created.status, 201)
  const accepted = await api('POST', '/v1/sessions/s/prompts', { input: 'Hi.' })
  assert.equal(accepted.status, 202)
  const result = await until('the prompt ends', async () => {
    const { json } = await api('GET', `/v1/sessions/s/prompts/${encodeURIComponent(accepted.json['message'] ?? '')}`)
    return json['state'] === 'ended' && json
  })
  assert.deepEqual([result['reason'], result['text'], result['turns']], ['done', 'Hello.', 1])
  assert.equal((await api('GET', '/v1/sessions/s')).json['state'], 'idle')
})

test('the client: a run is iterable and awaitable, approvals wait, and the history is there', async () => {
  const { made, ran } = deploy()
  const { server } = await startTestServer(
    [{ call: [{ name: 'deploy', args: { where: 'staging' } }] }, { expect: { results: 'Deployed' }, say: 'Done.' }],
    { tools: [made] },
  )
  const agent = await connect({ url: server.url, token: TOKEN }).create()
  const run = agent.run('Deploy.')
  const kinds: string[] = []
  for await (const event of run) kinds.push(event.type === 'entry' ? event.entry.kind : event.type)
  assert.equal((await run).finish, 'awaiting-approval')
  assert.ok(kinds.includes('ask') && kinds.includes('user') && kinds.includes('turn'), kinds.join())
  const [pending] = await agent.pending
  assert.deepEqual([pending?.tool, pending?.input], ['deploy', { where: 'staging' }])
  assert.equal((await agent.info).state, 'waiting')
  await agent.reply(pending?.id ?? '', true)
  const end = await agent.resume()
  assert.deepEqual([end.finish, end.text], ['done', 'Done.'])
  assert.deepEqual(ran, ['staging'])
  assert.deepEqual(
    (await agent.history).map(({ role }) => role),
    ['user', 'assistant', 'results', 'assistant'],
  )
})
