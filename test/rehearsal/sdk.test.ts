import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI, { BadRequestError } from 'openai'
import { type RehearsalServer, startRehearsalServer } from '../../src/rehearsal/server.ts'
import type { RehearsalScript } from '../../src/rehearsal/script/script.ts'

const calls = [1, 2].map((n) => ({ name: 'read_file', args: { path: `${n}.txt`, depth: n } }))

const scripts: Record<string, RehearsalScript> = {
  text: { steps: [{ say: 'Some words, and 世界 🌍.' }] },
  thought: { steps: [{ think: 'I think first.', say: 'Then I speak.' }] },
  call: { steps: [{ call: calls.slice(0, 1) }, { expect: { results: 'the content' }, say: 'Read.' }] },
  parallel: { steps: [{ say: 'Both.', call: calls }, { say: 'Done.' }] },
  busy: {
    steps: [{ misbehave: [{ kind: 'status', status: 429, hint: 'milliseconds', wait: 5, times: 1 }], say: 'At last.' }],
  },
  long: { steps: [{ say: { text: 'word ', times: 4000 }, pieces: 20_000 }] },
}

let rehearsal: RehearsalServer
before(async () => {
  rehearsal = await startRehearsalServer({ scripts })
})
after(() => rehearsal.close())

const parameters = { type: 'object', properties: { path: { type: 'string' }, depth: { type: 'number' } } } as const
const args = (n: number) => ({ path: `${n}.txt`, depth: n })

describe('the openai SDK, chat', () => {
  const client = () => new OpenAI({ apiKey: 'none', baseURL: `${rehearsal.url}/v1`, maxRetries: 2 })
  const tools = [{ type: 'function', function: { name: 'read_file', parameters } }] as OpenAI.ChatCompletionTool[]
  const ask = (model: string) =>
    ({ model, tools, messages: [{ role: 'user', content: 'Go.' }] }) satisfies OpenAI.ChatCompletionCreateParams

  for (const way of ['stream', 'whole']) {
    const complete = (model: string) =>
      way === 'stream'
        ? client().chat.completions.stream(ask(model)).finalChatCompletion()
        : client().chat.completions.create(ask(model))

    test(`text, ${way}`, async () => {
      const { choices } = await complete('text')
      assert.equal(choices[0]?.message.content, 'Some words, and 世界 🌍.')
      assert.equal(choices[0]?.finish_reason, 'stop')
    })
    test(`parallel calls, ${way}`, async () => {
      const { choices } = await complete('rehearsal/parallel')
      const made = choices[0]?.message.tool_calls?.map((call) => (call.type === 'function' ? call.function : undefined))
      assert.equal(choices[0]?.finish_reason, 'tool_calls')
      assert.equal(choices[0]?.message.content, 'Both.')
      assert.deepEqual(
        made?.map((call) => [call?.name, JSON.parse(call?.arguments ?? '')]),
        [1, 2].map((n) => ['read_file', args(n)]),
      )
    })
  }

  test('a thought, whole', async () => {
    const { choices } = await client().chat.completions.create(ask('thought'))
    assert.match(JSON.stringify(choices[0]?.message), /"reasoning_content":"I think first."/)
  })

  test('usage at the end of a stream', async () => {
    const stream = await client().chat.completions.create({
      ...ask('text'),
      stream: true,
      stream_options: { include_usage: true },
    })
    let total = 0
    for await (const chunk of stream) total += chunk.usage?.total_tokens ?? 0
    assert.ok(total > 0)
  })

  test('a result goes back, and the next step answers', async () => {
    const first = await client().chat.completions.create(ask('call'))
    const message = first.choices[0]?.message
    assert.ok(message?.tool_calls?.[0])
    const result = { role: 'tool' as const, tool_call_id: message.tool_calls[0].id, content: 'the content' }
    const second = await client().chat.completions.create({
      ...ask('call'),
      messages: [...ask('call').messages, message, result],
    })
    assert.equal(second.choices[0]?.message.content, 'Read.')
  })

  test('a refused transcript is a BadRequestError with the vendor’s sentence', async () => {
    const messages = [{ role: 'tool' as const, tool_call_id: 'x', content: 'y' }]
    await assert.rejects(client().chat.completions.create({ ...ask('call'), messages }), (error) => {
      return error instanceof BadRequestError && /must be a response to a preceeding message/.test(error.message)
    })
  })

  test('it waits and tries again after 429', async () => {
    const { choices } = await client().chat.completions.create(ask('busy'))
    assert.equal(choices[0]?.message.content, 'At last.')
  })

  test('the models are listed', async () => {
    const ids: string[] = []
    for await (const model of client().models.list()) ids.push(model.id)
    assert.deepEqual(ids, Object.keys(scripts))
  })

  test('twenty thousand chunks', async () => {
    let chunks = 0
    for await (const _chunk of await client().chat.completions.create({ ...ask('long'), stream: true })) chunks++
    assert.ok(chunks > 20_000)
  })
})

