import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isObject, type JsonObject, objectOrEmpty } from '../../src/model/json.ts'
import type { Profile } from '../../src/model/profile.ts'
import type { ProviderOptions } from '../../src/model/provider-options.ts'
import type { ModelParams, ModelRequest, ToolSpec } from '../../src/model/request.ts'
import type { Turn, WireId } from '../../src/model/turn.ts'
import { findRequestError } from '../../src/rehearsal/request-checks/check-request.ts'
import { joinBodyPieces } from '../../src/wire/history/encoded-messages.ts'
import { createIncrementalBodyWriter } from '../../src/wire/history/incremental-body-writer.ts'
import { loadWire, wireIds } from '../../src/wire/wires.ts'

const tool: ToolSpec = { name: 'ping', description: 'Pings.', schema: { type: 'object', properties: {} } }

/** One required property, one optional, and a rule that no vendor's grammar knows. */
const schema: JsonObject = {
  type: 'object',
  properties: { city: { type: 'string', minLength: 2 }, note: { type: 'string' } },
  required: ['city'],
}
const output = { name: 'the weather', schema }
const STRICT = {
  type: 'object',
  properties: {
    city: { type: 'string', description: '(at least 2 characters)' },
    note: { type: ['string', 'null'] },
  },
  required: ['city', 'note'],
  additionalProperties: false,
}

const user: Turn = { role: 'user', parts: [{ kind: 'text', text: 'hi' }] }

async function encode(wire: WireId, request: Partial<ModelRequest>, profile: Partial<Profile> = {}) {
  const codec = await loadWire(wire)
  const whole: ModelRequest = {
    model: 'm',
    system: 'Be brief.',
    tools: [],
    turns: [user],
    ...request,
  }
  const { body, warnings } = codec.encodeRequest(whole, { ...codec.profile, ...profile })
  const inner = wire === 'code-assist' ? objectOrEmpty(body['request']) : body
  return { body, inner: inner as JsonObject, codes: warnings.map(({ code }) => code), codec }
}

/** Where each wire has its response format. */
const FORMATS: Record<WireId, (body: JsonObject) => unknown> = {
  gemini: ({ generationConfig: config }) => pick(config, ['responseMimeType', 'responseJsonSchema', 'responseSchema']),
  interactions: (body) => body['response_format'],
  'code-assist': (body) => FORMATS.gemini(body),
  'openai-chat': (body) => body['response_format'],
  'openai-responses': (body) => objectOrEmpty(body['text'])['format'],
  anthropic: (body) => objectOrEmpty(body['output_config'])['format'],
}

function pick(value: unknown, names: readonly string[]): unknown {
  const found = Object.entries(objectOrEmpty(value)).filter(([name]) => names.includes(name))
  return found.length === 0 ? undefined : Object.fromEntries(found)
}

const NATIVE: Record<WireId, unknown> = {
  gemini: { responseMimeType: 'application/json', responseJsonSchema: schema },
  interactions: { type: 'text', mime_type: 'application/json', schema },
  'code-assist': { responseMimeType: 'application/json', responseJsonSchema: schema },
  'openai-chat': { type: 'json_schema', json_schema: { name: 'the_weather', schema: STRICT, strict: true } },
  'openai-responses': { type: 'json_schema', name: 'the_weather', schema: STRICT, strict: true },
  anthropic: { type: 'json_schema', schema: STRICT },
}

const INSTRUCTION = /one JSON object[^]*"required":\["city"\]/

