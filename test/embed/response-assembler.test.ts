import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as anthropic from '../../src/embed/anthropic.ts'
import * as gemini from '../../src/embed/gemini.ts'
import * as interactions from '../../src/embed/interactions.ts'
import * as openai from '../../src/embed/openai.ts'
import * as responses from '../../src/embed/responses.ts'
import type {
  AssembledResponse,
  ResponseAssembler,
  ResponseAssemblerOptions,
  ResponseEvent,
} from '../../src/embed/openai.ts'
import type { WireId } from '../../src/model/turn.ts'
import { type Fixture, fixtures } from '../support/fixture.ts'
import { vendorStream } from '../support/vendor-streams.ts'

type CreateAssembler = (options?: ResponseAssemblerOptions) => Pick<ResponseAssembler<Uint8Array>, 'push' | 'end'>

const ASSEMBLERS: Record<WireId, CreateAssembler> = {
  'openai-chat': openai.createAssembler,
  'openai-responses': responses.createAssembler,
  anthropic: anthropic.createAssembler,
  gemini: gemini.createAssembler,
  interactions: interactions.createAssembler,
  'code-assist': gemini.createAssembler,
}

/** Every fixture that needs nothing besides the bytes. */
const PLAIN = fixtures().filter(({ given }) => !given.profile && !given.headers && !given.toolChoice)

const toDefinitions = (given: Fixture['given']) =>
  given.tools.map(({ name, description, schema }) => ({ name, description, parameters: schema }))

function assemble({ given, bytes }: Fixture, size: number): { response: AssembledResponse; events: ResponseEvent[] } {
  const { wire, status, contentType } = given
  const assembler = ASSEMBLERS[wire]({ tools: toDefinitions(given), status, contentType })
  const events: ResponseEvent[] = []
  for (let at = 0; at < bytes.length; at += size) events.push(...assembler.push(bytes.subarray(at, at + size)))
  return { response: assembler.end(), events }
}

describe('raw bytes of every known failure', () => {
  for (const wire of Object.keys(ASSEMBLERS) as WireId[]) {
    const ours = PLAIN.filter(({ given }) => given.wire === wire && !given.tools.some(({ freeform }) => freeform))
    test(`${wire}: ${ours.length} fixtures give the calls that may run, and no others`, () => {
      assert.ok(ours.length > 5)
      for (const fixture of ours) {
        const { response } = assemble(fixture, 11)
        const { expect, name } = fixture
        assert.deepEqual(
          response.calls.map((call) => [call.name, call.input]),
          expect.calls.map((call) => [call.name, call.input]),
          name,
        )
        assert.deepEqual(
          response.rejected.map((call) => call.name),
          (expect.rejected ?? []).map((call) => call.name),
          name,
        )
        assert.equal(response.finish.reason, expect.finish.reason, name)
        assert.equal(new Set(response.calls.map(({ id }) => id)).size, expect.calls.length, name)
      }
    })
  }
})

const ANSWER = {
  round: 1,
  thought: 'I need the file.',
  text: 'I look.',
  calls: [
    { name: 'read_file', args: { path: 'a.txt' } },
    { name: 'read_file', args: { path: 'b.txt' } },
  ],
}

describe('what is told while a response comes', () => {
  for (const [wire, create] of Object.entries(ASSEMBLERS) as [WireId, CreateAssembler][]) {
    test(`${wire}: text, reasoning and calls, piece by piece, before the end`, () => {
      const assembler = create({
        tools: [{ name: 'read_file', description: 'Reads.', parameters: { type: 'object' } }],
      })
      const bytes = vendorStream(wire, { ...ANSWER, signer: wire })
      const events: ResponseEvent[] = []
      let firstText = -1
      for (let at = 0; at < bytes.length; at += 5) {
        events.push(...assembler.push(bytes.subarray(at, at + 5)))
        if (firstText < 0 && events.some(({ type }) => type === 'text')) firstText = at
      }
      assert.ok(firstText > 0 && firstText < bytes.length * 0.7, `${firstText} of ${bytes.length}`)
      const joined = (type: string) =>
        events.map((event) => (event.type === type && 'text' in event ? event.text : '')).join('')
      const { calls, text, reasoning, events: last } = assembler.end()
      events.push(...last)
      assert.deepEqual([joined('text'), text], [ANSWER.text, ANSWER.text])
      assert.ok(reasoning.endsWith(ANSWER.thought))
      assert.equal(joined('reasoning'), reasoning)
      assert.deepEqual(
        calls.map(({ name, input }) => ({ name, args: input })),
        ANSWER.calls,
      )
      const of = (type: string) => events.filter((event) => event.type === type).length
      assert.deepEqual([of('call-open'), of('call-close')], [2, 2])
    })
  }

  test('a connection that broke: no call may run, and the reason is told', () => {
    const assembler = openai.createAssembler()
    const call = { index: 0, id: 'c', function: { name: 'a', arguments: '{}' } }
    assembler.push({ choices: [{ index: 0, delta: { tool_calls: [call] } }] })
    const { calls, rejected, finish } = assembler.end(new Error('socket hang up'))
    assert.deepEqual([calls.length, rejected.length, finish.reason, finish.fault?.kind], [0, 1, 'fault', 'transport'])
    assert.match(finish.fault?.message ?? '', /socket hang up/)
  })

  test('it ends once, and a chunk after the end is told of', () => {
    const assembler = openai.createAssembler()
    assembler.push({ choices: [{ index: 0, delta: { content: 'x' }, finish_reason: 'stop' }] })
    const first = assembler.end()
    assert.deepEqual(
      assembler.push({ choices: [] }).map((event) => event.type === 'warning' && event.warning.code),
      ['after-end'],
    )
    assert.equal(assembler.end(new Error('late')), first)
  })

  test('a stream that fails becomes the finish, and is not thrown', async () => {
    async function* stream() {
      yield { choices: [{ index: 0, delta: { content: 'x' } }] }
      throw new Error('reset')
    }
    const { text, finish } = await openai.assembleStream(openai.createAssembler(), stream())
    assert.deepEqual([text, finish.reason], ['x', 'fault'])
  })
})

