import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { splitRunnableCalls } from '../../src/model/fold.ts'
import { isObject } from '../../src/model/json.ts'
import type { ModelRequest } from '../../src/model/request.ts'
import type { Turn, WireId } from '../../src/model/turn.ts'
import { createModel, createHttpClient } from '../../src/provider/http/node-http-client.ts'
import { providers } from '../../src/provider/providers.ts'
import type { Environment } from '../../src/provider/endpoint.ts'
import { loadWire } from '../../src/wire/wires.ts'
import manifest from '../../package.json' with { type: 'json' }
import { root } from '../support/paths.ts'
import { answers } from './support/answers.ts'
import { aimed, answerOf, question, SECRET } from './support/ask.ts'
import { type Heard, reply, serve, stream } from './support/server.ts'

interface Expected {
  readonly model: string
  /** What stands before the path in the overridden base URL, as it stands in the vendor's own. */
  readonly base: string
  readonly path: string
  /** For answers that are not streamed, where it is another. */
  readonly whole?: string
  readonly auth: readonly [header: string, value: string]
  readonly env?: Environment
  /** Fields of the first request. */
  readonly body?: Record<string, unknown>
  /** Fields of the message that holds the call, in the second request. */
  readonly callMessage?: Record<string, unknown>
  readonly headers?: Record<string, string>
}

const bearer = ['authorization', `Bearer ${SECRET}`] as const
const chat = { path: '/chat/completions', auth: bearer }

