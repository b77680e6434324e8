import { createOpenAI } from '@ai-sdk/openai'
import { jsonSchema, tool, ToolLoopAgent } from 'ai'
import { measureSessions } from './measure-sessions.mjs'

const lookUp = tool({
  description: 'Looks something up.',
  inputSchema: jsonSchema({ type: 'object', properties: { query: { type: 'string' } }, required: ['query'] }),
  execute: ({ query }) => ({ query, found: 'A line of notes. '.repeat(60) }),
})

await measureSessions((url, number) => {
  const model = createOpenAI({ apiKey: `key-${number}`, baseURL: `${url}/v1` }).chat('script')
  const session = new ToolLoopAgent({ model, instructions: 'You are brief.', tools: { look_up: lookUp } })
  const messages = []
  return async (prompt) => {
    messages.push({ role: 'user', content: prompt })
    const result = await session.stream({ messages })
    let text = ''
    for await (const piece of result.textStream) text += piece
    messages.push(...(await result.responseMessages))
    return text
  }
})
