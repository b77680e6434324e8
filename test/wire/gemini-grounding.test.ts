import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TurnEvent } from '../../src/model/event.ts'
import { fold } from '../../src/model/fold.ts'
import { readGrounding } from '../../src/model/grounding.ts'
import type { JsonObject } from '../../src/model/json.ts'
import type { ModelRequest } from '../../src/model/request.ts'
import type { AssistantTurn, WireId } from '../../src/model/turn.ts'
import { wires } from '../support/cases.ts'

const GOOGLE = ['gemini', 'code-assist'] as const
const SAID = { role: 'user', parts: [{ kind: 'text', text: 'q' }] } as const

function request(more: Partial<ModelRequest> = {}): ModelRequest {
  return { model: 'gemini-2.5-flash', tools: [], turns: [SAID], ...more }
}

/** The turn that some candidates make. */
function answer(id: WireId, candidates: readonly JsonObject[]): AssistantTurn {
  const wire = wires[id]
  const state = wire.startDecoding({ turnKey: 'k', profile: wire.profile, tools: [] })
  const events: TurnEvent[] = candidates.flatMap((one) =>
    wire.decodeFrame(state, { kind: 'json', value: { candidates: [one] } }),
  )
  return fold([...events, ...wire.finishDecoding(state)], { provider: id, wire: id, model: 'm' }).turn
}

describe('what a vendor looks up by itself', () => {
  for (const id of GOOGLE) {
    test(`${id}: is asked for beside the declared tools, and read back`, () => {
      const wire = wires[id]
      const { body } = wire.encodeRequest(request({ serverTools: ['url_context', 'google_search'] }), wire.profile)
      const inner = (id === 'gemini' ? body : body['request']) as JsonObject
      assert.deepEqual(inner['tools'], [{ urlContext: {} }, { googleSearch: {} }])
      assert.equal(Object.keys(inner).at(-1), 'contents')
      assert.deepEqual(wire.readRequest(body).request.serverTools, ['url_context', 'google_search'])
      assert.equal(wire.readRequest(wire.encodeRequest(request(), wire.profile).body).request.serverTools, undefined)
    })

    test(`${id}: sources come in any piece, and never go back`, () => {
      const turn = answer(id, [
        { content: { parts: [{ text: 'Yes' }] }, groundingMetadata: {} },
        {
          content: { parts: [{ text: '.' }] },
          groundingMetadata: {
            groundingChunks: [{ web: { uri: 'https://a.example/', title: 'A' } }, 'odd'],
            groundingSupports: [
              { segment: { endIndex: 4, text: 'Yes.' }, groundingChunkIndices: [0, -1, 'x'] },
              { segment: null, groundingChunkIndices: [0] },
              null,
            ],
          },
          urlContextMetadata: {
            urlMetadata: [{ retrievedUrl: 'https://a.example/', urlRetrievalStatus: 'X_SUCCESS' }],
          },
        },
        { finishReason: 'STOP', groundingMetadata: { webSearchQueries: ['q'] } },
      ])
      assert.deepEqual(readGrounding(turn), {
        sources: [
          { title: 'A', url: 'https://a.example/' },
          { title: '', url: '' },
        ],
        supports: [
          { start: 0, end: 4, text: 'Yes.', sources: [0] },
          { start: 0, end: 0, text: '', sources: [0] },
        ],
        pages: [{ url: 'https://a.example/', read: true }],
      })
      for (const other of Object.values(wires)) {
        const { body } = other.encodeRequest(request({ turns: [SAID, turn, SAID] }), other.profile)
        assert.ok(!JSON.stringify(body).includes('a.example'), other.id)
      }
      assert.equal(turn.finish.reason, 'stop')
      const plain = answer(id, [{ content: { parts: [{ text: 'Yes' }] }, finishReason: 'STOP', groundingMetadata: {} }])
      assert.equal(plain.parts.length, 1)
      assert.equal(readGrounding(plain), undefined)
    })
  }
})