const EXPECTED: Readonly<Record<string, Expected>> = {
  gemini: {
    model: 'gemini-2.5-pro',
    base: '',
    path: '/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
    whole: '/v1beta/models/gemini-2.5-pro:generateContent',
    auth: ['x-goog-api-key', SECRET],
    body: { generationConfig: { maxOutputTokens: 900, temperature: 0.5, thinkingConfig: { includeThoughts: true } } },
  },
  vertex: {
    model: 'gemini-3.8-flash',
    base: '',
    path: '/v1beta1/publishers/google/models/gemini-3.8-flash:streamGenerateContent?alt=sse',
    whole: '/v1beta1/publishers/google/models/gemini-3.8-flash:generateContent',
    auth: ['x-goog-api-key', SECRET],
  },
  'gemini-interactions': {
    model: 'gemini-3.8-flash',
    base: '',
    path: '/v1beta/interactions',
    auth: ['x-goog-api-key', SECRET],
    // Nothing is kept on the server (T84).
    body: { store: false, generation_config: { max_output_tokens: 900, temperature: 0.5, thinking_summaries: 'auto' } },
  },
  'vertex-interactions': {
    model: 'gemini-3.8-flash',
    base: '',
    path: '/v1beta1/interactions',
    auth: ['x-goog-api-key', SECRET],
  },
  'code-assist': {
    model: 'gemini-2.5-pro',
    base: '',
    path: '/v1internal:streamGenerateContent?alt=sse',
    whole: '/v1internal:generateContent',
    auth: bearer,
    env: { GOOGLE_CLOUD_PROJECT: 'my-project' },
    body: { model: 'gemini-2.5-pro', project: 'my-project' },
  },
  'gemini-openai': { ...chat, model: 'gemini-2.5-flash', base: '/v1beta/openai', body: { max_tokens: 900 } },
  openai: {
    model: 'gpt-5.4',
    base: '/v1',
    path: '/responses',
    auth: bearer,
    // A model that reasons refuses a temperature (T155); nothing is kept on the server (T84).
    body: { store: false, include: ['reasoning.encrypted_content'], max_output_tokens: 900, temperature: undefined },
  },
  'openai-chat': { ...chat, model: 'gpt-4.1', base: '/v1', body: { max_completion_tokens: 900, temperature: 0.5 } },
  anthropic: {
    model: 'claude-sonnet-5',
    base: '',
    path: '/v1/messages',
    auth: ['x-api-key', SECRET],
    headers: { 'anthropic-version': '2023-06-01' },
    body: { max_tokens: 900, cache_control: { type: 'ephemeral' }, temperature: undefined },
  },
  openrouter: {
    ...chat,
    model: 'google/gemini-2.5-flash',
    base: '/api/v1',
    headers: { 'x-title': 'Dragoman' },
    body: { provider: { require_parameters: true }, max_tokens: 900 },
  },
  kilocode: { ...chat, model: 'anthropic/claude-sonnet-4.5', base: '/api/gateway', body: { max_tokens: 900 } },
  deepseek: {
    ...chat,
    model: 'deepseek-v4-pro',
    base: '',
    body: { max_tokens: 900 },
    callMessage: { reasoning_content: '' }, // T75
  },
  xai: { ...chat, model: 'grok-4.3', base: '/v1' },
  mistral: {
    ...chat,
    model: 'mistral-medium-latest',
    base: '/v1',
    body: { max_tokens: 900, stream_options: undefined }, // T155
  },
  moonshot: {
    ...chat,
    model: 'kimi-k2.6',
    base: '/v1',
    body: { temperature: undefined }, // T155
    callMessage: { reasoning_content: '', content: undefined }, // T75, T86
  },
  zai: { ...chat, model: 'glm-5.3', base: '/api/paas/v4', body: { max_tokens: 900, parallel_tool_calls: undefined } },
  minimax: {
    model: 'MiniMax-M2.7',
    base: '/anthropic',
    path: '/v1/messages',
    auth: ['x-api-key', SECRET],
    headers: { 'anthropic-version': '2023-06-01' },
    body: { max_tokens: 900, cache_control: undefined },
  },
  dashscope: {
    ...chat,
    model: 'qwen3-coder-plus',
    base: '/compatible-mode/v1',
    body: { max_tokens: 900, parallel_tool_calls: undefined }, // T154
  },
  groq: { ...chat, model: 'openai/gpt-oss-120b', base: '/openai/v1', body: { prompt_cache_key: undefined } },
  cerebras: { ...chat, model: 'gpt-oss-120b', base: '/v1' },
  fireworks: { ...chat, model: 'accounts/fireworks/models/gpt-oss-120b', base: '/inference/v1' },
  together: { ...chat, model: 'openai/gpt-oss-120b', base: '/v1' },
  deepinfra: { ...chat, model: 'openai/gpt-oss-120b', base: '/v1/openai' },
  featherless: { ...chat, model: 'openai/gpt-oss-120b', base: '/v1' },
  perplexity: { ...chat, model: 'sonar-pro', base: '', body: { max_tokens: 900 } },
  nebius: { ...chat, model: 'openai/gpt-oss-120b', base: '/v1', body: { max_tokens: 900 } },
  sambanova: { ...chat, model: 'gpt-oss-120b', base: '/v1', body: { max_tokens: 900 } },
  nvidia: { ...chat, model: 'openai/gpt-oss-120b', base: '/v1', body: { max_tokens: 900 } },
  vercel: { ...chat, model: 'anthropic/claude-sonnet-5', base: '/v1', body: { max_tokens: 900 } },
  bedrock: { ...chat, model: 'openai.gpt-oss-120b', base: '/v1' },
  'bedrock-responses': {
    model: 'openai.gpt-oss-120b',
    base: '/v1',
    path: '/responses',
    auth: bearer,
    body: { store: false },
  },
  azure: { model: 'gpt-4.1', base: '/openai/v1', path: '/responses', auth: bearer, body: { max_output_tokens: 900 } },
  'azure-chat': { ...chat, model: 'gpt-4.1', base: '/openai/v1', body: { max_completion_tokens: 900 } },
  snowflake: { ...chat, model: 'llama3.1-70b', base: '/api/v2/cortex/v1' },
  cloudflare: { ...chat, model: '@cf/openai/gpt-oss-120b', base: '/client/v4/accounts/x/ai/v1' },
  'cloudflare-gateway': { ...chat, model: 'workers-ai/@cf/openai/gpt-oss-120b', base: '/v1/x/x/compat' },
  github: { ...chat, model: 'openai/gpt-4.1', base: '/inference' },
  huggingface: { ...chat, model: 'openai/gpt-oss-120b', base: '/v1' },
  litellm: { ...chat, model: 'gpt-4o', base: '/v1', body: { max_tokens: 900 } },
  lmstudio: { ...chat, model: 'qwen3-8b', base: '/v1', body: { max_tokens: 900, parallel_tool_calls: undefined } },
  ollama: { ...chat, model: 'llama3.3', base: '/v1', body: { max_tokens: 900 } },
  llamacpp: { ...chat, model: 'tiny', base: '/v1', body: { max_tokens: 900 } },
  vllm: { ...chat, model: 'Qwen/Qwen3-8B', base: '/v1', body: { max_tokens: 900 } },
}

test('no row has more than 12 lines', () => {
  const text = readFileSync(join(root, 'src/provider/providers.ts'), 'utf8')
  const lengths = [...text.matchAll(/^  \{\n[\s\S]*?^  \},$/gm)].map(([row]) => row.split('\n').length)
  assert.equal(lengths.length, providers.length)
  assert.ok(Math.max(...lengths) <= 12, String(lengths))
})

