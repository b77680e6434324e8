import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { splitRunnableCalls } from '../../src/model/fold.ts'
import type { ToolSpec } from '../../src/model/request.ts'
import type { Turn } from '../../src/model/turn.ts'
import { codeAssist } from '../../src/wire/code-assist/wire.ts'
import { decodeResponse } from '../../src/wire/decode-response.ts'
import { gemini } from '../../src/wire/gemini/wire.ts'
import { testCorpus } from '../support/gemini-corpus.ts'
import { skipWithoutShared } from '../support/paths.ts'

describe('the corpus on the Code Assist wire', { skip: skipWithoutShared }, () => testCorpus(codeAssist))

const tools: ToolSpec[] = [{ name: 'ping', description: 'Pings.', schema: { type: 'object', properties: {} } }]
const user: Turn = { role: 'user', parts: [{ kind: 'text', text: 'hi' }] }
const request = { model: 'm', system: 'S', tools, turns: [user], session: 'sess', prompt: 'sess#1', project: 'p' }

function answer(chunks: unknown[], status = 200) {
  const reading = { turnKey: 'k'.repeat(20), profile: codeAssist.profile, tools, status }
  const body = chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('')
  return decodeResponse(codeAssist, reading, [Buffer.from(body)], 'text/event-stream')
}

describe('the envelope of Code Assist (T131)', () => {
  test('the request is the last key of the body, and the contents the last key of the request', () => {
    const { body } = codeAssist.encodeRequest(request, codeAssist.profile)
    assert.deepEqual(Object.keys(body), ['model', 'project', 'user_prompt_id', 'request'])
    const inner = body['request'] as Record<string, unknown>
    assert.deepEqual(Object.keys(inner), ['systemInstruction', 'tools', 'generationConfig', 'session_id', 'contents'])
    assert.deepEqual(inner['systemInstruction'], { role: 'user', parts: [{ text: 'S' }] })
    const bare = codeAssist.encodeRequest(
      { model: 'm', tools: [], turns: [user] },
      { ...codeAssist.profile, thinking: 'none' },
    ).body
    assert.deepEqual(bare, { model: 'm', request: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] } })
  })

  test('it reads back with its model, project, prompt and session', () => {
    const { model, project, prompt, session, system, turns } = codeAssist.readRequest(
      codeAssist.encodeRequest(request, codeAssist.profile).body,
    ).request
    assert.deepEqual(
      { model, project, prompt, session, system, turns },
      { model: 'm', project: 'p', prompt: 'sess#1', session: 'sess', system: 'S', turns: [user] },
    )
  })

  test('answers come inside the envelope, or without it', () => {
    const inside = { candidates: [{ content: { parts: [{ functionCall: { id: 'fc1', name: 'ping', args: {} } }] } }] }
    const end = { candidates: [{ content: { parts: [{ text: 'x' }] }, finishReason: 'STOP' }] }
    const history = {
      automaticFunctionCallingHistory: [
        { role: 'model', parts: [{ functionCall: { id: 'fc1', name: 'ping', args: {} } }] },
      ],
    }
    const wrapped = answer([{ response: inside, traceId: 't' }, { response: history }, { response: end }])
    assert.equal(splitRunnableCalls(wrapped.turn).calls.length, 1)
    assert.deepEqual(answer([inside, history, end]), wrapped)
  })

  test('errors come inside or outside of it, and as a bare status', () => {
    const error = { error: { code: 429, message: 'Your quota will reset after 39s.', status: 'RESOURCE_EXHAUSTED' } }
    for (const frame of [error, { response: error }]) {
      const { fault } = answer([frame]).turn.finish
      assert.equal(fault?.kind, 'rate')
      assert.equal(fault?.retryAfter, 39_000)
    }
    assert.equal(answer([], 403).turn.finish.fault?.kind, 'auth')
    assert.equal(answer([]).turn.finish.fault?.kind, 'transport', 'an empty stream on 200')
  })

  test('T120 signatures of the plain endpoint are foreign here, and the other way round', () => {
    const native = { wire: 'code-assist', signer: 'code-assist', id: 'fc1', data: { thoughtSignature: 's' } } as const
    const origin = { provider: 'x', wire: 'code-assist', model: 'm' } as const
    const parts = [{ kind: 'call', id: 'a', name: 'ping', raw: '{}', input: {}, native }] as const
    const turns: Turn[] = [user, { role: 'assistant', origin, parts, finish: { reason: 'calls' } }]
    const here = JSON.stringify(codeAssist.encodeRequest({ ...request, turns }, codeAssist.profile).body)
    assert.match(here, /"thoughtSignature":"s"/)
    assert.equal(here.split('"id":"fc1"').length, 3)
    const there = JSON.stringify(gemini.encodeRequest({ ...request, turns }, gemini.profile).body)
    assert.match(there, /"thoughtSignature":"skip_thought_signature_validator"/)
    assert.doesNotMatch(there, /fc1/)
  })
})