describe('the openai SDK, Responses', () => {
  const client = () => new OpenAI({ apiKey: 'none', baseURL: `${rehearsal.url}/v1` })
  const tools = [{ type: 'function', name: 'read_file', parameters, strict: false }] as OpenAI.Responses.FunctionTool[]
  const ask = (model: string) => ({ model, tools, input: 'Go.' })

  for (const way of ['stream', 'whole']) {
    const complete = (model: string) =>
      way === 'stream' ? client().responses.stream(ask(model)).finalResponse() : client().responses.create(ask(model))

    test(`text, ${way}`, async () => {
      const response = await complete('text')
      assert.equal(response.output_text, 'Some words, and 世界 🌍.')
      assert.equal(response.status, 'completed')
    })
    test(`a thought, ${way}`, async () => {
      const { output, output_text: text } = await complete('thought')
      assert.equal(text, 'Then I speak.')
      assert.deepEqual(
        output.flatMap((item) => (item.type === 'reasoning' ? item.summary.map((part) => part.text) : [])),
        ['I think first.'],
      )
    })
    test(`parallel calls, ${way}`, async () => {
      const { output } = await complete('parallel')
      const made = output.flatMap((item) =>
        item.type === 'function_call' ? [[item.name, JSON.parse(item.arguments)]] : [],
      )
      assert.deepEqual(
        made,
        [1, 2].map((n) => ['read_file', args(n)]),
      )
    })
  }

  test('the next step answers, whether the history is sent or kept', async () => {
    const first = await client().responses.create(ask('call'))
    const [call] = first.output
    assert.equal(call?.type, 'function_call')
    const output = { type: 'function_call_output' as const, call_id: call.call_id, output: 'the content' }
    const sent = await client().responses.create({
      ...ask('call'),
      input: [{ role: 'user', content: 'Go.' }, call, output],
    })
    assert.equal(sent.output_text, 'Read.')
    const kept = await client().responses.create({ ...ask('call'), input: [output], previous_response_id: first.id })
    assert.equal(kept.output_text, 'Read.')
  })
})

describe('the Anthropic SDK', () => {
  const client = () => new Anthropic({ apiKey: 'none', baseURL: rehearsal.url })
  const tools = [{ name: 'read_file', input_schema: parameters }] as Anthropic.Tool[]
  const ask = (model: string) =>
    ({
      model,
      tools,
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Go.' }],
    }) satisfies Anthropic.MessageCreateParams

  for (const way of ['stream', 'whole']) {
    const complete = (model: string): Promise<Anthropic.Message> =>
      way === 'stream' ? client().messages.stream(ask(model)).finalMessage() : client().messages.create(ask(model))

    test(`text, ${way}`, async () => {
      const { content, stop_reason: reason } = await complete('text')
      assert.deepEqual(
        content.map((block) => (block.type === 'text' ? block.text : block.type)),
        ['Some words, and 世界 🌍.'],
      )
      assert.equal(reason, 'end_turn')
    })
    test(`a thought, ${way}`, async () => {
      const [thought, text] = (await complete('thought')).content
      assert.equal(thought?.type === 'thinking' && thought.thinking, 'I think first.')
      assert.ok(thought?.type === 'thinking' && thought.signature.length > 10)
      assert.equal(text?.type === 'text' && text.text, 'Then I speak.')
    })
    test(`parallel calls, ${way}`, async () => {
      const { content, stop_reason: reason, usage } = await complete('parallel')
      assert.deepEqual(
        content.flatMap((block) => (block.type === 'tool_use' ? [[block.name, block.input]] : [])),
        [1, 2].map((n) => ['read_file', args(n)]),
      )
      assert.equal(reason, 'tool_use')
      assert.ok(usage.output_tokens > 1)
    })
  }

  test('a result goes back, and the next step answers', async () => {
    const { content } = await client().messages.create(ask('call'))
    const [call] = content
    assert.equal(call?.type, 'tool_use')
    const result = { type: 'tool_result' as const, tool_use_id: call.id, content: 'the content' }
    const messages = [
      ...ask('call').messages,
      { role: 'assistant' as const, content },
      { role: 'user' as const, content: [result] },
    ]
    const second = await client().messages.create({ ...ask('call'), messages })
    assert.equal(second.content[0]?.type === 'text' && second.content[0].text, 'Read.')
  })

  test('the models are listed, and tokens are counted', async () => {
    const ids: string[] = []
    for await (const model of client().models.list()) ids.push(model.id)
    assert.deepEqual(ids, Object.keys(scripts))
    const { input_tokens: tokens } = await client().messages.countTokens({
      model: 'text',
      messages: ask('text').messages,
    })
    assert.ok(tokens > 0)
  })
})

