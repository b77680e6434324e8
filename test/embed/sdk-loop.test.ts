import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Anthropic } from '@anthropic-ai/sdk'
import { type Content, GoogleGenAI, type Interactions } from '@google/genai'
import { OpenAI } from 'openai'
import * as anthropic from '../../src/embed/anthropic.ts'
import * as gemini from '../../src/embed/gemini.ts'
import * as interactions from '../../src/embed/interactions.ts'
import * as openai from '../../src/embed/openai.ts'
import * as responses from '../../src/embed/responses.ts'
import { type RehearsalServer, startRehearsalServer } from '../../src/rehearsal/server.ts'

// A loop around the real SDK of each vendor: its chunks go into the assembler, and what `toHistory` gives is pushed into the
// SDK's own types without a cast. The server refuses a history that the vendor would refuse.

const tools = [
  {
    name: 'get_weather',
    description: 'The weather in a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
]

const SCRIPT = {
  steps: [
    {
      think: 'I ask.',
      call: [
        { name: 'get_weather', args: { city: 'Oslo' } },
        { name: 'get_weather', args: { city: 'Bonn' } },
      ],
    },
    { expect: { results: 'sunny in Oslo' }, say: 'It is sunny in both.' },
  ],
}

/** Runs the calls of a response. */
function results(response: openai.AssembledResponse): openai.CallResult[] {
  assert.deepEqual(response.rejected, [])
  return response.calls.map(({ id, input }) => ({
    id,
    output: `It is sunny in ${JSON.stringify(input['city']).slice(1, -1)}.`,
  }))
}

describe('a loop with the SDK of each vendor', () => {
  let server: RehearsalServer
  before(async () => (server = await startRehearsalServer({ scripts: { script: SCRIPT } })))
  after(() => server.close())

  const assertAnswered = (texts: readonly string[], calls: readonly number[]) => {
    assert.equal(texts.at(-1), 'It is sunny in both.')
    assert.deepEqual(calls, [2, 0])
  }

  test('openai: chat completions', async () => {
    const client = new OpenAI({ apiKey: 'none', baseURL: `${server.url}/v1`, maxRetries: 0 })
    const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Is it sunny?' }]
    const seen: openai.AssembledResponse[] = []
    while (seen.length === 0 || seen.at(-1)?.calls.length) {
      const params = { model: 'script', messages, stream: true as const, ...openai.declareTools(tools) }
      const stream = await client.chat.completions.create(params)
      const response = await openai.assembleStream(openai.createAssembler({ tools }), stream)
      messages.push(...openai.toHistory(response, results(response), { tools }))
      seen.push(response)
    }
    assertAnswered(
      seen.map(({ text }) => text),
      seen.map(({ calls }) => calls.length),
    )
  })

  test('openai: responses', async () => {
    const client = new OpenAI({ apiKey: 'none', baseURL: `${server.url}/v1`, maxRetries: 0 })
    const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: 'Is it sunny?' }]
    const seen: openai.AssembledResponse[] = []
    while (seen.length === 0 || seen.at(-1)?.calls.length) {
      const params = { model: 'script', input, store: false, stream: true as const, ...responses.declareTools(tools) }
      const stream = await client.responses.create(params)
      const response = await responses.assembleStream(responses.createAssembler({ tools }), stream)
      input.push(...responses.toHistory<OpenAI.Responses.ResponseInputItem>(response, results(response), { tools }))
      seen.push(response)
    }
    assertAnswered(
      seen.map(({ text }) => text),
      seen.map(({ calls }) => calls.length),
    )
  })

  test('anthropic', async () => {
    const client = new Anthropic({ apiKey: 'none', baseURL: server.url, maxRetries: 0 })
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Is it sunny?' }]
    const seen: openai.AssembledResponse[] = []
    while (seen.length === 0 || seen.at(-1)?.calls.length) {
      const params = {
        model: 'script',
        max_tokens: 2000,
        messages,
        stream: true as const,
        ...anthropic.declareTools(tools),
      }
      const stream = await client.messages.create(params)
      const response = await anthropic.assembleStream(anthropic.createAssembler({ tools }), stream)
      messages.push(...anthropic.toHistory(response, results(response), { tools }))
      seen.push(response)
    }
    assertAnswered(
      seen.map(({ text }) => text),
      seen.map(({ calls }) => calls.length),
    )
  })

  test('genai: interactions', async () => {
    const client = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: server.url } })
    const input: Interactions.Step[] = [{ type: 'user_input', content: [{ type: 'text', text: 'Is it sunny?' }] }]
    const seen: openai.AssembledResponse[] = []
    while (seen.length === 0 || seen.at(-1)?.calls.length) {
      const params = {
        model: 'script',
        input,
        store: false,
        stream: true as const,
        ...interactions.declareTools(tools),
      }
      const stream = await client.interactions.create(params)
      const response = await interactions.assembleStream(interactions.createAssembler({ tools }), stream)
      input.push(...interactions.toHistory<Interactions.Step>(response, results(response), { tools }))
      seen.push(response)
    }
    assertAnswered(
      seen.map(({ text }) => text),
      seen.map(({ calls }) => calls.length),
    )
  })

  test('genai', async () => {
    const client = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: server.url } })
    const contents: Content[] = [{ role: 'user', parts: [{ text: 'Is it sunny?' }] }]
    const seen: openai.AssembledResponse[] = []
    while (seen.length === 0 || seen.at(-1)?.calls.length) {
      const config = gemini.declareTools(tools, { toolChoice: 'auto' })
      const stream = await client.models.generateContentStream({ model: 'script', contents, config })
      const response = await gemini.assembleStream(gemini.createAssembler({ tools }), stream)
      contents.push(...gemini.toHistory(response, results(response), { tools }))
      seen.push(response)
    }
    assertAnswered(
      seen.map(({ text }) => text),
      seen.map(({ calls }) => calls.length),
    )
  })
})
