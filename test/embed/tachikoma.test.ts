import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  errorResult,
  GeminiToolHandler,
  jsonResult,
  parseFunctionCall,
  textResult,
  toGeminiFunction,
  toGeminiFunctionResponse,
  toGeminiFunctionResponseContent,
  toGeminiToolConfig,
  toGeminiTools,
  toModelContentWithFunctions,
  type ToolCall,
  type ToolDefinition,
  type ToolResult,
  type Warning,
} from '../../src/embed/index.ts'

const ADD: ToolDefinition = {
  name: 'add',
  description: 'Adds.',
  parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
}
const NOW: ToolDefinition = {
  name: 'now',
  description: 'Tells the time.',
  parameters: { type: 'object', properties: {} },
}

function call(name: string, args = '{}', id = 'c1'): ToolCall {
  return { id, name, arguments: args }
}

describe('declarations', () => {
  test('a tool in Gemini’s own schema language', () => {
    assert.deepEqual(toGeminiFunction(ADD), {
      name: 'add',
      description: 'Adds.',
      parameters: {
        type: 'OBJECT',
        properties: { a: { type: 'NUMBER' }, b: { type: 'NUMBER' } },
        required: ['a', 'b'],
      },
    })
    // The service refuses an object without properties.
    assert.deepEqual(toGeminiFunction(NOW), { name: 'now', description: 'Tells the time.' })
  })

  test('or as JSON Schema', () => {
    assert.deepEqual(toGeminiFunction(ADD, { dialect: 'gemini-json' }), {
      name: 'add',
      description: 'Adds.',
      parametersJsonSchema: ADD.parameters,
    })
  })

  test('all tools in one, in their order; a bad one costs only itself', () => {
    const warnings: Warning[] = []
    const bad = { name: 'bad', description: '', parameters: { type: 'string' } }
    const tools = toGeminiTools([ADD, bad, NOW], { onWarning: (warning) => warnings.push(warning) })
    assert.equal(tools.length, 1)
    assert.deepEqual(
      tools[0]?.functionDeclarations?.map(({ name }) => name),
      ['add', 'now'],
    )
    assert.deepEqual(
      warnings.map(({ code }) => code),
      ['tool-set-aside'],
    )
    assert.deepEqual(toGeminiTools([]), [])
    assert.throws(() => toGeminiFunction(bad), /bad: /)
  })

  test('the choice', () => {
    const config = (choice: Parameters<typeof toGeminiToolConfig>[0]) =>
      toGeminiToolConfig(choice).functionCallingConfig
    assert.deepEqual(config('auto'), { mode: 'AUTO' })
    assert.deepEqual(config('required'), { mode: 'ANY' })
    assert.deepEqual(config('none'), { mode: 'NONE' })
    assert.deepEqual(config({ name: 'add' }), { mode: 'ANY', allowedFunctionNames: ['add'] })
    assert.deepEqual(config({ only: ['add', 'now'] }), { mode: 'VALIDATED', allowedFunctionNames: ['add', 'now'] })
  })
})

