import { pathToFileURL } from 'node:url'
import { agent, type Model, tool } from 'dragoman'

/** An agent with a tool of its own: asks a model, runs what it calls, and gives its answer. */
export async function main(model: string | Model): Promise<{ text: string; calls: string[] }> {
  const weather = tool<{ city: string }>({
    name: 'get_weather',
    description: 'The weather in a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    effects: () => [],
    run: ({ city }) => `It is sunny in ${city}.`,
  })
  const helper = agent({ model, tools: [weather], system: 'You are brief.' })
  const run = helper.run('Is it sunny in Berlin?')
  const calls: string[] = []
  let text = ''
  for await (const event of run) {
    if (event.type === 'call' && event.call.status === 'success') calls.push(event.call.call.name)
    if (event.type === 'run-close') text = event.text
  }
  await helper.close()
  return { text, calls }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const model = process.env['DRAGOMAN_MODEL'] ?? process.argv[2]
  if (model === undefined) console.log('Name a model: npm run example -- library-agent gemini/gemini-2.5-flash')
  else console.log(await main(model))
}
