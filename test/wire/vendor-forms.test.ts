import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { filterObjects, type JsonObject, objectOrEmpty } from '../../src/model/json.ts'
import type { ModelRequest } from '../../src/model/request.ts'
import type { WireId } from '../../src/model/turn.ts'
import type { Capabilities } from '../../src/provider/provider-definition.ts'
import { completeProfile, resolveCapabilities } from '../../src/provider/resolve-capabilities.ts'
import { decodeResponse, decodeResponseEvents } from '../../src/wire/decode-response.ts'
import { formatSseFrame } from '../../src/wire/framing/write-frames.ts'
import { handOverRequest } from '../../src/wire/hand-over/hand-over-request.ts'
import { wires } from '../support/cases.ts'
import { WIRES } from '../support/seals.ts'

function handOver(source: WireId, body: JsonObject, target: WireId) {
  const { request } = wires[source].readRequest(body)
  const handed = handOverRequest(request, wires[target], wires[target].profile)
  return { body: handed.body, messages: handed.warnings.map(({ message }) => message) }
}

const CHAT_REFUSAL: JsonObject = {
  model: 'm',
  messages: [
    { role: 'user', content: 'Hi.' },
    { role: 'assistant', content: null, refusal: 'I will not.' },
    { role: 'user', content: 'Why?' },
  ],
}
const RESPONSES_REFUSAL: JsonObject = {
  model: 'm',
  input: [
    { role: 'user', content: 'Hi.' },
    { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'I will not.' }] },
    { role: 'user', content: 'Why?' },
  ],
}

describe('refusals', () => {
  it('stay what they are in the requests of their own API', () => {
    const chat = handOver('openai-chat', CHAT_REFUSAL, 'openai-chat')
    assert.deepEqual(filterObjects(chat.body['messages'])[1], {
      role: 'assistant',
      content: null,
      refusal: 'I will not.',
    })
    const { body, messages } = handOver('openai-responses', RESPONSES_REFUSAL, 'openai-responses')
    assert.deepEqual(filterObjects(body['input'])[1], objectOrEmpty((RESPONSES_REFUSAL['input'] as JsonObject[])[1]))
    assert.deepEqual([chat.messages, messages], [[], []])
  })

  for (const [source, given] of [
    ['openai-chat', CHAT_REFUSAL],
    ['openai-responses', RESPONSES_REFUSAL],
  ] as const)
    for (const target of WIRES.filter((wire) => wire !== source))
      it(`from ${source} to ${target} they are text, with a warning`, () => {
        const { body, messages } = handOver(source, given, target)
        assert.ok(JSON.stringify(body).includes('I will not.'))
        assert.deepEqual(messages, [
          `${target} does not mark refusals here; sent as text: refusal, in message 1, part 0.`,
        ])
      })

  for (const wire of ['openai-chat', 'openai-responses'] as const)
    for (const form of ['whole', 'streamed'] as const)
      it(`are written as refusals on ${wire}, ${form}`, () => {
        const { profile, responseWriter } = wires[wire]
        const head = { id: 'r', model: 'm', created: 1, request: {} }
        const part = { kind: 'text', text: 'I will not.', refusal: true } as const
        const stream = responseWriter.startStream(head)
        const origin = { provider: 'x', wire, model: 'm' } as const
        const frames = [
          { type: 'open' } as const,
          { type: 'part-open', index: 0, kind: 'text', refusal: true } as const,
          { type: 'part-delta', index: 0, kind: 'text', text: 'I will ' } as const,
          { type: 'part-delta', index: 0, kind: 'text', text: 'not.' } as const,
          { type: 'part-close', index: 0, part } as const,
          { type: 'finish', reason: 'stop' } as const,
        ].flatMap((event) => stream.write(event))
        const turn = { role: 'assistant', origin, parts: [part], finish: { reason: 'stop' } } as const
        const text =
          form === 'whole' ? JSON.stringify(responseWriter.writeWhole(turn, head)) : frames.map(formatSseFrame).join('')
        const type = form === 'whole' ? 'application/json' : 'text/event-stream'
        const context = { turnKey: 'k', profile, tools: [] }
        const bytes = [new TextEncoder().encode(text)]
        const [first, ...more] = decodeResponse(wires[wire], context, bytes, type).turn.parts
        assert.ok(first?.kind === 'text' && first.refusal && first.text === 'I will not.', text)
        assert.deepEqual(more, [])
        const opened = decodeResponseEvents(wires[wire], context, bytes, type).find(
          (event) => event.type === 'part-open',
        )
        assert.equal(opened?.refusal, true)
      })
})

