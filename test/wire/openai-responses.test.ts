import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { splitRunnableCalls } from '../../src/model/fold.ts'
import { decodeResponse } from '../../src/wire/decode-response.ts'
import type { JsonObject } from '../../src/model/json.ts'
import type { Turn } from '../../src/model/turn.ts'
import { fromPlainConversation } from '../../src/wire/plain-conversation/from-plain.ts'
import { toPlainConversation } from '../../src/wire/plain-conversation/to-plain.ts'
import { openaiResponses } from '../../src/wire/openai-responses/wire.ts'
import type { Wire } from '../../src/wire/wire.ts'
import { atLengths, bytewise, checkRecording, decodeRecording } from '../support/check-recording.ts'
import { recordings, toCorpusConversation } from '../support/corpus.ts'
import { hasShared, shared, skipWithoutShared } from '../support/paths.ts'

const wire = openaiResponses as Wire

/** Recordings whose expectation we do not meet on purpose. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'openai-responses/copied--rubyllm_chat_responses_protocol_lms_openai_gpt_oss_20b_runs_client_side_tools-0.json':
    'the client offered a tool with an empty name; a call that names no tool is rejected, not run (T08)',
}

describe('the corpus on the Responses wire', { skip: skipWithoutShared }, () => {
  for (const recording of recordings('openai-responses')) {
    test(recording.file, () => {
      const whole = decodeRecording(wire, recording)
      if (EXCEPTIONS[recording.file]) assert.throws(() => checkRecording(recording, whole))
      else checkRecording(recording, whole)
      assert.deepEqual(decodeRecording(wire, recording, bytewise), whole, 'byte by byte')
      const lengths = recording.response.chunkBytes
      if (lengths)
        assert.deepEqual(
          decodeRecording(wire, recording, (all) => atLengths(all, lengths)),
          whole,
          'as it came',
        )
    })
  }

  for (const recording of recordings('openai-responses').filter((one) => one.request?.conversation)) {
    const conversation = recording.request?.conversation
    test(`${recording.file}: the request is read, and written again`, () => {
      const plain: unknown = toCorpusConversation(
        toPlainConversation(wire.readRequest(recording.request?.body).request),
      )
      assert.deepEqual(plain, conversation)
      const { body } = wire.encodeRequest(
        fromPlainConversation(conversation, { model: recording.model }).request,
        wire.profile,
      )
      assert.deepEqual(complaints(body), [])
      assert.deepEqual(gist(body['input']), gist(recording.request?.body?.['input']))
    })
  }

  test('a request of every kind of part is as the published description wants it', () => {
    const input = {
      role: 'assistant',
      origin: { provider: 'x', wire: 'openai-responses', model: 'm' },
      finish: { reason: 'stop' },
    } as const
    const native = { wire: 'openai-responses', signer: 'openai-responses' } as const
    const call = (id: string, name: string) =>
      ({
        kind: 'call',
        id,
        name,
        raw: '{}',
        input: { input: 'x' },
        native: { ...native, id, data: { caller: { type: 'direct' } } },
      }) as const
    const image = { kind: 'media', mime: 'image/png', data: 'AAAA' } as const
    const pdf = { kind: 'media', mime: 'application/pdf', data: 'AAAA' } as const
    const answer = (id: string) =>
      ({ kind: 'result', id, name: '', status: 'error', content: [{ kind: 'text', text: 'x' }, image, pdf] }) as const
    const item = (data: JsonObject) => ({ kind: 'text', text: '', native: { ...native, data } }) as const
    const turns: Turn[] = [
      {
        role: 'user',
        parts: [{ kind: 'text', text: 'hi' }, image, pdf, { kind: 'media', mime: 'audio/wav', data: 'AAAA' }],
      },
      {
        ...input,
        parts: [
          { kind: 'text', text: 'Hm', native: { ...native, data: { phase: 'commentary' } } },
          item({ type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } }),
          item({ type: 'program', id: 'cm_1', call_id: 'p', code: '', fingerprint: '' }),
          call('1', 'read'),
          call('2', 'free'),
        ],
      },
      { role: 'results', parts: [answer('1'), answer('2')] },
      { role: 'note', text: 'note' },
    ]
    const tools = [
      { name: 'read', description: 'x', schema: { type: 'object', properties: { input: { type: 'string' } } } },
      { name: 'free', description: 'x', schema: { type: 'object', properties: {} }, freeform: true },
    ]
    const params = { effort: 'high', maxTokens: 1, temperature: 1, topP: 1, parallelCalls: true } as const
    for (const toolChoice of [
      'none',
      'required',
      { name: 'read' },
      { name: 'free' },
      { only: ['read', 'free'] },
    ] as const) {
      const request = { model: 'm', system: 'S', session: 's', tools, toolChoice, turns, params }
      const { body } = wire.encodeRequest(request, { ...wire.profile, constrain: true })
      assert.deepEqual(complaints(body), [])
      assert.equal((body['input'] as unknown[]).length, 9)
    }
  })

  test('streamed answers carry no fault and no warning that the recording does not explain', () => {
    const odd = recordings('openai-responses').flatMap((one) =>
      decodeRecording(wire, one).warnings.map((warning) => `${one.file} ${warning.code}`),
    )
    assert.deepEqual(odd, ['openai-responses/vercel-ai--openai-phase.1-stream-0.json missing-events'])
  })
})

describe('llama-server', { skip: skipWithoutShared }, () => {
  for (const name of hasShared ? ['responses-stream.sse', 'responses-json.json'] : []) {
    test(name, () => {
      const bytes = readFileSync(join(shared, 'captures/llama-server', name))
      const { turn, warnings } = decodeResponse(
        wire,
        { turnKey: 'k'.repeat(20), profile: wire.profile, tools: [], status: 200 },
        [bytes],
      )
      assert.deepEqual(
        splitRunnableCalls(turn).calls.map(({ name: tool, input }) => [tool, input]),
        [['get_weather', { city: 'Paris' }]],
      )
      assert.equal(`${turn.finish.reason} ${turn.finish.raw}`, 'calls completed')
      assert.deepEqual(turn.usage, { input: 1, cacheRead: 298, cacheWrite: 0, output: 33, reasoning: 0 })
      assert.equal(turn.origin.model, 'local')
      assert.deepEqual(warnings, [])
    })
  }
})

/** Texts, calls and results of an input, in their order; the system's words apart. */
function gist(input: unknown): unknown[] {
  type Item = Record<string, unknown>
  const text = (content: unknown) =>
    typeof content === 'string' ? content : (content as { text?: string }[]).map((part) => part.text ?? '').join('')
  return (input as Item[]).flatMap((item) => {
    if (item['type'] === 'function_call') return [['call', item['call_id'], item['name'], item['arguments']]]
    if (item['type'] === 'function_call_output') return [['result', item['call_id'], text(item['output'])]]
    return item['role'] === 'user' ? [['user', text(item['content'])]] : []
  })
}

/** What OpenAI's published description of a request has against a body; an empty list is good. */
function complaints(body: unknown): string[] {
  const validate = (validator ??= compile())
  return validate(body) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message ?? ''}`)
}

let validator: ValidateFunction | undefined

function compile(): ValidateFunction {
  // Its alternatives overlap, so that a good body may match two: any one will do.
  const text = readFileSync(join(shared, 'specs/openai-requests.openapi.json'), 'utf8').replaceAll('"oneOf"', '"anyOf"')
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema({ $id: 'spec', ...(JSON.parse(text) as object) })
  return ajv.compile({ $ref: 'spec#/components/schemas/CreateResponse' })
}
