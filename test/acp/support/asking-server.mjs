// An MCP server with a tool that asks the user for a name, and one that asks for a sign-in at a URL.
import { createInterface } from 'node:readline'

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const tool = { name: 'greet', description: 'Greets the user.', inputSchema: { type: 'object', properties: {} } }
const signIn = { name: 'sign_in', description: 'Signs in.', inputSchema: { type: 'object', properties: {} } }
const url = 'http://localhost:8123/consent'
let waiting

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, result } = JSON.parse(line)
  if (method === 'initialize')
    send({
      id,
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'asker', version: '1' },
      },
    })
  else if (method === 'tools/list') send({ id, result: { tools: [tool, signIn] } })
  else if (method === 'tools/call') {
    waiting = id
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
    const [question, asked] =
      params.name === signIn.name
        ? ['consent', { mode: 'url', message: 'Please sign in.', url, elicitationId: 'e1' }]
        : ['question', { message: 'Who are you?', requestedSchema }]
    send({ id: question, method: 'elicitation/create', params: asked })
  } else if (id === 'question') {
    const text = `${process.env.GREETING} ${result?.content?.name ?? result?.action}`
    send({ id: waiting, result: { content: [{ type: 'text', text }] } })
  } else if (id === 'consent') {
    send({ method: 'notifications/elicitation/complete', params: { elicitationId: 'e1' } })
    send({ id: waiting, result: { content: [{ type: 'text', text: `sign-in: ${result?.action}` }] } })
  } else if (id !== undefined && method !== undefined) send({ id, error: { code: -32601, message: 'unknown' } })
})
