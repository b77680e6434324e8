import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import Anthropic, { RateLimitError as AnthropicRateLimitError } from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI, { RateLimitError as OpenAiRateLimitError } from 'openai'
import type { Gateway } from '../../src/gateway/gateway.ts'
import { type RehearsalServer, startRehearsalServer } from '../../src/rehearsal/server.ts'
import { wireIds } from '../../src/wire/wires.ts'
import { gatewayTo, TOKEN } from './support.ts'

const calls = [1, 2].map((n) => ({ name: 'read_file', args: { path: `${n}.txt`, depth: n } }))
const scripts = {
  parallel: {
    steps: [
      { think: 'Hm.', say: 'Both.', call: calls },
      { expect: { results: 'the content' }, say: 'Done.' },
    ],
  },
  cut: { steps: [{ say: 'Both.', call: calls, misbehave: [{ kind: 'cut' as const, at: 'arguments' as const }] }] },
  busy: { steps: [{ misbehave: [{ kind: 'status' as const, status: 429, hint: 'none' as const }] }] },
}
const parameters = { type: 'object', properties: { path: { type: 'string' }, depth: { type: 'number' } } } as const
const made = calls.map(({ name, args }) => [name, args])

let rehearsal: RehearsalServer
let gateway: Gateway
before(async () => {
  rehearsal = await startRehearsalServer({ scripts })
  gateway = await gatewayTo(rehearsal, wireIds, { hasNoDefault: true })
})
after(async () => {
  await gateway.close()
  await rehearsal.close()
})