describe('parseFunctionCall', () => {
  const mint = () => 'call_1'

  test('reads a call; absent arguments are none', () => {
    const part = { functionCall: { name: 'add', args: { a: 1, b: 2 } } }
    assert.deepEqual(parseFunctionCall(part, mint), { id: 'call_1', name: 'add', arguments: '{"a":1,"b":2}' })
    assert.deepEqual(parseFunctionCall({ functionCall: { name: 'now' } }, mint), {
      id: 'call_1',
      name: 'now',
      arguments: '{}',
    })
  })

  test('ids are ours and never repeat; the endpoint’s own goes along with the signature', () => {
    const part = { functionCall: { id: 'g1', name: 'now', args: {} }, thoughtSignature: 'sig' }
    const one = parseFunctionCall(part)
    const two = parseFunctionCall(part)
    assert.match(one?.id ?? '', /^call_[0-9a-f-]{36}$/)
    assert.notEqual(one?.id, two?.id)
    assert.deepEqual([one?.wireId, one?.thoughtSignature], ['g1', 'sig'])
  })

  test('gives nothing for what is no call, or not a whole one', () => {
    const none = [null, 'x', {}, { text: 'hi' }, { functionCall: {} }, { functionCall: { name: '' } }]
    const pieces = [
      { functionCall: { name: 'a', willContinue: true } },
      { functionCall: { name: 'a', partialArgs: [] } },
    ]
    for (const part of [...none, ...pieces]) assert.equal(parseFunctionCall(part), undefined)
  })

  test('names and values come back in the author’s spelling', () => {
    const odd: ToolDefinition = {
      name: 'über/tool',
      description: 'Odd.',
      parameters: {
        type: 'object',
        properties: { level: { type: 'integer', enum: [1, 2] }, 'a-b': { type: 'string' } },
      },
    }
    const declared = toGeminiFunction(odd)
    const keys = Object.keys(declared.parameters?.properties ?? {})
    const args = { [keys[0] ?? '']: '2', [keys[1] ?? '']: 'x' }
    const parsed = parseFunctionCall({ functionCall: { name: declared.name, args } }, mint, { definitions: [odd] })
    assert.deepEqual([parsed?.name, JSON.parse(parsed?.arguments ?? '')], ['über/tool', { level: 2, 'a-b': 'x' }])
  })
})

describe('messages', () => {
  test('results', () => {
    const response = (result: ToolResult) => toGeminiFunctionResponse(result).functionResponse
    assert.deepEqual(response(textResult(call('add'), '3')), { name: 'add', response: { result: '3' } })
    assert.deepEqual(response(jsonResult(call('add'), { sum: 3 })), { name: 'add', response: { result: { sum: 3 } } })
    assert.deepEqual(response(errorResult(call('add'), 'no')), { name: 'add', response: { error: 'no' } })
    const echoed = textResult({ ...call('add'), wireId: 'g1' }, '3')
    assert.deepEqual(response(echoed), { id: 'g1', name: 'add', response: { result: '3' } })
    const content = toGeminiFunctionResponseContent([textResult(call('a'), '1'), textResult(call('b'), '2')])
    assert.equal(content.role, 'user')
    assert.deepEqual(
      content.parts?.map(({ functionResponse }) => functionResponse?.name),
      ['a', 'b'],
    )
  })

  test('a turn of the model', () => {
    const signed = { ...call('add', '{"a":1}'), wireId: 'g1', thoughtSignature: 'sig' }
    assert.deepEqual(toModelContentWithFunctions('I add.', [signed, call('now', 'broken {')]), {
      role: 'model',
      parts: [
        { text: 'I add.' },
        { functionCall: { id: 'g1', name: 'add', args: { a: 1 } }, thoughtSignature: 'sig' },
        { functionCall: { name: 'now', args: {} } },
      ],
    })
    assert.deepEqual(toModelContentWithFunctions(null, [call('now')]).parts?.length, 1)
    assert.deepEqual(toModelContentWithFunctions(undefined, []).parts, [{ text: '(no answer)' }])
  })
})