describe('the Google SDK', () => {
  const client = () => new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: rehearsal.url } })
  const config = { tools: [{ functionDeclarations: [{ name: 'read_file', parametersJsonSchema: parameters }] }] }
  const ask = (model: string) => ({ model, contents: 'Go.', config })

  test('text, stream', async () => {
    let text = ''
    for await (const chunk of await client().models.generateContentStream(ask('text'))) text += chunk.text ?? ''
    assert.equal(text, 'Some words, and 世界 🌍.')
  })
  test('text, whole, under the long name', async () => {
    const response = await client().models.generateContent(ask('rehearsal/text'))
    assert.equal(response.text, 'Some words, and 世界 🌍.')
    assert.equal(response.candidates?.[0]?.finishReason, 'STOP')
    assert.ok((response.usageMetadata?.totalTokenCount ?? 0) > 0)
  })
  test('a thought, whole', async () => {
    const { candidates } = await client().models.generateContent(ask('thought'))
    const parts = candidates?.[0]?.content?.parts ?? []
    assert.deepEqual(
      parts.map((part) => [part.thought ?? false, part.text]),
      [
        [true, 'I think first.'],
        [false, 'Then I speak.'],
      ],
    )
  })
  test('parallel calls, stream and whole', async () => {
    const wanted = [1, 2].map((n) => ['read_file', args(n)])
    const whole = await client().models.generateContent(ask('parallel'))
    assert.deepEqual(
      whole.functionCalls?.map((call) => [call.name, call.args]),
      wanted,
    )
    const streamed: unknown[] = []
    for await (const chunk of await client().models.generateContentStream(ask('parallel')))
      streamed.push(...(chunk.functionCalls ?? []).map((call) => [call.name, call.args]))
    assert.deepEqual(streamed, wanted)
  })
  test('a chat goes on with the result', async () => {
    const chat = client().chats.create({ model: 'call', config })
    const first = await chat.sendMessage({ message: 'Go.' })
    const [call] = first.functionCalls ?? []
    const response = { id: call?.id ?? '', name: 'read_file', response: { output: 'the content' } }
    const second = await chat.sendMessage({ message: [{ functionResponse: response }] })
    assert.equal(second.text, 'Read.')
  })
  test('the models are listed', async () => {
    const names: (string | undefined)[] = []
    for await (const model of await client().models.list()) names.push(model.name)
    assert.deepEqual(
      names,
      Object.keys(scripts).map((name) => `models/${name}`),
    )
  })
})

test('nothing failed but the transcript that was meant to', () => {
  assert.deepEqual(
    rehearsal.failures.map(({ wire, script }) => [wire, script]),
    [['openai-chat', 'call']],
  )
})

describe('the Google SDK, Interactions', () => {
  const client = () => new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: rehearsal.url } }).interactions
  const tools = [{ type: 'function', name: 'read_file', parameters }] as const
  const ask = (model: string) => ({ model, input: 'Go.', store: false, tools: [...tools] })

  test('text, stream and whole', async () => {
    let text = ''
    for await (const event of await client().create({ ...ask('text'), stream: true }))
      if (event.event_type === 'step.delta' && event.delta.type === 'text') text += event.delta.text
    assert.equal(text, 'Some words, and 世界 🌍.')
    const whole = await client().create(ask('rehearsal/text'))
    assert.deepEqual([whole.output_text, whole.status], [text, 'completed'])
    assert.ok((whole.usage?.total_tokens ?? 0) > 0)
  })
  test('a thought, whole: its summary and its signature', async () => {
    const { steps } = await client().create(ask('thought'))
    const [thought, output] = steps
    assert.deepEqual(thought?.type === 'thought' && thought.summary, [{ type: 'text', text: 'I think first.' }])
    assert.ok(thought?.type === 'thought' && thought.signature)
    assert.equal(output?.type, 'model_output')
  })
  test('a call and its result, in a history of the client', async () => {
    const first = await client().create(ask('call'))
    assert.equal(first.status, 'requires_action')
    const call = first.steps.find((step) => step.type === 'function_call')
    assert.deepEqual([call?.name, call?.arguments], ['read_file', args(1)])
    const second = await client().create({
      ...ask('call'),
      input: [
        { type: 'user_input', content: [{ type: 'text', text: 'Go.' }] },
        ...first.steps,
        { type: 'function_result', call_id: call?.id ?? '', name: 'read_file', result: 'the content' },
      ],
    })
    assert.equal(second.output_text, 'Read.')
  })
  test('a refused request is an error with the sentence of the vendor', async () => {
    const input = [{ type: 'function_result', call_id: 'nobody', result: 'x' }] as const
    await assert.rejects(client().create({ ...ask('text'), input: [...input] }), /belongs to no function call/)
  })
})