for (const upstream of wireIds)
  describe(`official SDKs, with a model on ${upstream}`, () => {
    const model = `up-${upstream}/parallel`

    test('openai, chat: a stream with calls, their results, and an error', async () => {
      const client = new OpenAI({ apiKey: TOKEN, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
      const tools = [{ type: 'function', function: { name: 'read_file', parameters } }] as OpenAI.ChatCompletionTool[]
      const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Go.' }]
      const first = await client.chat.completions.stream({ model, tools, messages }).finalChatCompletion()
      const message = first.choices[0]?.message
      assert.equal(first.choices[0]?.finish_reason, 'tool_calls')
      const found = message?.tool_calls?.map((call) => (call.type === 'function' ? call.function : undefined))
      assert.deepEqual(
        found?.map((call) => [call?.name, JSON.parse(call?.arguments ?? '')]),
        made,
      )
      const results = (message?.tool_calls ?? []).map(({ id }) => ({
        role: 'tool' as const,
        tool_call_id: id,
        content: 'the content',
      }))
      messages.push(message as OpenAI.ChatCompletionMessage, ...results)
      const second = await client.chat.completions.create({ model, tools, messages })
      assert.equal(second.choices[0]?.message.content, 'Done.')
      await assert.rejects(
        client.chat.completions.create({ model: `up-${upstream}/busy`, messages: [{ role: 'user', content: 'Go.' }] }),
        OpenAiRateLimitError,
      )
    })

    test('openai, Responses: a stream with calls, their results, and an error', async () => {
      const client = new OpenAI({ apiKey: TOKEN, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
      const tools = [
        { type: 'function', name: 'read_file', parameters, strict: false },
      ] as OpenAI.Responses.FunctionTool[]
      const ask = { model, tools, store: false, include: ['reasoning.encrypted_content' as const] }
      const first = await client.responses.stream({ ...ask, input: 'Go.' }).finalResponse()
      const found = first.output.filter((item) => item.type === 'function_call')
      assert.deepEqual(
        found.map(({ name, arguments: args }) => [name, JSON.parse(args)]),
        made,
      )
      const input = [
        { role: 'user' as const, content: 'Go.' },
        ...first.output,
        ...found.map(({ call_id }) => ({ type: 'function_call_output' as const, call_id, output: 'the content' })),
      ] as OpenAI.Responses.ResponseInput
      const second = await client.responses.create({ ...ask, input })
      assert.equal(second.output_text, 'Done.')
      await assert.rejects(
        client.responses.create({ ...ask, model: `up-${upstream}/busy`, input: 'Go.' }),
        OpenAiRateLimitError,
      )
    })

    test('Anthropic: a stream with calls, their results, and an error', async () => {
      const client = new Anthropic({ apiKey: TOKEN, baseURL: gateway.url, maxRetries: 0 })
      const tools = [{ name: 'read_file', input_schema: parameters }] as unknown as Anthropic.Tool[]
      const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Go.' }]
      const first = await client.messages.stream({ model, tools, messages, max_tokens: 1000 }).finalMessage()
      assert.equal(first.stop_reason, 'tool_use')
      assert.ok(first.usage.input_tokens > 0)
      const found = first.content.filter((block) => block.type === 'tool_use')
      assert.deepEqual(
        found.map(({ name, input }) => [name, input]),
        made,
      )
      messages.push(
        { role: 'assistant', content: first.content as Anthropic.ContentBlockParam[] },
        {
          role: 'user',
          content: found.map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: 'the content' })),
        },
      )
      const second = await client.messages.create({ model, tools, messages, max_tokens: 1000 })
      assert.deepEqual(
        second.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])),
        ['Done.'],
      )
      await assert.rejects(
        client.messages.create({
          model: `up-${upstream}/busy`,
          messages: [{ role: 'user', content: 'Go.' }],
          max_tokens: 10,
        }),
        AnthropicRateLimitError,
      )
    })

    test('Google: a stream with calls, their results, and an error', async () => {
      const client = new GoogleGenAI({
        apiKey: TOKEN,
        httpOptions: { baseUrl: gateway.url, retryOptions: { attempts: 1 } },
      })
      const config = { tools: [{ functionDeclarations: [{ name: 'read_file', parametersJsonSchema: parameters }] }] }
      const user = { role: 'user', parts: [{ text: 'Go.' }] }
      // The name of a model is part of the path.
      const path = `models/${model}`
      const parts = []
      for await (const chunk of await client.models.generateContentStream({ model: path, contents: [user], config }))
        parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []))
      const found = parts.flatMap((part) => part.functionCall ?? [])
      assert.deepEqual(
        found.map(({ name, args }) => [name, args]),
        made,
      )
      const responses = found.map(({ id, name }) => ({
        functionResponse: { ...(id !== undefined && { id }), name: name ?? '', response: { output: 'the content' } },
      }))
      const contents = [user, { role: 'model', parts }, { role: 'user', parts: responses }]
      const second = await client.models.generateContent({ model: path, contents, config })
      assert.equal(second.text, 'Done.')
      await assert.rejects(
        client.models.generateContent({ model: `models/up-${upstream}/busy`, contents: [user] }),
        /429/,
      )
    })

    test('a response that broke off is an error for each of them, and no call', async () => {
      const cut = `up-${upstream}/cut`
      const openai = new OpenAI({ apiKey: TOKEN, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
      const anthropic = new Anthropic({ apiKey: TOKEN, baseURL: gateway.url, maxRetries: 0 })
      const google = new GoogleGenAI({
        apiKey: TOKEN,
        httpOptions: { baseUrl: gateway.url, retryOptions: { attempts: 1 } },
      })
      const messages = [{ role: 'user' as const, content: 'Go.' }]
      await assert.rejects(openai.chat.completions.stream({ model: cut, messages }).finalChatCompletion())
      await assert.rejects(openai.responses.stream({ model: cut, input: 'Go.' }).finalResponse())
      await assert.rejects(anthropic.messages.stream({ model: cut, messages, max_tokens: 1000 }).finalMessage())
      let text = ''
      await assert.rejects(async () => {
        const stream = await google.models.generateContentStream({ model: `models/${cut}`, contents: 'Go.' })
        for await (const chunk of stream) {
          text += chunk.text ?? ''
          assert.equal(chunk.functionCalls, undefined)
        }
      })
      assert.equal(text, 'Both.')
    })
  })
