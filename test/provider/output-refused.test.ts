import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import { createHttpClient, createModel } from '../../src/provider/http/node-http-client.ts'
import { withAdaptation } from '../../src/provider/middleware/adaptation/with-adaptation.ts'
import type { Capabilities } from '../../src/provider/provider-definition.ts'
import { providers } from '../../src/provider/providers.ts'
import { tool } from '../../src/tool/custom-tool.ts'
import { agentOf, closing, play } from '../support/stage.ts'
import { answers } from './support/answers.ts'
import { aimed } from './support/ask.ts'
import { reply, serve, stream } from './support/server.ts'

const schema: JsonObject = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
const ping = tool({ name: 'ping', description: 'Pings.', parameters: { type: 'object' }, execute: () => 'pong' })
const FORMAT = /responseMimeType|response_format|"format":\{"type"/
const WORDS = /your last message must be one JSON object/

/** How endpoints refuse a response format: the model, what they refuse, the error, and what is learnt. */
const CASES: readonly [
  name: string,
  model: string,
  refuses: RegExp,
  error: JsonObject,
  learnt: Capabilities,
  then: RegExp,
][] = [
  [
    'Gemini: not together with tools',
    'gemini/gemini-3-new',
    /responseMimeType/,
    {
      code: 400,
      message: "Function calling with a response mime type: 'application/json' is unsupported",
      status: 'INVALID_ARGUMENT',
    },
    { outputWithTools: false },
    WORDS,
  ],
  [
    'Gemini: only the older dialect',
    'gemini/gemini-3-new',
    /responseJsonSchema/,
    {
      code: 400,
      message:
        'Invalid JSON payload received. Unknown name "responseJsonSchema" at \'generation_config\': Cannot find field.',
      status: 'INVALID_ARGUMENT',
    },
    { dialect: 'gemini' },
    /"responseSchema":\{"type":"OBJECT"/,
  ],
  [
    'chat: only JSON mode',
    'openai-chat/m',
    /json_schema/,
    {
      message: "Invalid value: 'json_schema'. Supported values for response_format.type are: 'text' and 'json_object'.",
    },
    { outputFormat: 'object' },
    /"response_format":\{"type":"json_object"\}/,
  ],
  [
    'chat: not at all',
    'openai-chat/m',
    /response_format/,
    { message: 'This response_format type is unavailable now' },
    { outputFormat: 'none' },
    WORDS,
  ],
  [
    'chat: not with tools, in words that are not about the tools',
    'openai-chat/m',
    /response_format/,
    { message: 'json mode cannot be combined with tool/function calling: tools are not supported' },
    { outputWithTools: false },
    /"tools":\[/,
  ],
  [
    'Responses: a schema that is not accepted',
    'openai/m',
    /"format":/,
    {
      message: "Invalid schema for response_format 'answer': In context=(), 'x' is not permitted.",
      param: 'text.format.schema',
      code: 'invalid_json_schema',
    },
    { outputFormat: 'none' },
    WORDS,
  ],
  [
    'Anthropic: an endpoint that does not know it',
    'anthropic/m',
    /output_config/,
    { type: 'invalid_request_error', message: 'output_config.format: Extra inputs are not permitted' },
    { outputFormat: 'none' },
    WORDS,
  ],
]

describe('an endpoint that refuses a response format', () => {
  for (const [name, model, refuses, error, wanted, then] of CASES) {
    test(name, async (t) => {
      const wire = providers.find(({ id }) => model.startsWith(`${id}/`))?.wire ?? 'openai-chat'
      const { url, heard } = await serve(t, (response, { body }) => {
        // The answer is validated here all the same.
        const said = heard.length < 3 ? '{"town":"Oslo","x":1}' : '{"city":"Oslo"}'
        if (refuses.test(JSON.stringify(body))) reply(response, { error }, 400)
        else stream(response, answers[wire].text(said).events)
      })
      const learnt: Capabilities[] = []
      const httpClient = createHttpClient({})
      const adapted = withAdaptation(
        aimed(model, url),
        (target) => createModel(target, { httpClient }),
        (facts) => learnt.push(facts),
      )
      const end = closing(await play(agentOf(adapted, [ping], { output: { schema } }), 'go'))
      assert.deepEqual([end.reason, end.output], ['done', { city: 'Oslo' }])
      assert.deepEqual(learnt, [wanted])
      const [first = '', ...others] = heard.map(({ body }) => JSON.stringify(body))
      assert.match(first, FORMAT)
      assert.doesNotMatch(first, WORDS)
      assert.equal(others.length, 2)
      for (const body of others) assert.match(body, then)
    })
  }

  test('what has nothing to do with the format is learnt as before', async (t) => {
    const { url } = await serve(t, (response, { body }) => {
      if ('tools' in body) reply(response, { error: { message: 'tools are not supported with json mode' } }, 400)
      else stream(response, answers['openai-chat'].text('Yes.').events)
    })
    const learnt: Capabilities[] = []
    const httpClient = createHttpClient({})
    const adapted = withAdaptation(
      aimed('openai-chat/m', url),
      (target) => createModel(target, { httpClient }),
      (facts) => learnt.push(facts),
    )
    assert.equal(closing(await play(agentOf(adapted, [ping]), 'go')).text, 'Yes.')
    assert.deepEqual(learnt, [{ tools: 'text' }])
  })

  test('a provider option that is refused by name is left out', async (t) => {
    const { url, heard } = await serve(t, (response, { body }) => {
      if ('verbosity' in body)
        reply(response, { error: { message: "Unknown parameter: 'verbosity'.", param: 'verbosity' } }, 400)
      else stream(response, answers['openai-chat'].text('Yes.').events)
    })
    const httpClient = createHttpClient({})
    const adapted = withAdaptation(aimed('openai-chat/m', url), (target) => createModel(target, { httpClient }))
    const providerOptions = { 'openai-chat': { verbosity: 'low', seed: 1 } } as const
    assert.equal(closing(await play(agentOf(adapted, [], { providerOptions }), 'go')).text, 'Yes.')
    assert.equal(heard[1]?.body['seed'], 1)
  })
})
