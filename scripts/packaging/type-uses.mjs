// What users write, for type checkers. Exported values without types: their types must be writable into declarations.

export const EMBED_USE = `
import { generateValidName, toGeminiTools, convertToFunctionResponse, GeminiToolHandler } from 'dragoman/embed'
import * as openai from 'dragoman/embed/openai'
import * as anthropic from 'dragoman/embed/anthropic'
import * as responses from 'dragoman/embed/responses'
import * as gemini from 'dragoman/embed/gemini'
import * as interactions from 'dragoman/embed/interactions'
import * as tachikoma from 'dragoman/embed/tachikoma'

export const name = generateValidName('a b')
const definitions = [{ name, description: 'A.', parameters: { type: 'object' } }]
export const tools = toGeminiTools(definitions)
export const parts = convertToFunctionResponse('a', 'b', 'c')
export const handler = new GeminiToolHandler()
export const results = handler.executeAll([])
export const assemblers = [openai, anthropic, responses, gemini, interactions].map((one) => one.createAssembler())
export const response = openai.createAssembler().end()
export const { calls, rejected, finish, usage, events } = response
export const events2 = anthropic.createAssembler().push(new Uint8Array())
export const histories = [
  openai.toHistory(response), anthropic.toHistory(response), responses.toHistory(response), gemini.toHistory(response),
  interactions.toHistory(response),
] as const
export const fields = [openai.declareTools(definitions), anthropic.declareTools(definitions), gemini.declareTools(definitions)] as const
export const stream = tachikoma.createStream({ async *[Symbol.asyncIterator]() { yield new Uint8Array() } })
export async function readAll() {
  const chunks = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}
export const body = gemini.geminiRequestBody({ model: 'm', contents: [] })
// @ts-expect-error A name is text.
generateValidName(5)
`

export const AGENT_USE = `
import * as dragoman from 'dragoman'
import { agent, tool, localHost, memoryStore, StoreError } from 'dragoman'

export const helper = agent({ model: 'rehearsal/hello', tools: [] })
export const running = helper.run('Hello.')
export const store = memoryStore()
// A type that is not exported.
export const { files } = localHost({ folders: [], scratch: '' })
export const isKnown = (error: unknown) => error instanceof StoreError && error.code
export const names = Object.keys(dragoman)
export { tool }
// @ts-expect-error A model is a name.
agent({ model: 5 })
`

export const SDK_USE = `
import type { Anthropic } from '@anthropic-ai/sdk'
import type { Content, GenerateContentResponse, Part, PartListUnion, Tool } from '@google/genai'
import type { OpenAI } from 'openai'
import * as openai from 'dragoman/embed/openai'
import * as anthropic from 'dragoman/embed/anthropic'
import * as responses from 'dragoman/embed/responses'
import * as gemini from 'dragoman/embed/gemini'
import { toGeminiTools } from 'dragoman/embed/tachikoma'

const definitions = [{ name: 'a', description: 'A.', parameters: { type: 'object' } }]

export async function chat(client: OpenAI, allowedTools: OpenAI.Chat.ChatCompletionTool[]) {
  const messages: OpenAI.Chat.ChatCompletionMessageParam[] = []
  const params = openai.addNativeToolCallsToParams({ model: 'm', messages, stream: true }, { toolStyle: 'json' }, { allowedTools })
  for await (const chunk of await client.chat.completions.create(params)) {
    const delta = chunk.choices[0]?.delta
    openai.nativeToolCallAssembler({ tools: allowedTools }).push(delta)
    yieldAll(openai.processNativeToolCallsFromDelta(delta, 'json'))
  }
  const stream = await client.chat.completions.create({ model: 'm', messages, stream: true, ...openai.declareTools(definitions) })
  const response = await openai.assembleStream(openai.createAssembler(), stream)
  messages.push(...openai.toHistory(response))
}

export async function respond(client: OpenAI) {
  const input: OpenAI.Responses.ResponseInputItem[] = []
  const stream = await client.responses.create({ model: 'm', input, stream: true, ...responses.declareTools(definitions) })
  const response = await responses.assembleStream(responses.createAssembler(), stream)
  input.push(...responses.toHistory<OpenAI.Responses.ResponseInputItem>(response))
}

export async function message(client: Anthropic, result: Anthropic.ToolResultBlockParam) {
  const messages: Anthropic.MessageParam[] = [{ role: 'assistant', content: anthropic.toApiHistory([]) }]
  const params = { model: 'm', max_tokens: 9, messages, stream: true as const, ...anthropic.declareTools(definitions) }
  const stream = await client.messages.create(params)
  const response = await anthropic.assembleStream(anthropic.createAssembler(), stream)
  messages.push(...anthropic.toHistory(response))
  return gemini.toFunctionResponse(result, 'a') satisfies Part
}

export async function content(stream: AsyncGenerator<GenerateContentResponse>, output: PartListUnion) {
  const contents: Content[] = []
  const response = await gemini.assembleStream(gemini.createAssembler(), stream)
  contents.push(...gemini.toHistory(response))
  const parts: Part[] = gemini.convertToFunctionResponse('a', 'b', output)
  const tools: Tool[] = [...toGeminiTools(definitions), ...(gemini.declareTools(definitions).tools ?? [])]
  return { contents, parts, tools, request: gemini.buildRequest('m', contents, 'x', tools) }
}

function yieldAll(chunks: Iterable<unknown>) {
  return [...chunks]
}
`

/** The SDKs of today have it, those of genai 1 not. */
export const INTERACTIONS_SDK_USE = `
import type { GoogleGenAI, Interactions } from '@google/genai'
import * as interactions from 'dragoman/embed/interactions'

const definitions = [{ name: 'a', description: 'A.', parameters: { type: 'object' } }]

export async function interact(client: GoogleGenAI) {
  const input: Interactions.Step[] = []
  const stream = await client.interactions.create({ model: 'm', input, stream: true, ...interactions.declareTools(definitions) })
  const response = await interactions.assembleStream(interactions.createAssembler(), stream)
  input.push(...interactions.toHistory<Interactions.Step>(response))
}
`
