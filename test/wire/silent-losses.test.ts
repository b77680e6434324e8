import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import type { WireId } from '../../src/model/turn.ts'
import { decodeResponse } from '../../src/wire/decode-response.ts'
import { formatSseFrame } from '../../src/wire/framing/write-frames.ts'
import { handOverRequest } from '../../src/wire/hand-over/hand-over-request.ts'
import { wires } from '../support/cases.ts'
import { WIRES } from '../support/seals.ts'

function handOver(source: WireId, body: JsonObject, target: WireId) {
  const { request } = wires[source].readRequest(body)
  const handed = handOverRequest(request, wires[target], wires[target].profile)
  return { text: JSON.stringify(handed.body), messages: handed.warnings.map(({ message }) => message).join('\n') }
}

function decodeWhole(wire: WireId, body: JsonObject) {
  const bytes = new TextEncoder().encode(JSON.stringify(body))
  const context = { turnKey: 'k'.repeat(20), profile: wires[wire].profile, tools: [] }
  return decodeResponse(wires[wire], context, [bytes], 'application/json')
}

function decodeStream(wire: WireId, events: readonly JsonObject[]) {
  const bytes = new TextEncoder().encode(events.map((data) => formatSseFrame({ data })).join(''))
  const context = { turnKey: 'k'.repeat(20), profile: wires[wire].profile, tools: [] }
  return decodeResponse(wires[wire], context, [bytes], 'text/event-stream')
}

describe('media that another API does not take are named', () => {
  const media: readonly (readonly [mime: string, data: string])[] = [
    ['audio/ogg', 'T2dnUw=='],
    ['video/mp4', 'AAAAIA=='],
    ['image/svg+xml', 'PHN2Zz4='],
    ['image/png', 'iVBORw0='],
    ['application/pdf', 'JVBERi0='],
    ['application/zip', 'UEsDBA=='],
  ]
  const shapes: Readonly<Record<string, (part: JsonObject) => JsonObject>> = {
    'in a message': (part) => ({ contents: [{ role: 'user', parts: [part] }] }),
    'in a result': (part) => ({
      contents: [
        { role: 'user', parts: [{ text: 'Hi.' }] },
        { role: 'model', parts: [{ functionCall: { id: 'c', name: 'n', args: {} } }] },
        {
          role: 'user',
          parts: [{ functionResponse: { id: 'c', name: 'n', response: { output: 'x' }, parts: [part] } }],
        },
      ],
      tools: [{ functionDeclarations: [{ name: 'n', parametersJsonSchema: { type: 'object' } }] }],
    }),
    'of the model': (part) => ({
      contents: [
        { role: 'user', parts: [{ text: 'Hi.' }] },
        { role: 'model', parts: [part] },
        { role: 'user', parts: [{ text: 'Go on.' }] },
      ],
    }),
  }
  for (const [where, shape] of Object.entries(shapes))
    for (const [mime, data] of media)
      for (const target of WIRES)
        it(`${mime} ${where}, to ${target}`, () => {
          const { text, messages } = handOver('gemini', shape({ inlineData: { mimeType: mime, data } }), target)
          const isSent = text.includes(data)
          assert.equal(messages.includes('does not take these media'), !isSent, `${text}\n${messages}`)
          if (!isSent) assert.ok(messages.includes(mime))
        })
})

describe('details of responses', () => {
  it('Gemini: the message of a normal end', () => {
    const content = { role: 'model', parts: [{ text: 'x' }] }
    const candidate = { content, finishReason: 'STOP', finishMessage: 'Two tools were not used.' }
    const { warnings, turn } = decodeWhole('gemini', { candidates: [candidate] })
    assert.equal(turn.finish.reason, 'stop')
    assert.match(JSON.stringify(warnings), /Two tools were not used/)
  })

  it('Chat: counts of tokens that are not zero', () => {
    const details = { reasoning_tokens: 0, audio_tokens: 0, accepted_prediction_tokens: 5 }
    const { turn } = decodeWhole('openai-chat', {
      choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 9, completion_tokens: 8, total_tokens: 17, completion_tokens_details: details },
    })
    const kept = JSON.stringify(turn.finish)
    assert.match(kept, /"accepted_prediction_tokens":5/)
    assert.doesNotMatch(kept, /audio_tokens/)
  })

  const created = { type: 'response.created', response: { id: 'r', status: 'in_progress' } }
  const completed = { type: 'response.completed', response: { id: 'r', status: 'completed', output: [] } }

  it('Responses: an item that was announced and never finished', () => {
    const item = { type: 'web_search_call', id: 'ws_1', status: 'in_progress' }
    const added = { type: 'response.output_item.added', output_index: 0, item }
    const { warnings } = decodeStream('openai-responses', [created, added, completed])
    assert.match(JSON.stringify(warnings), /web_search_call was dropped/)
  })

  it('Responses: citations that only events have', () => {
    const annotation = {
      type: 'url_citation',
      url: 'https://example.com/',
      title: 'Example',
      start_index: 0,
      end_index: 1,
    }
    const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
    const part = { type: 'output_text', text: 'Yes.', annotations: [annotation] }
    const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' }
    const text = { type: 'response.output_text.delta', ...place, delta: 'Yes.' }
    const event = { type: 'response.output_text.annotation.added', ...place, annotation_index: 0, annotation }
    const partDone = { type: 'response.content_part.done', ...place, part }
    const itemDone = (content: JsonObject[]) => ({
      type: 'response.output_item.done',
      output_index: 0,
      item: { ...message, content },
    })
    const streams: JsonObject[][] = [
      [text, event],
      [text, partDone],
      [text, event, partDone, itemDone([{ type: 'output_text', text: 'Yes.', annotations: [] }])],
      [text, event, itemDone([part])],
    ]
    for (const events of streams) {
      const { turn } = decodeStream('openai-responses', [created, ...events, completed])
      const [only, ...others] = turn.parts
      assert.equal(others.length, 0)
      assert.ok(only?.kind === 'text' && only.text === 'Yes.')
      assert.deepEqual(only.native?.data, { fields: { annotations: [annotation] } })
    }
  })
})