test('every row has its expectation', () => {
  assert.deepEqual(providers.map(({ id }) => id).sort(), Object.keys(EXPECTED).sort())
  for (const { id, url } of providers) {
    const filled = url.replace(/\{[\w|]+\}/g, 'x')
    assert.ok(URL.canParse(filled), id)
    assert.equal(new URL(filled).pathname.replace(/\/$/, ''), EXPECTED[id]?.base, id)
  }
})

/** The fields that a request has on each wire, and those by which a row differs: nothing else may be sent. */
const FIELDS: Readonly<Record<WireId, string>> = {
  gemini: 'systemInstruction tools generationConfig contents',
  interactions: 'model system_instruction tools generation_config store stream input',
  'code-assist': 'model project request',
  'openai-chat': 'model stream stream_options max_tokens temperature parallel_tool_calls tools messages',
  'openai-responses':
    'model stream store include instructions max_output_tokens temperature parallel_tool_calls prompt_cache_key tools input',
  anthropic: 'model stream max_tokens temperature system tools messages',
}
const OTHER_FIELDS: Readonly<Record<string, { plus?: string; minus?: string }>> = {
  openai: { minus: 'temperature' },
  'openai-chat': { plus: 'max_completion_tokens prompt_cache_key', minus: 'max_tokens' },
  anthropic: { plus: 'cache_control', minus: 'temperature' },
  openrouter: { plus: 'provider prompt_cache_key' },
  xai: { plus: 'max_completion_tokens', minus: 'max_tokens' },
  mistral: { plus: 'prompt_cache_key', minus: 'stream_options' },
  moonshot: { plus: 'max_completion_tokens prompt_cache_key', minus: 'max_tokens temperature' },
  zai: { minus: 'parallel_tool_calls' },
  dashscope: { minus: 'parallel_tool_calls' },
  groq: { plus: 'max_completion_tokens', minus: 'max_tokens' },
  cerebras: { plus: 'max_completion_tokens', minus: 'max_tokens' },
  lmstudio: { minus: 'parallel_tool_calls' },
  bedrock: { plus: 'max_completion_tokens', minus: 'max_tokens' },
  'azure-chat': { plus: 'max_completion_tokens prompt_cache_key', minus: 'max_tokens' },
  snowflake: { plus: 'max_completion_tokens', minus: 'max_tokens' },
  github: { plus: 'max_completion_tokens', minus: 'max_tokens' },
}
const HEADERS = 'accept accept-encoding cache-control connection content-length content-type host user-agent'.split(' ')

/** Nothing is sent but what is expected. */
function checkNames({ body, headers }: Heard, id: string, expected: Expected, streamed: boolean): void {
  const wire = providers.find((row) => row.id === id)?.wire ?? 'openai-chat'
  const { plus = '', minus = '' } = OTHER_FIELDS[id] ?? {}
  const without = new Set([...minus.split(' '), ...(streamed ? [] : ['stream_options'])])
  const fields = `${FIELDS[wire]} ${plus}`
    .trim()
    .split(' ')
    .filter((name) => !without.has(name))
  assert.deepEqual(Object.keys(body).sort(), fields.sort())
  const inner = body['request']
  if (isObject(inner)) assert.deepEqual(Object.keys(inner).sort(), `${FIELDS.gemini} session_id`.split(' ').sort())
  const names = [...HEADERS, expected.auth[0], ...Object.keys(expected.headers ?? {})]
  assert.deepEqual(Object.keys(headers).sort(), names.sort())
}

for (const { id } of providers) {
  for (const streamed of [true, false]) {
    const how = streamed ? 'streaming' : 'whole'
    test(`${id}: a tool round trip, ${how}`, async (t) => {
      const expected = EXPECTED[id]
      assert.ok(expected)
      const { heard, first, second } = await roundTrip(id, expected, streamed, t)
      assert.equal(heard.length, 2)
      for (const one of heard) {
        checkHead(one, expected, streamed)
        checkNames(one, id, expected, streamed)
      }
      await checkFirst(first, id, expected, streamed)
      checkSecond(second, id, expected)
    })
  }
}

