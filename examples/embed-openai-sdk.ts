// A loop around OpenAI's SDK: its stream goes into the assembler, and what comes out goes back into the messages.
// `fetch` is a script, so that this runs without a key; leave it out to ask a real endpoint.
import { OpenAI } from 'openai'
import { assembleStream, createAssembler, declareTools, toHistory, type ToolDefinition } from 'dragoman/embed/openai'

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const tools: ToolDefinition[] = [{ name: 'get_weather', description: 'The weather in a city.', parameters }]

/** Asks until the model makes no more calls, and shows the text while it comes. */
export async function main(show: (text: string) => void = () => {}) {
  const client = new OpenAI({ apiKey: 'none', fetch: scriptedFetch() })
  const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Is it sunny in Oslo?' }]
  for (;;) {
    const stream = await client.chat.completions.create({
      model: 'gpt-5.2',
      messages,
      stream: true,
      ...declareTools(tools),
    })
    const response = await assembleStream(createAssembler({ tools }), stream, (event) => {
      if (event.type === 'text') show(event.text)
    })
    const results = response.calls.map(({ id, input }) => ({ id, output: { ...input, sunny: true } }))
    messages.push(...toHistory(response, results, { tools }))
    if (response.calls.length === 0) return { text: response.text, finish: response.finish.reason, messages }
  }
}

/** An endpoint that repeats the index of calls, and cuts its frames anywhere. */
function scriptedFetch(): typeof fetch {
  const call = (id: string, args: string) => ({
    index: 0,
    id,
    type: 'function',
    function: { name: 'get_weather', arguments: args },
  })
  const answers = [
    [{ tool_calls: [call('call_a', '{"city":"Oslo"}')] }, { tool_calls: [call('call_b', '{"city":"Bonn"}')] }],
    [{ content: 'It is sunny ' }, { content: 'in both.' }],
  ]
  return async () => {
    const deltas = answers.shift() ?? []
    const frames = deltas.map((delta, at) => {
      const isLast = at === deltas.length - 1
      const finish_reason = isLast ? ('tool_calls' in delta ? 'tool_calls' : 'stop') : null
      return `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`
    })
    const headers = { 'content-type': 'text/event-stream' }
    return new Response(`${frames.join('')}data: [DONE]\n\n`, { headers })
  }
}

if (/embed-openai-sdk\.[jt]s$/.test(process.argv[1] ?? ''))
  console.log(JSON.stringify(await main((text) => process.stderr.write(text)), null, 2))
