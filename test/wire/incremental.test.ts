import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { takeHistorySnapshot } from '../../src/model/history-snapshot.ts'
import type { ToolSpec } from '../../src/model/request.ts'
import type { JsonObject } from '../../src/model/json.ts'
import type { AssistantPart, AssistantTurn, CallPart, Turn } from '../../src/model/turn.ts'
import { joinBodyPieces } from '../../src/wire/history/encoded-messages.ts'
import { createIncrementalBodyWriter } from '../../src/wire/history/incremental-body-writer.ts'
import { loadWire, wireIds } from '../../src/wire/wires.ts'

const tools: ToolSpec[] = [
  { name: 'read_file', description: 'Reads.', schema: { type: 'object', properties: { path: { type: 'string' } } } },
]

/** Ids repeat on purpose: what is written later must not take an id that was given before. */
const call = fc
  .record({ id: fc.constantFrom('a', 'b', 'c', 'd'), path: fc.string(), own: fc.boolean() })
  .map(({ id, path, own }): CallPart => {
    const native = { wire: 'openai-chat', signer: 'openai-chat', id: `own_${id}` } as const
    return {
      kind: 'call',
      id,
      name: 'read_file',
      raw: JSON.stringify({ path }),
      input: { path },
      ...(own && { native }),
    }
  })

