import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { isObject } from '../../src/model/json.ts'
import type { ModelRequest, ToolSpec } from '../../src/model/request.ts'
import type { Turn } from '../../src/model/turn.ts'
import { createModel, createHttpClient } from '../../src/provider/http/node-http-client.ts'
import type { Capabilities } from '../../src/provider/provider-definition.ts'
import { providers } from '../../src/provider/providers.ts'
import { withAdaptation } from '../../src/provider/middleware/adaptation/with-adaptation.ts'
import { answers } from './support/answers.ts'
import { aimed, answerOf, question, weather } from './support/ask.ts'
import { type Heard, reply, serve, stream } from './support/server.ts'

type Body = Heard['body']

/** An endpoint that refuses what `wrong` finds in a body, with that error. */
async function strict(
  t: TestContext,
  name: string,
  wrong: (body: Body, heard: Heard) => object | undefined,
  status = 400,
  flags: Capabilities = {},
) {
  const wire = providers.find(({ id }) => name.startsWith(`${id}/`))?.wire ?? 'openai-chat'
  const { url, heard } = await serve(t, (response, one) => {
    const error = wrong(one.body, one)
    if (error) reply(response, { error }, status)
    else if (one.body['stream'] === false) reply(response, answers[wire].text('Yes.').whole)
    else stream(response, answers[wire].text('Yes.').events)
  })
  const learnt: Capabilities[] = []
  const post = createHttpClient({})
  const aim = aimed(name, url)
  const model = withAdaptation(
    { ...aim, profile: { ...aim.profile, ...flags } },
    (target) => createModel(target, { httpClient: post }),
    (facts) => learnt.push(facts),
  )
  return { model, heard, learnt }
}

const params: ModelRequest['params'] = {
  temperature: 0.5,
  topP: 0.9,
  maxTokens: 500,
  effort: 'low',
  parallelCalls: true,
}
const asking = (more: Partial<ModelRequest> = {}): ModelRequest => question('Hi', { params, session: 's', ...more })