describe('GeminiToolHandler', () => {
  const sum = ({ arguments: args }: ToolCall) => {
    const { a, b } = JSON.parse(args) as { a: number; b: number }
    return String(a + b)
  }

  test('keeps the order of registration', () => {
    const handler = new GeminiToolHandler()
    handler
      .register(NOW, () => 'now')
      .register(ADD, sum)
      .register(NOW, () => 'again')
    assert.deepEqual(handler.getDefinitions(), [NOW, ADD])
    assert.deepEqual([handler.hasFunction('add'), handler.hasFunction('toString')], [true, false])
  })

  test('runs a call', async () => {
    const handler = new GeminiToolHandler().register(ADD, async (one) => jsonResult(one, 3))
    const given = { ...call('add', '{"a":1,"b":2}'), wireId: 'g1' }
    assert.deepEqual(await handler.execute(given), { ...jsonResult(given, 3), wireId: 'g1' })
    assert.deepEqual(await new GeminiToolHandler().register(ADD, sum).execute(given), textResult(given, '3'))
  })

  test('never throws', async () => {
    const handler = new GeminiToolHandler()
      .register({ ...NOW, name: 'throws' }, () => {
        throw new Error('broken')
      })
      .register({ ...NOW, name: 'rejects' }, () => Promise.reject(new Error('refused')))
      .register({ ...NOW, name: 'nothing' }, () => undefined as unknown as ToolResult)
      .register({ ...NOW, name: 'liar' }, () => textResult(call('other', '{}', 'c9'), 'x'))
    const message = async (name: string) => (await handler.execute(call(name))).content
    assert.deepEqual(await message('throws'), { type: 'error', message: 'broken' })
    assert.deepEqual(await message('rejects'), { type: 'error', message: 'refused' })
    assert.deepEqual((await message('nothing')).type, 'error')
    const unknown = await handler.execute(call('unknown'))
    assert.deepEqual([unknown.success, unknown.id], [false, 'c1'])
    assert.ok(unknown.content.type === 'error' && unknown.content.message.startsWith('Function not found'))
    assert.deepEqual(await handler.execute(call('liar')), textResult(call('liar'), 'x'))
  })

  test('does not run what is not whole, or does not fit', async () => {
    let runs = 0
    const handler = new GeminiToolHandler().register(ADD, () => String(++runs))
    for (const args of ['{"a":1,"b":', '[1]', 'x', '{"a":1}', '{"a":"x","b":2}', '{"a":1,"b":2}{"a":3,"b":4}']) {
      assert.equal((await handler.execute(call('add', args))).success, false, args)
    }
    assert.equal(runs, 0)
    assert.equal((await handler.execute(call('add', "{'a': 1, 'b': 2,}"))).success, true)
  })

  test('waits no longer than the limit, and says so to the tool', async () => {
    let told = false
    const handler = new GeminiToolHandler().withTimeout(20).register(NOW, async (_call, signal) => {
      signal.addEventListener('abort', () => (told = true))
      await sleep(200)
      throw new Error('late, and nobody cares')
    })
    const { success, content } = await handler.execute(call('now'))
    assert.deepEqual([success, content, told], [false, { type: 'error', message: 'Timed out after 20ms' }, true])
    await sleep(250)
  })

  test('hidden characters do not reach the model', async () => {
    const answers = ['seen\u{E0041}', textResult(call('now'), 'seen\u{E0041}')]
    for (const answer of answers) {
      const handler = new GeminiToolHandler().register(NOW, () => answer)
      assert.deepEqual((await handler.execute(call('now'))).content, { type: 'text', text: 'seen' })
    }
  })

  test('no limit is no limit', async () => {
    const handler = new GeminiToolHandler().withTimeout(Infinity).register(NOW, async () => {
      await sleep(20)
      return 'done'
    })
    assert.equal((await handler.execute(call('now'))).success, true)
    assert.equal((await handler.withTimeout(2 ** 40).execute(call('now'))).success, true)
  })

  test('results come in the order of the calls', async () => {
    const handler = new GeminiToolHandler().register(ADD, async (one) => {
      const { a } = JSON.parse(one.arguments) as { a: number }
      await sleep(30 - a * 10)
      return `${a}`
    })
    const calls = [0, 1, 2].map((a) => call('add', JSON.stringify({ a, b: 0 }), `c${a}`))
    const results = await handler.executeAll([...calls, call('missing', '{}', 'c3')])
    assert.deepEqual(
      results.map(({ id }) => id),
      ['c0', 'c1', 'c2', 'c3'],
    )
    assert.deepEqual(
      results.map(({ success }) => success),
      [true, true, true, false],
    )
  })
})
