// An agent made with the SDK: it reads a file, writes one, asks for permission, and answers with what it got.
import { appendFileSync } from 'node:fs'
import { Readable, Writable } from 'node:stream'
import { agent, ndJsonStream } from '@agentclientprotocol/sdk'

const cancelled = Promise.withResolvers?.() ?? makeDeferred()

agent()
  .onRequest('initialize', () => ({ protocolVersion: 1, agentCapabilities: {}, authMethods: [] }))
  .onRequest('session/new', ({ params }) => ({ sessionId: `in ${params.cwd}` }))
  .onNotification('session/cancel', () => cancelled.resolve())
  .onRequest('session/prompt', async ({ params, client }) => {
    const { sessionId } = params
    const folder = sessionId.slice('in '.length)
    const task = params.prompt[0].text
    const say = (text) =>
      client.notify('session/update', {
        sessionId,
        update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
      })
    if (task.includes('mark')) appendFileSync(`${folder}/ran.txt`, 'ran\n')
    if (task === 'mark') return { stopReason: 'end_turn' }
    if (task.includes('wait')) {
      await cancelled.promise
      return { stopReason: 'cancelled' }
    }
    await say('I begin. ')
    await client.notify('session/update', {
      sessionId,
      update: { sessionUpdate: 'tool_call', toolCallId: '1', title: 'work on it', kind: 'edit', status: 'pending' },
    })
    const attempt = (work) =>
      work.then(
        (result) => result,
        (error) => ({ error: error.message }),
      )
    const read = await attempt(
      client.request('fs/read_text_file', { sessionId, path: `${folder}/a.txt`, line: 2, limit: 1 }),
    )
    const hidden = await attempt(client.request('fs/read_text_file', { sessionId, path: '/etc/shadow' }))
    const written = await attempt(
      client.request('fs/write_text_file', { sessionId, path: `${folder}/b.txt`, content: 'by the other\n' }),
    )
    const { outcome } = await client.request('session/request_permission', {
      sessionId,
      toolCall: { toolCallId: '1', title: 'Deploy it', rawInput: { to: 'production' } },
      options: [
        { optionId: 'always', kind: 'allow_always', name: 'Always' },
        { optionId: 'yes', kind: 'allow_once', name: 'Yes' },
        { optionId: 'no', kind: 'reject_once', name: 'No' },
      ],
    })
    await say(JSON.stringify({ read, hidden: 'error' in hidden, written, outcome }))
    return { stopReason: 'end_turn' }
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)))

function makeDeferred() {
  let resolve
  const promise = new Promise((done) => (resolve = done))
  return { promise, resolve }
}
