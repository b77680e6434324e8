import { agent, provider, tool } from 'dragoman'
import { measureSessions } from './measure-sessions.mjs'

const lookUp = tool({
  name: 'look_up',
  description: 'Looks something up.',
  parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
  effects: () => [],
  execute: ({ query }) => ({ query, found: 'A line of notes. '.repeat(60) }),
})

await measureSessions((url, number) => {
  const model = provider('openai-chat', { apiKey: `key-${number}`, baseUrl: `${url}/v1` })('script')
  const session = agent({ model, instructions: 'You are brief.', tools: [lookUp] })
  return async (prompt) => {
    let text = ''
    const run = session.run(prompt)
    for await (const event of run)
      if (event.type === 'turn' && event.event.type === 'part-delta' && event.event.kind === 'text')
        text += event.event.text
    await run.orThrow()
    return text
  }
})
