import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import {
  convertToFunctionResponse,
  countTokens,
  countTokensBody,
  geminiRequestBody,
  geminiToolCallReader,
  GeminiToolHandler,
  getActiveToolUseStyle,
  hasValidTypes,
  nativeFunctionCallingProviders,
  nativeToolCallsFromGeminiPart,
  processNativeToolCalls,
  type GeminiCliToolResult,
  type ToolHandlerEvent,
  type Warning,
} from '../../src/embed/index.ts'

describe('the tool style', () => {
  const part = { functionCall: { id: 'a', name: 'read_file', args: { path: 'x' } } }
  const tool = { type: 'function', function: { name: 'read_file', parameters: { type: 'object' } } }
  const request = { model: 'm', contents: [], tools: [tool] }

  test('is json only where it is set and the provider has native calls', () => {
    assert.deepEqual(nativeFunctionCallingProviders.slice(0, 3), ['openrouter', 'kilocode', 'lm-studio'])
    assert.equal(getActiveToolUseStyle({ toolStyle: 'json' }), 'json')
    assert.equal(getActiveToolUseStyle({ toolStyle: 'json', apiProvider: 'lm-studio' }), 'json')
    assert.equal(getActiveToolUseStyle({ toolStyle: 'json', apiProvider: 'something' }), 'xml')
    for (const none of [undefined, {}]) assert.equal(getActiveToolUseStyle(none), 'xml')
  })

  test('decides whether a Gemini request has tools', () => {
    assert.ok(geminiRequestBody({ ...request, toolStyle: 'json' }).request.tools)
    assert.ok(geminiRequestBody(request).request.tools)
    const { tools, toolConfig } = geminiRequestBody({ ...request, toolStyle: 'xml' }).request
    assert.deepEqual([tools, toolConfig], [undefined, undefined])
  })

  test('decides whether a call of Gemini is passed on; one that is not is told of', () => {
    const warnings: Warning[] = []
    const onWarning = (warning: Warning) => void warnings.push(warning)
    assert.deepEqual([...nativeToolCallsFromGeminiPart(part, undefined, onWarning, 'xml')], [])
    assert.deepEqual([...geminiToolCallReader({ toolStyle: 'xml', onWarning })(part)], [])
    assert.deepEqual(
      warnings.map(({ code }) => code),
      ['tool-style', 'tool-style'],
    )
    const [chunk] = geminiToolCallReader({ toolStyle: 'json' })(part)
    const { blocks } = processNativeToolCalls(chunk?.toolCalls ?? [])
    assert.deepEqual(
      blocks.map(({ id, name, params, partial }) => [id, name, params, partial]),
      [['a', 'read_file', { path: 'x' }, false]],
    )
  })
})

describe('countTokens', () => {
  const contents = [
    { role: 'model', parts: [{ text: 'Hm.', thought: true, thoughtSignature: 's' }, { text: 'Yes.' }] },
    { role: 'user' },
  ]

  test('counts thoughts as text, in the envelope of the endpoint', async () => {
    const counted = [
      { role: 'model', parts: [{ text: '[Thought: Hm.]' }, { text: 'Yes.' }] },
      { role: 'user', parts: [] },
    ]
    assert.deepEqual(countTokensBody({ model: 'm', contents }), { contents: counted })
    const bodies: unknown[] = []
    const total = await countTokens({ model: 'm', contents, codeAssist: true }, async (body) => {
      bodies.push(body)
      return { totalTokens: 7 }
    })
    assert.equal(total, 7)
    assert.deepEqual(bodies, [{ request: { model: 'models/m', contents: counted } }])
  })

  test('an answer without a count is 0', async () => {
    for (const answer of [{}, undefined, 'x', { totalTokens: 'many' }])
      assert.equal(await countTokens({ model: 'm', contents }, async () => answer), 0)
  })
})

test('a tool result of Gemini CLI becomes a function response', () => {
  const result: GeminiCliToolResult = { llmContent: 'none', returnDisplay: 'none', error: { message: 'No such file.' } }
  assert.deepEqual(convertToFunctionResponse('read_file', 'c', result.llmContent, { error: result.error }), [
    { functionResponse: { id: 'c', name: 'read_file', response: { error: 'No such file.' } } },
  ])
})

describe('GeminiToolHandler', () => {
  const definition = (name: string) => ({ name, description: '', parameters: { type: 'object' } })
  const handler = new GeminiToolHandler()
    .withTimeout(20)
    .register(definition('add'), () => '3')
    .register(definition('fail'), () => {
      throw new Error('no')
    })
    .register(definition('hang'), () => new Promise<string>(() => {}))

  test('tells what happens to each call', async () => {
    const events: ToolHandlerEvent[] = []
    handler.withDebug((event) => events.push(event))
    for (const name of ['add', 'fail', 'hang', 'other'])
      await handler.execute({ id: `c-${name}`, name, arguments: '{}' })
    assert.deepEqual(
      events.map(({ level, message, callId, success }) => [level, message, callId, success]),
      [
        ['debug', 'Executing function', 'c-add', undefined],
        ['info', 'Function completed', 'c-add', true],
        ['debug', 'Executing function', 'c-fail', undefined],
        ['info', 'Function completed', 'c-fail', false],
        ['debug', 'Executing function', 'c-hang', undefined],
        ['warn', 'Function timed out', 'c-hang', undefined],
        ['warn', 'Function not found', 'c-other', undefined],
      ],
    )
  })

  test('shows its functions and its time limit', () => {
    const shown = 'GeminiToolHandler {"functions":["add","fail","hang"],"timeout":20}'
    assert.deepEqual([inspect(handler), String(handler)], [shown, shown])
  })
})

test('hasValidTypes: what is no object needs no type', () => {
  for (const schema of [true, undefined, null, 'x', { type: 'array' }, { type: 'object', properties: { a: true } }])
    assert.equal(hasValidTypes(schema), true)
  assert.equal(hasValidTypes({ anyOf: [] }), false)
})