async function roundTrip(id: string, expected: Expected, streamed: boolean, t: Parameters<typeof serve>[0]) {
  const row = providers.find((one) => one.id === id)
  assert.ok(row)
  const { url, heard } = await serve(t, (response, _heard, turn) => {
    const says = answers[row.wire]
    const answer = turn === 0 ? says.call('get_weather', { city: 'Oslo' }) : says.text('It rains.')
    if (streamed) stream(response, answer.events)
    else reply(response, answer.whole)
  })
  const target = aimed(`${id}/${expected.model}`, `${url}${expected.base}`, expected.env)
  const model = createModel(target, { httpClient: createHttpClient({}) })
  const request = question('How is the weather in Oslo?', {
    session: 'session-1',
    params: { maxTokens: 900, temperature: 0.5, parallelCalls: true, ...(!streamed && { stream: false }) },
  })
  const { turn } = await answerOf(model, request)
  assert.equal(turn.finish.reason, 'calls', JSON.stringify(turn))
  assert.deepEqual([turn.origin.provider, turn.origin.wire], [id, row.wire])
  assert.ok(turn.usage && turn.usage.input === 10)
  const [call] = splitRunnableCalls(turn).calls
  assert.deepEqual(call?.input, { city: 'Oslo' })
  const turns: Turn[] = [
    ...request.turns,
    turn,
    {
      role: 'results',
      parts: [
        { kind: 'result', id: call.id, name: call.name, status: 'ok', content: [{ kind: 'text', text: 'Rain' }] },
      ],
    },
  ]
  const answer = await answerOf(model, { ...request, turns })
  assert.deepEqual(
    answer.turn.parts.filter(({ kind }) => kind === 'text').map((part) => ('text' in part ? part.text : '')),
    ['It rains.'],
  )
  const [first, second] = heard
  assert.ok(first && second)
  return { heard, first, second }
}

function checkHead(one: Heard, expected: Expected, streamed: boolean): void {
  assert.equal(one.method, 'POST')
  assert.equal(one.url, expected.base + (streamed ? expected.path : (expected.whole ?? expected.path)))
  const { headers } = one
  assert.equal(headers[expected.auth[0]], expected.auth[1])
  for (const other of ['authorization', 'x-goog-api-key', 'x-api-key'])
    if (other !== expected.auth[0]) assert.equal(headers[other], undefined, other)
  assert.equal(headers['content-type'], 'application/json')
  assert.equal(headers['accept-encoding'], 'identity')
  assert.equal(headers['content-length'], String(Buffer.byteLength(JSON.stringify(one.body))))
  assert.equal(headers['transfer-encoding'], undefined)
  assert.ok(headers['user-agent']?.startsWith(`dragoman/${manifest.version}`))
  for (const [name, value] of Object.entries(expected.headers ?? {})) assert.equal(headers[name], value)
}

async function checkFirst(one: Heard, id: string, expected: Expected, streamed: boolean): Promise<void> {
  const row = providers.find((candidate) => candidate.id === id)
  assert.ok(row)
  for (const [name, value] of Object.entries(expected.body ?? {})) assert.deepEqual(one.body[name], value, name)
  const google = row.wire === 'gemini' || row.wire === 'code-assist'
  assert.equal(one.body['stream'], google ? undefined : streamed)
  if (row.wire !== 'gemini') assert.equal(one.body['model'], expected.model)
  const wire = await loadWire(row.wire)
  const meant: ModelRequest = wire.readRequest(one.body).request
  assert.equal(meant.system, 'Be brief.')
  assert.deepEqual(
    meant.tools.map(({ name, schema }) => ({ name, properties: schema['properties'] })),
    [{ name: 'get_weather', properties: { city: { type: 'string' } } }],
  )
  assert.deepEqual(meant.turns, [{ role: 'user', parts: [{ kind: 'text', text: 'How is the weather in Oslo?' }] }])
}