/** Refusals of one parameter, as they are worded out there: a name, a test of the body, and the error. */
const PARAMETERS: readonly [
  name: string,
  model: string,
  has: (body: Body) => boolean,
  error: object,
  facts: Capabilities,
][] = [
  [
    'OpenAI, by param',
    'openai-chat/my-model',
    (body) => 'temperature' in body,
    {
      message: "Unsupported parameter: 'temperature' is not supported with this model.",
      param: 'temperature',
      code: 'unsupported_parameter',
    },
    { refuses: ['temperature'] },
  ],
  [
    'OpenAI, another name for the limit',
    'groq/my-model',
    (body) => 'max_completion_tokens' in body,
    { message: 'Unrecognized request argument supplied: max_completion_tokens', type: 'invalid_request_error' },
    { maxTokensField: 'max_tokens' },
  ],
  [
    'xAI, in camel case',
    'xai/grok-latest',
    (body) => 'reasoning_effort' in body,
    { message: 'Model grok-build does not support parameter reasoningEffort.' },
    { refuses: ['reasoning_effort'] },
  ],
  [
    'FastAPI',
    'vllm/my-model',
    (body) => 'stream_options' in body,
    { detail: [{ loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted', type: 'extra_forbidden' }] },
    { refuses: ['stream_options'] },
  ],
  [
    'Anthropic',
    'anthropic/claude-opus-4-6',
    (body) => 'output_config' in body,
    { type: 'invalid_request_error', message: 'output_config: Extra inputs are not permitted' },
    { refuses: ['output_config'] },
  ],
  [
    'Anthropic, inside tools',
    'anthropic/claude-sonnet-5-5',
    (body) => JSON.stringify(body['tools']).includes('eager_input_streaming'),
    {
      type: 'invalid_request_error',
      message: 'tools.0.custom.eager_input_streaming: Extra inputs are not permitted',
    },
    { eagerArguments: false },
  ],
  [
    'Responses, inside another',
    'openai/my-model',
    (body) => isObject(body['reasoning']) && 'effort' in body['reasoning'],
    {
      message: "Unsupported value: 'low' is not supported with this model.",
      param: 'reasoning.effort',
      code: 'unsupported_value',
    },
    { refuses: ['reasoning.effort'] },
  ],
  [
    'Gemini, inside the config',
    'gemini/gemini-2.5-flash',
    (body) => isObject(body['generationConfig']) && 'thinkingConfig' in body['generationConfig'],
    {
      code: 400,
      status: 'INVALID_ARGUMENT',
      message:
        'Invalid JSON payload received. Unknown name "thinkingConfig" at \'generation_config\': Cannot find field.',
    },
    { refuses: ['thinkingConfig'] },
  ],
  [
    'OpenRouter, our own extra',
    'openrouter/my/model',
    (body) => 'provider' in body,
    { message: 'Unrecognized key: "provider"', code: 400 },
    { refuses: ['provider'] },
  ],
]

describe('a parameter that is refused by name is left out, and stays out (T155)', () => {
  for (const [name, model, has, error, facts] of PARAMETERS) {
    test(name, async (t) => {
      const end = await strict(t, model, (body) => (has(body) ? error : undefined))
      const { turn, warnings } = await answerOf(end.model, asking())
      assert.equal(turn.finish.reason, 'stop', JSON.stringify(turn.finish))
      assert.equal(end.heard.length, 2)
      assert.deepEqual(warnings.filter(({ code }) => code === 'learnt').length, 1)
      assert.deepEqual(end.learnt, [facts])
      await answerOf(end.model, asking())
      assert.equal(end.heard.length, 3)
    })
  }

  test('two of them', async (t) => {
    const end = await strict(t, 'groq/x', (body) => {
      const bad = ['temperature', 'top_p'].find((name) => name in body)
      return bad === undefined
        ? undefined
        : { message: `property '${bad}' is unsupported`, type: 'invalid_request_error' }
    })
    assert.equal((await answerOf(end.model, asking())).turn.finish.reason, 'stop')
    assert.equal(end.heard.length, 3)
    assert.deepEqual(end.learnt, [{ refuses: ['temperature', 'top_p'] }])
  })

  test('a choice of tools that the server does not know (T153)', async (t) => {
    const end = await strict(t, 'vllm/x', (body) =>
      body['tool_choice'] === 'required' ? { message: 'tool_choice "required" is not supported' } : undefined,
    )
    const { turn } = await answerOf(end.model, asking({ toolChoice: 'required' }))
    assert.equal(turn.finish.reason, 'stop', JSON.stringify(turn.finish))
    assert.deepEqual(end.learnt, [{ refuses: ['tool_choice'] }])
    assert.ok('tools' in (end.heard[1]?.body ?? {}))
  })

  test('what was not sent cannot be left out', async (t) => {
    const end = await strict(t, 'groq/x', () => ({ message: "Unsupported parameter: 'logprobs'", param: 'logprobs' }))
    assert.equal((await answerOf(end.model, asking())).turn.finish.fault?.kind, 'invalid')
    assert.equal(end.heard.length, 1)
  })

  test('what did not help is not remembered', async (t) => {
    const end = await strict(t, 'groq/x', () => ({ message: 'Unsupported parameter: temperature' }))
    for (let n = 0; n < 2; n++) {
      assert.equal((await answerOf(end.model, asking())).turn.finish.fault?.kind, 'invalid')
      assert.equal(end.heard.length, (n + 1) * 2)
    }
    assert.ok('temperature' in (end.heard[2]?.body ?? {}))
    assert.deepEqual(end.learnt, [])
  })

  test('other faults teach nothing', async (t) => {
    const end = await strict(
      t,
      'groq/x',
      () => ({ message: 'The key may not use the parameter temperature: unauthorized' }),
      401,
    )
    assert.equal((await answerOf(end.model, asking())).turn.finish.fault?.kind, 'auth')
    assert.equal(end.heard.length, 1)
  })
})

/** A history with a call, its result, a word after it, reasoning and a picture. */
const past: Turn[] = [
  {
    role: 'user',
    parts: [
      { kind: 'text', text: 'Look.' },
      { kind: 'media', mime: 'image/png', data: 'iVBORw0KGgo=' },
    ],
  },
  {
    role: 'assistant',
    origin: { provider: 'other', wire: 'gemini', model: 'x' },
    parts: [
      {
        kind: 'reasoning',
        text: 'Hm.',
        native: { wire: 'openai-chat', signer: 'together:y', data: { field: 'reasoning_content' } },
      },
      {
        kind: 'call',
        id: 'abcdefghij01234567890000',
        name: 'get_weather',
        raw: '{"city":"Oslo"}',
        input: { city: 'Oslo' },
        native: { wire: 'gemini', signer: 'vertex:gemini-2.5', id: 'fc1' },
      },
    ],
    finish: { reason: 'calls' },
  },
  {
    role: 'results',
    parts: [
      {
        kind: 'result',
        id: 'abcdefghij01234567890000',
        name: 'get_weather',
        status: 'ok',
        content: [{ kind: 'text', text: 'Rain' }],
      },
    ],
  },
  { role: 'user', parts: [{ kind: 'text', text: 'And now?' }] },
  { role: 'user', parts: [{ kind: 'text', text: 'Quickly.' }] },
]

const messages = (body: Body): Record<string, unknown>[] => body['messages'] as Record<string, unknown>[]
const calling = (body: Body): Record<string, unknown> | undefined =>
  messages(body).find((one) => one['tool_calls'] !== undefined)

const HABITS: readonly [
  name: string,
  model: string,
  wrong: (body: Body) => boolean,
  error: object,
  facts: Capabilities,
  already?: Capabilities,
][] = [
  [
    'T156 Ollama: a model without tools',
    'ollama/gemma2',
    (body) => 'tools' in body,
    { message: 'registry.ollama.ai/library/gemma2:latest does not support tools', type: 'api_error' },
    { tools: 'text' },
  ],
  [
    'T156 vLLM without its flags',
    'vllm/x',
    (body) => 'tools' in body,
    { message: '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set' },
    { tools: 'text' },
  ],
  [
    'T74 reasoning must come back',
    'together/x',
    (body) => calling(body)?.['reasoning_content'] === undefined,
    { message: 'The reasoning_content in the thinking mode must be passed back to the API.' },
    { needsReasoning: 'reasoning_content' },
  ],
  [
    'T78 reasoning may not come back',
    'together/y',
    (body) => calling(body)?.['reasoning_content'] !== undefined,
    { message: "'messages.1' : property 'reasoning_content' is unsupported", type: 'invalid_request_error' },
    { replay: 'never' },
  ],
  [
    'T93 roles must alternate',
    'together/x',
    (body) => messages(body).some((one, at) => one['role'] === 'user' && messages(body)[at - 1]?.['role'] === 'user'),
    { message: 'Conversation roles must alternate user/assistant/user/assistant/...' },
    { alternate: true },
  ],
  [
    'T94 a word after a result',
    'together/x',
    (body) => messages(body).some((one, at) => one['role'] === 'user' && messages(body)[at - 1]?.['role'] === 'tool'),
    { message: "Unexpected role 'user' after role 'tool'" },
    { bridge: true },
  ],
  [
    'T95 ids of nine letters',
    'together/x',
    (body) => JSON.stringify(calling(body)).includes('abcdefghij'),
    { message: 'Tool call id was abcdefghij but must be a-z, A-Z, 0-9, with a length of 9.', code: '3280' },
    { ids: 'nine' },
  ],
  [
    'T86 empty content',
    'together/x',
    (body) => calling(body)?.['content'] === null || calling(body)?.['content'] === '',
    { message: 'messages.2.content: Input should be a valid string; content must not be null' },
    { emptyContent: 'omit' },
  ],
  [
    'T100 no pictures',
    'together/x',
    (body) => JSON.stringify(body).includes('image_url'),
    { message: 'This model does not support image input' },
    { media: false },
  ],
  [
    'T117 a signature is missing',
    'gemini/gemini-2.5-pro',
    (body) => !JSON.stringify(body['contents']).includes('thoughtSignature'),
    { code: 400, message: 'Function call is missing a thought_signature in functionCall parts.' },
    { signatures: 'required' },
  ],
  [
    'T120 signatures that are no longer valid',
    'gemini/gemini-3-pro-preview',
    (body) => JSON.stringify(body['contents']).includes('thoughtSignature'),
    { code: 400, message: 'Corrupted thought signature.', status: 'INVALID_ARGUMENT' },
    { signatures: 'never' },
  ],
  [
    'T101 no developer role',
    'together/x',
    (body) => messages(body)[0]?.['role'] === 'developer',
    { message: 'developer is not one of [system, assistant, user, tool, function] - messages.[0].role' },
    { systemRole: 'system' },
    { systemRole: 'developer' },
  ],
  [
    'T126 no ids of calls',
    'vertex/gemini-2.5-pro',
    (body) => JSON.stringify(body['contents']).includes('"id"'),
    {
      code: 400,
      message:
        'Invalid JSON payload received. Unknown name "id" at \'contents[1].parts[0].function_call\': Cannot find field.',
    },
    { refuses: ['functionCall.id'] },
  ],
  [
    'T150 no strict tools',
    'together/x',
    (body) => JSON.stringify(body['tools']).includes('"strict"'),
    { message: 'tools.0.function.strict: Extra inputs are not permitted' },
    { constrain: false, dialect: 'openai' },
    { constrain: true },
  ],
  [
    'T129 the older schema language',
    'vertex/gemini-2.5-pro',
    (body) => JSON.stringify(body['tools']).includes('parametersJsonSchema'),
    {
      code: 400,
      message:
        'Invalid JSON payload received. Unknown name "parametersJsonSchema" at \'tools[0].function_declarations[0]\': Cannot find field.',
    },
    { dialect: 'gemini' },
  ],
  [
    'streams are not offered',
    'together/x',
    (body) => body['stream'] === true,
    { message: 'Streaming is not supported for this model' },
    { stream: false },
  ],
]

describe('a habit of the endpoint is followed from then on', () => {
  for (const [name, model, wrong, error, facts, already] of HABITS) {
    test(name, async (t) => {
      const end = await strict(t, model, (body) => (wrong(body) ? error : undefined), 400, already)
      const { turn } = await answerOf(end.model, question('', { turns: past }))
      assert.equal(turn.finish.reason, 'stop', JSON.stringify(turn.finish))
      assert.deepEqual(end.learnt, [facts])
      const before = end.heard.length
      await answerOf(end.model, question('', { turns: past }))
      assert.equal(end.heard.length, before + 1)
    })
  }
})

test('a server that says 500 of pictures is not asked the same again (T100)', async (t) => {
  const message = 'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj'
  const pictured = (body: Body): boolean => JSON.stringify(body).includes('image_url')
  const error = { code: 500, message, type: 'server_error' }
  const end = await strict(t, 'llamacpp/x', (body) => (pictured(body) ? error : undefined), 500)
  assert.equal((await answerOf(end.model, question('', { turns: past }))).turn.finish.reason, 'stop')
  assert.deepEqual([end.learnt, end.heard.length], [[{ media: false }], 2])
})

describe('a tool that is pointed at is left out, alone (T145–T149)', () => {
  const bad: ToolSpec = {
    name: 'bad_tool',
    description: 'Bad.',
    schema: { type: 'object', properties: { x: { type: 'string' } } },
  }
  const tools: ToolSpec[] = [weather, bad, { ...weather, name: 'other_tool' }]
  const names = (body: Body): string => JSON.stringify(body['tools'])

  const pointers: readonly [name: string, model: string, error: object][] = [
    [
      'OpenAI',
      'openai-chat/x',
      {
        message: "Invalid schema for function 'bad_tool': bad",
        param: 'tools[1].function.parameters',
        code: 'invalid_function_parameters',
      },
    ],
    [
      'OpenAI, by name only',
      'openai-chat/x',
      { message: "Invalid schema for function 'bad_tool': schema must be an object" },
    ],
    ['Responses', 'openai/x', { message: "Invalid 'tools[1].name'", param: 'tools[1].name' }],
    [
      'Anthropic',
      'anthropic/claude-sonnet-5-5',
      { type: 'invalid_request_error', message: 'tools.1.custom.input_schema: JSON schema is invalid' },
    ],
    [
      'Gemini',
      'gemini/gemini-2.5-pro',
      {
        code: 400,
        message:
          '* GenerateContentRequest.tools[0].function_declarations[1].parameters.properties[temperature]: should be non-empty',
      },
    ],
  ]
  for (const [name, model, error] of pointers) {
    test(name, async (t) => {
      const end = await strict(t, model, (body) => (names(body).includes('bad_tool') ? error : undefined))
      const { turn, warnings } = await answerOf(end.model, asking({ tools }))
      assert.equal(turn.finish.reason, 'stop', JSON.stringify(turn.finish))
      assert.deepEqual(warnings.filter(({ code }) => code === 'tool-quarantined').length, 1)
      assert.match(warnings.find(({ code }) => code === 'tool-quarantined')?.message ?? '', /refuses the tool bad_tool/)
      await answerOf(end.model, asking({ tools }))
      assert.equal(end.heard.length, 3)
      assert.match(names(end.heard[2]?.body ?? {}), /get_weather.*other_tool/)
    })
  }

  test('if all are bad, all stay, and the fault is told', async (t) => {
    const many = Array.from({ length: 20 }, (_unused, n) => ({ ...bad, name: `bad_${n}` }))
    const end = await strict(t, 'openai-chat/x', () => ({ message: 'Invalid tool', param: 'tools[0].function.name' }))
    assert.equal((await answerOf(end.model, asking({ tools: many }))).turn.finish.fault?.kind, 'invalid')
    assert.equal(end.heard.length, 7)
    await answerOf(end.model, asking({ tools: many }))
    const declared = end.heard[7]?.body['tools']
    assert.equal(Array.isArray(declared) && declared.length, 20)
  })
})