describe('the format of an answer', () => {
  for (const wire of wireIds) {
    test(`${wire}: the response format of the vendor, and nothing in the prompt`, async () => {
      const { inner, body } = await encode(wire, { output })
      assert.deepEqual(FORMATS[wire](inner), NATIVE[wire])
      assert.doesNotMatch(JSON.stringify(body), INSTRUCTION)
      assert.doesNotMatch(JSON.stringify(body).replaceAll('\\"', '"'), /your last message/)
    })

    test(`${wire}: words in the prompt where there is none, or none together with tools`, async () => {
      for (const [request, profile] of [
        [{ output }, { outputFormat: 'none' }],
        [{ output, tools: [tool] }, { outputWithTools: false }],
        [
          { output, tools: [tool] },
          { outputWithTools: true, tools: 'text' },
        ],
        // Tools that came late, and those of the vendor, can be called too.
        [{ output, turns: [user, { role: 'note', text: 'New tools.', tools: [tool] }] }, { outputWithTools: false }],
        [{ output, hostedTools: [{ wire, declaration: { type: 'web_search' } }] }, { outputWithTools: false }],
      ] as const) {
        const { inner } = await encode(wire, request, profile)
        assert.equal(FORMATS[wire](inner), undefined)
        assert.match(JSON.stringify(inner).replaceAll('\\"', '"'), INSTRUCTION)
        assert.match(JSON.stringify(inner), /Be brief\./)
      }
      const { inner } = await encode(wire, { output, tools: [tool] }, { outputWithTools: true })
      assert.deepEqual(FORMATS[wire](inner), NATIVE[wire])
      const other = wire === 'anthropic' ? 'gemini' : 'anthropic'
      const elsewhere = { wire: other, declaration: { type: 'web_search' } } as const
      const alone = await encode(wire, { output, hostedTools: [elsewhere] }, { outputWithTools: false })
      assert.deepEqual(FORMATS[wire](alone.inner), NATIVE[wire])
      const plain = await encode(wire, {})
      assert.equal(FORMATS[wire](plain.inner), undefined)
      assert.doesNotMatch(JSON.stringify(plain.inner), /your last message/)
    })

    test(`${wire}: is read back, and the history stays last`, async () => {
      const { body, codec } = await encode(wire, { output })
      const read = codec.readRequest(body).request.output
      assert.deepEqual(Object.keys(objectOrEmpty(read?.schema['properties'])), ['city', 'note'])
      const outer = body['request']
      const last = Object.keys(isObject(outer) ? outer : body).at(-1)
      assert.ok(['contents', 'messages', 'input'].includes(last ?? ''), last)
    })
  }

  test('JSON mode is asked for where that is all, with the schema in words', async () => {
    for (const [wire, format] of [
      ['openai-chat', { type: 'json_object' }],
      ['openai-responses', { type: 'json_object' }],
      ['gemini', { responseMimeType: 'application/json' }],
      ['anthropic', undefined],
    ] as const) {
      const { inner } = await encode(wire, { output }, { outputFormat: 'object' })
      assert.deepEqual(FORMATS[wire](inner), format)
      assert.match(JSON.stringify(inner).replaceAll('\\"', '"'), INSTRUCTION)
    }
  })

  test('a schema that cannot be strict is not strict on OpenAI, and is words on Anthropic', async () => {
    const open = { name: 'answer', schema: { type: 'object', additionalProperties: { type: 'number' } } }
    const chat = await encode('openai-chat', { output: open })
    assert.equal(objectOrEmpty(objectOrEmpty(chat.body['response_format'])['json_schema'])['strict'], false)
    const claude = await encode('anthropic', { output: open })
    assert.equal(claude.body['output_config'], undefined)
    assert.match(JSON.stringify(claude.body), /your last message/)
  })

  test('the other dialects: older Gemini, and servers that compile grammars', async () => {
    const older = await encode('gemini', { output }, { dialect: 'gemini' })
    assert.equal(objectOrEmpty(objectOrEmpty(older.body['generationConfig'])['responseSchema'])['type'], 'OBJECT')
    const grammar = await encode('openai-chat', { output }, { dialect: 'grammar' })
    const sent = objectOrEmpty(objectOrEmpty(grammar.body['response_format'])['json_schema'])
    assert.deepEqual(sent['schema'], schema)
  })

  test('a history that was written before is written again if the words change', async () => {
    for (const wire of wireIds) {
      const codec = await loadWire(wire)
      const profile: Profile = { ...codec.profile, outputFormat: 'none', alternate: false }
      const write = createIncrementalBodyWriter(codec)
      const turns: Turn[] = []
      const origin = { provider: 'p', wire, model: 'm' }
      const tools = [tool]
      for (const wanted of [undefined, output, output, { name: 'other', schema: { type: 'object' } }, undefined]) {
        turns.push({ role: 'user', parts: [{ kind: 'text', text: 'go' }] })
        const request: ModelRequest = { model: 'm', system: 'S', tools, turns, ...(wanted && { output: wanted }) }
        const { pieces } = write(request, profile)
        assert.equal(joinBodyPieces(pieces), JSON.stringify(codec.encodeRequest(request, profile).body), wire)
        turns.push({ role: 'assistant', origin, parts: [{ kind: 'text', text: 'ok' }], finish: { reason: 'stop' } })
      }
    }
  })

  test('Anthropic: rules that it does not enforce become words', async () => {
    const rules: JsonObject = {
      type: 'object',
      properties: {
        degrees: { type: 'integer', minimum: -90, maximum: 60 },
        days: { type: 'array', items: { type: 'string', pattern: '^[A-Z]' }, minItems: 2, maxItems: 7 },
        some: { type: 'array', items: { type: 'string', format: 'date' }, minItems: 1 },
      },
      required: ['degrees', 'days', 'some'],
    }
    const { body } = await encode('anthropic', { output: { name: 'answer', schema: rules } })
    assert.equal(findRequestError('anthropic', body), undefined)
    const sent = JSON.stringify(objectOrEmpty(objectOrEmpty(body['output_config'])['format'])['schema'])
    assert.doesNotMatch(sent, /"(?:minimum|maximum|pattern|maxItems)":|"minItems":2/)
    assert.match(sent, /"minItems":1[^]*"format":"date"|"format":"date"[^]*"minItems":1/)
    assert.match(sent, /-90[^]*60/)
  })

  test('Anthropic: the effort stays beside the format', async () => {
    const { body } = await encode('anthropic', { output, params: { effort: 'low' } }, { thinking: 'adaptive' })
    assert.deepEqual(body['output_config'], { effort: 'low', format: NATIVE.anthropic })
  })
})