describe('the names of files', () => {
  const part = (mime: string, name: string) => ({ kind: 'media', mime, data: 'JVBERi0=', name }) as const
  const request: ModelRequest = {
    model: 'm',
    tools: [],
    turns: [{ role: 'user', parts: [part('application/pdf', 'plan.pdf'), part('image/png', 'photo.png')] }],
  }

  for (const target of WIRES)
    it(`are sent to ${target}, or named`, () => {
      const { body, warnings } = handOverRequest(request, wires[target], wires[target].profile)
      const text = JSON.stringify(body) + warnings.map(({ message }) => message).join()
      for (const name of ['plan.pdf', 'photo.png']) assert.ok(text.includes(name), `${target}: ${name}`)
    })

  it('of a document are its title at Anthropic, in both directions', () => {
    const { body } = handOverRequest(request, wires.anthropic, wires.anthropic.profile)
    assert.equal(JSON.stringify(body).match(/"title":"[^"]*"/)?.[0], '"title":"plan.pdf"')
    const { body: chat } = handOver('anthropic', body, 'openai-chat')
    assert.ok(JSON.stringify(chat).includes('"filename":"plan.pdf"'))
  })
})

describe('T172 a grammar', () => {
  const body: JsonObject = {
    model: 'm',
    input: [
      { role: 'user', content: 'Go.' },
      { type: 'custom_tool_call', call_id: 'c1', name: 'patch', input: 'begin\nend' },
      { type: 'custom_tool_call_output', call_id: 'c1', output: 'ok' },
    ],
    tools: [{ type: 'custom', name: 'patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } }],
  }
  for (const target of ['gemini', 'interactions', 'code-assist', 'anthropic'] as const)
    it(`that ${target} only describes is named`, () => {
      const { messages } = handOver('openai-responses', body, target)
      assert.deepEqual(messages, [
        `${target} has no tools with free text here; these get one string argument, and their grammar is only described: patch.`,
      ])
    })

  it('is declared where the API has free text', () => {
    for (const target of ['openai-chat', 'openai-responses'] as const) {
      const handed = handOver('openai-responses', body, target)
      assert.ok(JSON.stringify(handed.body).includes('"type":"grammar"'))
      assert.deepEqual(handed.messages, [])
    }
  })

  it('is one string argument at endpoints that are only compatible with Chat', () => {
    const { request } = wires['openai-responses'].readRequest(body)
    const chat = wires['openai-chat']
    const encodeFor = (profile: Capabilities) => {
      const capabilities = resolveCapabilities({ id: 'x', wire: 'openai-chat', profile }, 'some-model')
      return chat.encodeRequest(request, completeProfile(chat.profile, capabilities)).body
    }
    const compatible = encodeFor({})
    assert.deepEqual(
      filterObjects(compatible['tools']).map(({ type }) => type),
      ['function'],
    )
    const call = filterObjects(filterObjects(compatible['messages'])[1]?.['tool_calls'])[0]
    assert.equal(objectOrEmpty(call?.['function'])['arguments'], '{"input":"begin\\nend"}')
    assert.deepEqual(
      filterObjects(encodeFor({ freeTextTools: true })['tools']).map(({ type }) => type),
      ['custom'],
    )
  })
})

describe('T137 an item of the vendor without the other that belongs to it', () => {
  it('of Anthropic', () => {
    const body: JsonObject = {
      model: 'm',
      max_tokens: 10,
      messages: [
        { role: 'user', content: 'Hi.' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'So.' },
            { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'ALONE' } },
          ],
        },
        { role: 'user', content: 'And?' },
        { role: 'assistant', content: [{ type: 'text', text: 'Yes.' }] },
        { role: 'user', content: 'Well?' },
      ],
    }
    assert.match(handOver('anthropic', body, 'anthropic').messages.join(), /server_tool_use was left out.*ALONE/)
  })

  it('of Interactions', () => {
    const step = { type: 'google_search_call', id: 'g1', arguments: { queries: ['ALONE'] } }
    const body: JsonObject = {
      model: 'm',
      input: [
        { type: 'user_input', content: [{ type: 'text', text: 'Hi.' }] },
        step,
        { type: 'model_output', content: [{ type: 'text', text: 'So.' }] },
        { type: 'user_input', content: [{ type: 'text', text: 'And?' }] },
      ],
    }
    assert.match(
      handOver('interactions', body, 'interactions').messages.join(),
      /google_search_call was left out.*ALONE/,
    )
  })

  it('reasoning that led to nothing', () => {
    const body: JsonObject = {
      model: 'm',
      input: [
        { role: 'user', content: 'Hi.' },
        { type: 'message', role: 'assistant', content: 'So.' },
        { type: 'reasoning', summary: [], encrypted_content: 'ALONE' },
        { role: 'user', content: 'And?' },
      ],
    }
    assert.match(
      handOver('openai-responses', body, 'openai-responses').messages.join(),
      /reasoning was left out.*ALONE/,
    )
  })
})