/** The call and its result go back in the wire's own form, under one id that the endpoint takes. */
function checkSecond({ body }: Heard, id: string, expected: Expected): void {
  const row = providers.find((candidate) => candidate.id === id)
  assert.ok(row)
  if (row.wire === 'gemini' || row.wire === 'code-assist') {
    const inner = isObject(body['request']) ? body['request'] : body
    const contents = inner['contents'] as { role: string; parts: Record<string, unknown>[] }[]
    assert.deepEqual(
      contents.map(({ role }) => role),
      ['user', 'model', 'user'],
    )
    assert.deepEqual(contents[1]?.parts, [
      { functionCall: { name: 'get_weather', args: { city: 'Oslo' } }, thoughtSignature: 'c2lnbmF0dXJl' },
    ])
    assert.deepEqual(contents[2]?.parts, [{ functionResponse: { name: 'get_weather', response: { output: 'Rain' } } }])
    return
  }
  if (row.wire === 'openai-responses') {
    const [, call, result] = body['input'] as Record<string, unknown>[]
    assert.equal(call?.['call_id'], 'call_native_1')
    assert.deepEqual(result, { type: 'function_call_output', call_id: 'call_native_1', output: 'Rain' })
    return
  }
  if (row.wire === 'interactions') {
    // The endpoint signed nothing, so the call has the documented placeholder before it (T189).
    assert.deepEqual((body['input'] as Record<string, unknown>[]).slice(1), [
      { type: 'thought', signature: 'skip_thought_signature_validator' },
      { type: 'function_call', id: 'call_native_1', name: 'get_weather', arguments: { city: 'Oslo' } },
      {
        type: 'function_result',
        call_id: 'call_native_1',
        name: 'get_weather',
        result: [{ type: 'text', text: 'Rain' }],
      },
    ])
    return
  }
  const messages = body['messages'] as Record<string, unknown>[]
  if (row.wire === 'anthropic') {
    const [use] = list(messages[1]?.['content'])
    const [result] = list(messages[2]?.['content'])
    assert.deepEqual(use, { type: 'tool_use', id: 'toolu_native_1', name: 'get_weather', input: { city: 'Oslo' } })
    assert.equal(result?.['tool_use_id'], 'toolu_native_1')
    return
  }
  const [system, user, assistant, tool] = messages
  assert.deepEqual(
    [system, user, assistant, tool].map((one) => one?.['role']),
    ['system', 'user', 'assistant', 'tool'],
  )
  const [call] = list(assistant?.['tool_calls']) as { id: string; function: { name: string; arguments: string } }[]
  assert.equal(call?.function.name, 'get_weather')
  assert.deepEqual(JSON.parse(call.function.arguments), { city: 'Oslo' })
  assert.equal(tool?.['tool_call_id'], call.id)
  assert.equal(tool['content'], 'Rain')
  for (const [name, value] of Object.entries(expected.callMessage ?? {})) assert.equal(assistant?.[name], value, name)
}

function list(value: unknown): Record<string, unknown>[] {
  assert.ok(Array.isArray(value))
  return value as Record<string, unknown>[]
}

describe('vertex', () => {
  test('with a token, the address names the project and the place', async (t) => {
    const { url, heard } = await serve(t, (response) => stream(response, answers.gemini.text('Yes.').events))
    const env = {
      GOOGLE_API_KEY: '',
      GOOGLE_CLOUD_ACCESS_TOKEN: SECRET,
      GOOGLE_CLOUD_PROJECT: 'p',
      GOOGLE_CLOUD_LOCATION: 'europe-west1',
    }
    await answerOf(createModel(aimed('vertex/gemini-2.5-pro', url, env), { httpClient: createHttpClient({}) }))
    const [one] = heard
    const path = '/v1beta1/projects/p/locations/europe-west1/publishers/google/models/gemini-2.5-pro'
    assert.equal(one?.url, `${path}:streamGenerateContent?alt=sse`)
    assert.equal(one.headers.authorization, `Bearer ${SECRET}`)
  })
})

test('mistral: an id that another model gave becomes one of nine letters (T95)', async (t) => {
  const { url, heard } = await serve(t, (response) => stream(response, answers['openai-chat'].text('Yes.').events))
  const turns: Turn[] = [
    { role: 'user', parts: [{ kind: 'text', text: 'Go.' }] },
    {
      role: 'assistant',
      origin: { provider: 'gemini', wire: 'gemini', model: 'gemini-2.5-pro' },
      parts: [{ kind: 'call', id: 'abcdefghij01234567890000', name: 'get_weather', raw: '{}', input: {} }],
      finish: { reason: 'calls' },
    },
    {
      role: 'results',
      parts: [{ kind: 'result', id: 'abcdefghij01234567890000', name: 'get_weather', status: 'ok', content: [] }],
    },
  ]
  const model = createModel(aimed('mistral/mistral-medium-latest', url), { httpClient: createHttpClient({}) })
  await answerOf(model, question('', { turns }))
  const messages = heard[0]?.body['messages'] as { tool_calls?: { id: string }[] }[]
  assert.match(messages.find((one) => one.tool_calls)?.tool_calls?.[0]?.id ?? '', /^[A-Za-z0-9]{9}$/)
})

test('docs/providers.md names every row, its wire, its variables and its usual model', () => {
  const text = readFileSync(join(root, 'docs/providers.md'), 'utf8')
  for (const { id, wire, keys, tokens = [], urls = [], model } of providers) {
    const line = text.split('\n').find((one) => one.startsWith(`| \`${id}\` |`)) ?? ''
    for (const word of [wire, ...keys, ...tokens, model ?? 'name one']) assert.ok(line.includes(word), `${id}: ${word}`)
    for (const variable of urls) assert.ok(text.includes(variable.replace(/^\{(\w+)\}.*/, '$1')), variable)
  }
})
