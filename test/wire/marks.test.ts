import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import type { ToolSpec } from '../../src/model/request.ts'
import type { Turn } from '../../src/model/turn.ts'
import { createIncrementalBodyWriter } from '../../src/wire/history/incremental-body-writer.ts'
import { countCommonPrefix, joinHashLists, type PrefixHashes } from '../../src/wire/history/prefix-hashes.ts'
import { loadWire, wireIds } from '../../src/wire/wires.ts'

const tools: ToolSpec[] = [
  { name: 'read_file', description: 'Reads.', schema: { type: 'object', properties: { path: { type: 'string' } } } },
]

const said = (text: string): Turn => ({ role: 'user', parts: [{ kind: 'text', text }] })

/** A model's answer with a call, and its result. */
function exchange(n: number, text: string): Turn[] {
  const call = { kind: 'call', id: `call${n}`, name: 'read_file', raw: '{"path":"a"}', input: { path: 'a' } } as const
  const result = { kind: 'result', id: call.id, name: call.name, status: 'ok' } as const
  return [
    {
      role: 'assistant',
      origin: { provider: 'x', wire: 'openai-chat', model: 'm' },
      parts: [{ kind: 'text', text: `Looking ${n}.` }, call],
      finish: { reason: 'calls' },
    },
    { role: 'results', parts: [{ ...result, content: [{ kind: 'text', text }] }] },
  ]
}

const all = ({ history }: PrefixHashes): (string | undefined)[] =>
  Array.from({ length: history.length }, (_, at) => history.at(at))

describe('marks: the hash of each prefix of a request', () => {
  for (const id of wireIds) {
    test(`${id}: they only grow with the history, and a writer that begins anew finds the same`, async () => {
      const wire = await loadWire(id)
      for (const profile of [wire.profile, { ...wire.profile, cache: 'marks' as const }]) {
        const write = createIncrementalBodyWriter(wire)
        const turns: Turn[] = [said('Begin.')]
        let before: readonly (string | undefined)[] = []
        for (let n = 1; n <= 6; n++) {
          const request = { model: 'm', system: 'Be brief.', tools, turns, session: 's', prompt: `p${n}` }
          const { prefixHashes } = write(request, profile)
          const anew = createIncrementalBodyWriter(wire)({ ...request, turns: [...turns] }, profile).prefixHashes
          assert.ok(prefixHashes && anew)
          assert.deepEqual(all(prefixHashes), all(anew))
          assert.deepEqual(
            [prefixHashes.settings, prefixHashes.system, prefixHashes.tools],
            [anew.settings, anew.system, anew.tools],
            'the head',
          )
          assert.deepEqual(all(prefixHashes).slice(0, before.length), before)
          assert.ok(prefixHashes.history.length > before.length)
          before = all(prefixHashes)
          turns.push(...exchange(n, `Result ${n}.`))
        }
      }
    })

    test(`${id}: each part has its own`, async () => {
      const wire = await loadWire(id)
      const base = { model: 'm', system: 'Be brief.', tools, turns: [said('a'), ...exchange(1, 'b'), said('c')] }
      const marksOf = (change: object) => {
        const { prefixHashes } = createIncrementalBodyWriter(wire)({ ...base, ...change }, wire.profile)
        assert.ok(prefixHashes)
        return prefixHashes
      }
      const plain = marksOf({})
      const differs = (other: PrefixHashes) => [
        ...(['settings', 'system', 'tools'] as const).filter((key) => plain[key] !== other[key]),
        countCommonPrefix(plain.history, other.history),
      ]
      const { length } = plain.history
      assert.deepEqual(differs(marksOf({})), [length])
      assert.deepEqual(differs(marksOf({ system: 'Be long.' })), ['system', length])
      assert.deepEqual(differs(marksOf({ tools: [{ ...tools[0], description: 'Reads!' }] })), ['tools', length])
      assert.deepEqual(differs(marksOf({ params: { temperature: 0.5 } })), ['settings', length])
      assert.deepEqual(differs(marksOf({ turns: [said('A'), ...exchange(1, 'b'), said('c')] })), [0])
      const late = differs(marksOf({ turns: [said('a'), ...exchange(1, 'B'), said('c')] }))
      assert.ok(typeof late[0] === 'number' && late[0] > 0 && late[0] < length, String(late))
    })
  }

  test('the common beginning of two lists', () => {
    fc.assert(
      fc.property(fc.nat(60), fc.nat(60), fc.nat(60), (shared, one, other) => {
        const marks = (end: number, name: string) =>
          Array.from({ length: shared + end }, (_, at) => (at < shared ? `${at}` : `${name}${at}`))
        const first = marks(one, 'a')
        const split = Math.min(first.length, 7)
        assert.equal(
          countCommonPrefix(
            joinHashLists(first.slice(0, split), first.slice(split)),
            joinHashLists(marks(other, 'b'), []),
          ),
          shared,
        )
      }),
      { numRuns: 200, seed: Number(process.env['DRAGOMAN_SEED'] ?? 1) },
    )
  })
})