describe('parameters', () => {
  /** What each wire sends for the parameters that all have in common. */
  const params: ModelParams = { temperature: 0.5, maxTokens: 4000, effort: 'low', parallelCalls: false }
  const SENT: Record<WireId, JsonObject> = {
    gemini: {
      generationConfig: {
        maxOutputTokens: 4000,
        temperature: 0.5,
        thinkingConfig: { thinkingBudget: 2048, includeThoughts: true },
      },
    },
    interactions: {
      generation_config: {
        max_output_tokens: 4000,
        temperature: 0.5,
        thinking_level: 'low',
        thinking_summaries: 'auto',
      },
      store: false,
    },
    'code-assist': {
      generationConfig: {
        maxOutputTokens: 4000,
        temperature: 0.5,
        thinkingConfig: { thinkingBudget: 2048, includeThoughts: true },
      },
    },
    'openai-chat': {
      max_completion_tokens: 4000,
      temperature: 0.5,
      reasoning_effort: 'low',
      parallel_tool_calls: false,
    },
    'openai-responses': {
      max_output_tokens: 4000,
      temperature: 0.5,
      reasoning: { effort: 'low', summary: 'auto' },
      parallel_tool_calls: false,
    },
    anthropic: {
      max_tokens: 4000,
      output_config: { effort: 'low' },
      temperature: 0.5,
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    },
  }
  for (const wire of wireIds) {
    test(`${wire}: are sent, and read back`, async () => {
      const level = wire === 'anthropic' ? { thinking: 'level' as const } : {}
      const { inner, body, codec } = await encode(wire, { params, tools: [tool] }, level)
      for (const [name, value] of Object.entries(SENT[wire])) assert.deepEqual(inner[name], value, name)
      const read = codec.readRequest(body).request.params
      assert.equal(read?.maxTokens, 4000)
      assert.equal(read.temperature, 0.5)
      assert.equal(read.effort, wire === 'gemini' || wire === 'code-assist' ? 2048 : 'low')
    })
  }

  const CHOICES = ['required', 'none', { name: 'ping' }, { only: ['ping'] }] as const
  const CHOSEN: Record<WireId, readonly unknown[]> = {
    gemini: [
      { mode: 'ANY' },
      { mode: 'NONE' },
      { mode: 'ANY', allowedFunctionNames: ['ping'] },
      { mode: 'VALIDATED', allowedFunctionNames: ['ping'] },
    ],
    interactions: [
      'any',
      'none',
      { allowed_tools: { mode: 'any', tools: ['ping'] } },
      { allowed_tools: { mode: 'validated', tools: ['ping'] } },
    ],
    'code-assist': [],
    'openai-chat': [
      'required',
      'none',
      { type: 'function', function: { name: 'ping' } },
      {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'ping' } }] },
      },
    ],
    'openai-responses': [
      'required',
      'none',
      { type: 'function', name: 'ping' },
      { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'ping' }] },
    ],
    anthropic: [{ type: 'any' }, { type: 'none' }, { type: 'tool', name: 'ping' }, undefined],
  }
  for (const wire of wireIds) {
    test(`${wire}: the choice of tools`, async () => {
      const expected = CHOSEN[wire === 'code-assist' ? 'gemini' : wire]
      for (const [at, toolChoice] of CHOICES.entries()) {
        const { inner, codes } = await encode(wire, { toolChoice, tools: [tool] })
        const sent =
          inner['tool_choice'] ??
          objectOrEmpty(inner['toolConfig'])['functionCallingConfig'] ??
          objectOrEmpty(inner['generation_config'])['tool_choice']
        assert.deepEqual(sent, expected[at])
        // What a wire cannot say is said in a warning.
        if (expected[at] === undefined) assert.ok(codes.includes('tool-choice'))
      }
      const { inner } = await encode(wire, { toolChoice: 'auto', tools: [tool] })
      assert.equal(inner['tool_choice'] ?? inner['toolConfig'], undefined)
    })
  }

  test('the lifetime of the prompt cache', async () => {
    const long: ModelParams = { cacheTtl: '1h' }
    const chat = await encode('openai-chat', { params: long })
    assert.equal(chat.body['prompt_cache_retention'], '24h')
    assert.equal(chat.codec.readRequest(chat.body).request.params?.cacheTtl, '1h')
    const newer = await encode('openai-responses', { params: long }, { cacheTtlField: 'prompt_cache_options' })
    assert.deepEqual(newer.body['prompt_cache_options'], { ttl: '12h' })
    assert.equal(newer.body['prompt_cache_retention'], undefined)
    const marks = await encode('openai-chat', { params: long }, { cache: 'marks' })
    assert.match(JSON.stringify(marks.body), /"cache_control":\{"type":"ephemeral","ttl":"1h"\}/)
    const claude = await encode('anthropic', { params: long, tools: [tool] })
    const all = JSON.stringify(claude.body).match(/"cache_control":\{[^}]*\}/g)
    assert.deepEqual(all, Array(3).fill('"cache_control":{"type":"ephemeral","ttl":"1h"}'))
    assert.equal(claude.codec.readRequest(claude.body).request.params?.cacheTtl, '1h')
    for (const [wire, profile] of [
      ['gemini', {}],
      ['code-assist', {}],
      ['openai-chat', { cache: 'none' }],
      ['anthropic', { cache: 'none' }],
    ] as const) {
      const { body, codes } = await encode(wire, { params: long }, profile)
      assert.deepEqual(codes, ['cache-ttl'])
      assert.doesNotMatch(JSON.stringify(body), /1h|24h|12h/)
    }
    for (const wire of wireIds) {
      const [short, none] = [await encode(wire, { params: { cacheTtl: '5m' } }), await encode(wire, {})]
      assert.equal(JSON.stringify(short.body), JSON.stringify(none.body))
    }
  })
})