describe('back to the vendor', () => {
  test('a name and a schema that the vendor refuses are changed there and back', () => {
    const tools = [{ name: 'read file!', description: '', parameters: { type: 'object', properties: {} } }]
    const declared = openai.declareTools(tools, { toolChoice: { name: 'read file!' } })
    const name = declared.tools?.[0]?.function.name ?? ''
    assert.match(name, /^[\w-]+$/)
    assert.deepEqual(declared.tool_choice, { type: 'function', function: { name } })
    const assembler = openai.createAssembler({ tools })
    const call = { index: 0, id: 'c1', type: 'function', function: { name, arguments: '{}' } }
    assembler.push({ choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: 'tool_calls' }] })
    const response = assembler.end()
    assert.equal(response.calls[0]?.name, 'read file!')
    const history = openai.toHistory(response, [{ id: response.calls[0]?.id ?? '', output: { a: 1 } }], { tools })
    assert.deepEqual(history, [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name, arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: '{"a":1}' },
    ])
  })

  test('without tools nothing is declared', () => {
    for (const { declareTools } of [openai, anthropic, responses, gemini])
      assert.deepEqual(declareTools([], { toolChoice: 'required' }), {})
  })

  test('a call that must not run is answered with the reason, one without a result as not run', () => {
    const assembler = anthropic.createAssembler()
    const block = (id: string, input: unknown) => ({ type: 'tool_use', id, name: 'a', input })
    assembler.push({
      type: 'message',
      role: 'assistant',
      content: [block('x', { b: 1 }), block('y', 'no object')],
      stop_reason: 'tool_use',
    } as anthropic.AnthropicEvent)
    const response = assembler.end()
    assert.deepEqual([response.calls.length, response.rejected.length], [1, 1])
    const [, answer] = anthropic.toHistory(response)
    assert.match(JSON.stringify(answer), /"tool_use_id":"x".*interrupted.*"tool_use_id":"y".*did not run/)
  })

  test('media of a result, a failed tool, and a value that is no text', () => {
    const assembler = anthropic.createAssembler()
    const content = ['x', 'y', 'z'].map((id) => ({ type: 'tool_use', id, name: 'a', input: {} }))
    assembler.push({ type: 'message', role: 'assistant', content, stop_reason: 'tool_use' } as anthropic.AnthropicEvent)
    const response = assembler.end()
    const [x = '', y = '', z = ''] = response.calls.map(({ id }) => id)
    const [, answer] = anthropic.toHistory(response, [
      { id: z, output: { n: 1 } },
      { id: x, output: 'A picture.', media: [{ mime: 'image/png', data: 'iVBORw0KGgo=' }] },
      { id: y, output: 'No such file.', isError: true },
    ])
    const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' }
    assert.deepEqual(answer, {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'x',
          content: [
            { type: 'text', text: 'A picture.' },
            { type: 'image', source },
          ],
        },
        { type: 'tool_result', tool_use_id: 'y', content: 'No such file.', is_error: true },
        { type: 'tool_result', tool_use_id: 'z', content: '{"n":1}' },
      ],
    })
  })

  test('an id that the history has already is not used again', () => {
    const usedIds = new Set<string>()
    const ids = [1, 2].map(() => {
      const assembler = openai.createAssembler()
      const call = { index: 0, id: 'call_0', type: 'function', function: { name: 'a', arguments: '{}' } }
      assembler.push({ choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: 'tool_calls' }] })
      const [message, result] = openai.toHistory(assembler.end(), [], { usedIds })
      const id = message?.role === 'assistant' ? message.tool_calls?.[0]?.id : undefined
      assert.equal(result?.role === 'tool' && result.tool_call_id, id)
      return id
    })
    assert.equal(ids[0], 'call_0')
    assert.notEqual(ids[1], 'call_0')
    assert.deepEqual([...usedIds], ids)
  })
})
