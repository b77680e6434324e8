// A backend for Gemini: declare the tools, read the stream, run the calls, write the next request.
// The bytes are a script, so that this runs without a key; real ones are the body of a fetch response.
import type { Content } from '@google/genai'
import {
  createStream,
  GeminiToolHandler,
  toGeminiFunctionResponseContent,
  toGeminiToolConfig,
  toGeminiTools,
  toModelContentWithFunctions,
  type ToolCall,
} from 'dragoman/embed/tachikoma'

const handler = new GeminiToolHandler()
  .withTimeout(1000)
  .register(
    {
      name: 'weather',
      description: 'Tells the weather in a city.',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
    ({ arguments: args }) => `It rains in ${(JSON.parse(args) as { city: string }).city}.`,
  )
  .register(
    { name: 'sleep', description: 'Never ends.', parameters: { type: 'object', properties: {} } },
    () => new Promise<string>(() => {}),
  )

/** Asks, runs what the model calls, and gives the body of the next request. */
export async function main() {
  const tools = handler.getDefinitions()
  const contents: Content[] = [{ role: 'user', parts: [{ text: 'How is the weather?' }] }]
  let text = ''
  let calls: ToolCall[] = []
  for await (const chunk of createStream(answer(), { tools })) {
    text += chunk.delta
    calls = [
      ...calls,
      ...chunk.toolCalls.map(({ argumentsDelta, ...call }) => ({ ...call, arguments: argumentsDelta })),
    ]
  }
  const results = await handler.withTimeout(50).executeAll(calls)
  contents.push(toModelContentWithFunctions(text, calls), toGeminiFunctionResponseContent(results))
  return { contents, tools: toGeminiTools(tools), toolConfig: toGeminiToolConfig('auto') }
}

/** A JSON array, cut in the middle of things, with a call without arguments in it. */
async function* answer(): AsyncGenerator<Uint8Array> {
  const chunks = [
    { candidates: [{ content: { role: 'model', parts: [{ text: 'Grüße! ' }, { text: 'I look.' }] } }] },
    { candidates: [{ content: { parts: [{ functionCall: { name: 'weather', args: { city: 'Zürich' } } }] } }] },
    { candidates: [{ content: { parts: [{ functionCall: { name: 'sleep' } }] }, finishReason: 'STOP' }] },
  ]
  const bytes = new TextEncoder().encode(JSON.stringify(chunks))
  for (let at = 0; at < bytes.length; at += 10) yield bytes.subarray(at, at + 10)
}

if (/embed-tachikoma\.[jt]s$/.test(process.argv[1] ?? '')) console.log(JSON.stringify(await main(), null, 2))