const turn: fc.Arbitrary<Turn> = fc.oneof(
  fc.string().map((text): Turn => ({ role: 'user', parts: [{ kind: 'text', text }] })),
  fc.string().map((text): Turn => ({ role: 'note', text })),
  fc.record({ text: fc.string(), calls: fc.array(call, { maxLength: 3 }) }).map(({ text, calls }): AssistantTurn => {
    const origin = { provider: 'x', wire: 'openai-chat', model: 'm' } as const
    return { role: 'assistant', origin, parts: [{ kind: 'text', text }, ...calls], finish: { reason: 'stop' } }
  }),
  fc
    .array(fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd'), text: fc.string() }), { maxLength: 3 })
    .map((all): Turn => ({
      role: 'results',
      parts: all.map(({ id, text }) => ({
        kind: 'result',
        id,
        name: 'read_file',
        status: 'ok',
        content: [{ kind: 'text', text }],
      })),
    })),
)

describe('a body that is written piece by piece is the same, byte for byte, as one that is written anew', () => {
  for (const id of wireIds) {
    for (const hasSnapshots of [true, false])
      test(`${id}, ${hasSnapshots ? 'with snapshots of a history' : 'with the history itself'}`, async () => {
        const wire = await loadWire(id)
        fc.assert(
          fc.property(fc.array(turn, { maxLength: 24 }), fc.string(), (all, system) => {
            const write = createIncrementalBodyWriter(wire)
            const turns: Turn[] = []
            for (const [at, one] of all.entries()) {
              turns.push(one)
              // A request goes out before each answer; results may still come to the last turn after it.
              if (all[at + 1]?.role !== 'assistant' && at + 1 < all.length) continue
              const history = hasSnapshots ? takeHistorySnapshot(turns) : turns
              const request = { model: 'm', system, tools, turns: history, session: 's', prompt: 'p' }
              const whole = JSON.stringify(wire.encodeRequest(request, wire.profile).body)
              assert.equal(joinBodyPieces(write(request, wire.profile).pieces), whole)
            }
          }),
          { numRuns: 300, seed: Number(process.env['DRAGOMAN_SEED'] ?? 1) },
        )
      })
  }

  for (const id of wireIds)
    test(`${id}: each request has its own tools, though most are the same as in the last one`, async () => {
      const wire = await loadWire(id)
      const write = createIncrementalBodyWriter(wire)
      const schema = { type: 'object', properties: { path: { type: 'string' } } }
      const [first, second] = ['a', 'b'].map((name): ToolSpec => ({ name, description: name, schema })) as [
        ToolSpec,
        ToolSpec,
      ]
      const lists = [
        [first, second],
        [{ ...first }, { ...second }],
        [second, first],
        [first, { ...second, description: 'c' }],
        [first, { ...second, schema: { ...schema, required: ['path'] } }],
        [first],
        [first, second],
      ]
      const turns: Turn[] = [{ role: 'user', parts: [{ kind: 'text', text: 'hi' }] }]
      for (const list of lists)
        for (const cacheTtl of [undefined, '1h'] as const) {
          const params = cacheTtl && { cacheTtl }
          const request = { model: 'm', system: 's', tools: list, turns, ...(params && { params }) }
          const whole = JSON.stringify(wire.encodeRequest(request, wire.profile).body)
          const { pieces, prefixHashes } = write(request, wire.profile)
          assert.equal(joinBodyPieces(pieces), whole)
          assert.equal(
            prefixHashes?.tools,
            createIncrementalBodyWriter(wire)(request, wire.profile).prefixHashes?.tools,
          )
        }
    })

  test('Anthropic with thinking, the tools of the server, and responses of other models', async () => {
    const wire = await loadWire('anthropic')
    const native = (data: JsonObject) => ({ wire: 'anthropic', signer: 'anthropic', data }) as const
    const block = fc.constantFrom<AssistantPart>(
      { kind: 'text', text: 'a' },
      { kind: 'text', text: ' ' },
      { kind: 'reasoning', text: 'b', native: native({ type: 'thinking', thinking: 'b', signature: 's' }) },
      { kind: 'text', text: '', native: native({ type: 'server_tool_use', id: 'w', name: 'web_search', input: {} }) },
      { kind: 'text', text: '', native: native({ type: 'web_search_tool_result', tool_use_id: 'w', content: [] }) },
      { kind: 'call', id: 'a', name: 'read_file', raw: '{}', input: {} },
    )
    const response = fc.array(block, { maxLength: 4 }).map((parts): Turn => {
      const origin = { provider: 'anthropic', wire: 'anthropic', model: 'm' } as const
      return { role: 'assistant', origin, parts: structuredClone(parts), finish: { reason: 'calls' } }
    })
    const result: Turn = {
      role: 'results',
      parts: [{ kind: 'result', id: 'a', name: 'read_file', status: 'ok', content: [{ kind: 'text', text: 'x' }] }],
    }
    const params = { effort: 'low' } as const
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            response,
            fc.constant(result).map((one) => structuredClone(one)),
            turn,
          ),
          { maxLength: 24 },
        ),
        (all) => {
          const write = createIncrementalBodyWriter(wire)
          const turns: Turn[] = []
          for (const one of all) {
            turns.push(one)
            if (one.role === 'assistant') continue
            const request = { model: 'm', tools, turns: takeHistorySnapshot(turns), params } as const
            const whole = JSON.stringify(wire.encodeRequest(request, wire.profile).body)
            assert.equal(joinBodyPieces(write(request, wire.profile).pieces), whole)
          }
        },
      ),
      { numRuns: 500, seed: Number(process.env['DRAGOMAN_SEED'] ?? 1) },
    )
  })

  test('endpoints whose messages must alternate, or need a bridge', async () => {
    const wire = await loadWire('openai-chat')
    const profile = { ...wire.profile, alternate: true, bridge: true }
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 24 }), (all) => {
        const write = createIncrementalBodyWriter(wire)
        const turns: Turn[] = []
        for (const one of all) {
          turns.push(one)
          const request = { model: 'm', tools, turns: takeHistorySnapshot(turns) }
          const whole = JSON.stringify(wire.encodeRequest(request, profile).body)
          assert.equal(joinBodyPieces(write(request, profile).pieces), whole)
        }
      }),
      { numRuns: 300, seed: Number(process.env['DRAGOMAN_SEED'] ?? 1) },
    )
  })

  test('a history that was replaced by a summary, or another model, begins anew', async () => {
    const wire = await loadWire('openai-chat')
    const write = createIncrementalBodyWriter(wire)
    const said = (text: string): Turn => ({ role: 'user', parts: [{ kind: 'text', text }] })
    const answer: Turn = {
      role: 'assistant',
      origin: { provider: 'x', wire: 'openai-chat', model: 'm' },
      parts: [{ kind: 'text', text: 'ok' }],
      finish: { reason: 'stop' },
    }
    const turns = [said('1'), answer, said('2'), answer, said('3')]
    const request = { model: 'm', tools, turns }
    write(request, wire.profile)
    turns.splice(0, 3, said('summary'))
    for (const profile of [wire.profile, { ...wire.profile, systemRole: 'developer' as const }]) {
      assert.equal(
        joinBodyPieces(write(request, profile).pieces),
        JSON.stringify(wire.encodeRequest(request, profile).body),
      )
    }
  })
})