describe('provider options', () => {
  const all = {
    gemini: { safetySettings: [{ category: 'a', threshold: 'b' }], generationConfig: { topK: 3 } },
    'openai-chat': { service_tier: 'flex', seed: 3 },
    'openai-responses': { text: { verbosity: 'low' }, truncation: 'auto' },
    anthropic: { service_tier: 'auto', output_config: { effort: 'max' } },
    interactions: { service_tier: 'flex', generation_config: { seed: 3 } },
  } satisfies ProviderOptions

  test('are merged into the body of their own API, and into no other', async () => {
    const request = { output, params: { temperature: 0.5 }, providerOptions: all }
    const google = (await encode('gemini', request)).body
    assert.deepEqual(google['safetySettings'], all.gemini.safetySettings)
    const config = objectOrEmpty(google['generationConfig'])
    assert.deepEqual([config['topK'], config['temperature']], [3, 0.5])
    assert.deepEqual((await encode('code-assist', request)).inner['safetySettings'], all.gemini.safetySettings)
    const chat = (await encode('openai-chat', request)).body
    assert.deepEqual([chat['service_tier'], chat['seed'], chat['truncation']], ['flex', 3, undefined])
    const responses = (await encode('openai-responses', request)).body
    const text = objectOrEmpty(responses['text'])
    assert.deepEqual([text['verbosity'], isObject(text['format']), responses['truncation']], ['low', true, 'auto'])
    const claude = (await encode('anthropic', request)).body
    assert.deepEqual(objectOrEmpty(claude['output_config'])['effort'], 'max')
    assert.ok(isObject(objectOrEmpty(claude['output_config'])['format']))
    for (const body of [google, chat, responses, claude])
      assert.match(Object.keys(body).at(-1) ?? '', /^(?:contents|messages|input)$/)
  })

  test('are read back, and nothing else is taken for one', async () => {
    const { output_config: _config, ...claude } = all.anthropic
    const options: ProviderOptions = { ...all, anthropic: claude }
    const request: Partial<ModelRequest> = {
      output,
      tools: [tool],
      toolChoice: 'required',
      session: 's',
      params: {
        temperature: 0.5,
        topP: 0.5,
        stop: ['x'],
        maxTokens: 4000,
        effort: 'low',
        parallelCalls: false,
        cacheTtl: '1h',
        store: true,
      },
    }
    for (const wire of wireIds)
      for (const profile of [
        { outputWithTools: true },
        { dialect: 'openai', cacheTtlField: 'prompt_cache_options' },
      ] as const) {
        const plain = await encode(wire, request, profile)
        assert.equal(plain.codec.readRequest(plain.body).request.providerOptions, undefined, wire)
        const more = await encode(wire, { ...request, providerOptions: options }, profile)
        const name = wire === 'code-assist' ? 'gemini' : wire
        assert.deepEqual(more.codec.readRequest(more.body).request.providerOptions, { [name]: options[name] })
      }
  })

  test('cannot overwrite what the session says', async () => {
    const wanted = { model: 'x', messages: [], contents: [], input: [], tools: [], stream: false, system: 'x' }
    const more = { instructions: 'x', system_instruction: 'x', __proto__x: 1 }
    const options = { ...wanted, ...more }
    const providerOptions = {
      gemini: options,
      interactions: options,
      'openai-chat': options,
      'openai-responses': options,
      anthropic: options,
    }
    for (const wire of wireIds) {
      const { inner, codes } = await encode(wire, { tools: [tool], providerOptions })
      const plain = (await encode(wire, { tools: [tool] })).inner
      const { __proto__x: kept, ...rest } = inner
      assert.equal(kept, 1)
      assert.equal(JSON.stringify(rest), JSON.stringify(plain))
      assert.equal(codes.filter((code) => code === 'provider-options').length, 9)
    }
  })

  test('one that the endpoint rejects is left out', async () => {
    const { body } = await encode('openai-chat', { providerOptions: all }, { refuses: ['seed'] })
    assert.deepEqual([body['seed'], body['service_tier']], [undefined, 'flex'])
    const google = await encode('gemini', { providerOptions: all }, { refuses: ['topK', 'thinkingConfig'] })
    assert.equal(google.body['generationConfig'], undefined)
  })
})
