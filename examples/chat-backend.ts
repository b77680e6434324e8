import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { agent, jsonlStore, type Model, sendNodeResponse, tool, toUiMessageStreamResponse } from 'dragoman'

const clock = tool({
  name: 'get_time',
  description: 'The time in a time zone.',
  parameters: { type: 'object', properties: { zone: { type: 'string' } }, required: ['zone'] },
  effects: () => [],
  execute: ({ zone }) => new Date().toLocaleTimeString('en', { timeZone: zone }),
})

/** A chat server: `POST { chat, prompt }` streams the answer as server-sent events. Each chat is a session on the disk. */
export function createChatServer(model: string | Model, folder: string): Server {
  const store = jsonlStore(folder)
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { chat, prompt } = (await json(request)) as { chat: string; prompt: string }
    const helper = agent({ model, tools: [clock], store, session: chat, createIfMissing: true })
    await sendNodeResponse(toUiMessageStreamResponse(helper.run(prompt)), response)
    await helper.close()
  }
  return createServer((request, response) => void answer(request, response))
}
