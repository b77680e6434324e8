import { takeHistorySnapshot } from '../../src/model/history-snapshot.ts'
import type { ModelRequest } from '../../src/model/request.ts'
import { createIncrementalBodyWriter } from '../../src/wire/history/incremental-body-writer.ts'
import { loadWire, wireIds } from '../../src/wire/wires.ts'
import type { GrowthCase } from '../support/growth.ts'
import { createCall, createExchange, createHistory, createResponse, createResult } from './history.ts'

const RESPONSES = [500, 2000, 8000] as const

const tools = [
  { name: 'read_file', description: 'Reads.', schema: { type: 'object', properties: { path: { type: 'string' } } } },
]

/** Requests with long histories: writing the next one, writing and reading a whole one, and many calls in one response. */
export async function listRequestCases(): Promise<GrowthCase[]> {
  const cases: GrowthCase[] = []
  for (const id of wireIds) {
    const wire = await loadWire(id)
    const createRequest = (turns: ModelRequest['turns']): ModelRequest => ({
      model: 'm',
      system: 'You are measured.',
      tools,
      turns,
      session: 's',
      prompt: 's#1',
    })
    cases.push({
      label: `${id}: the next request after so many responses`,
      sizes: RESPONSES,
      grows: 'step',
      rounds: 7,
      // The list of the turns is copied, but not what is in them.
      maxRatio: 6,
      prepare(count) {
        const turns = createHistory(count)
        const write = createIncrementalBodyWriter(wire)
        let next = count
        return () => {
          turns.push(...createExchange(next++))
          const { pieces, prefixHashes } = write(createRequest(takeHistorySnapshot(turns)), wire.profile)
          return [pieces, prefixHashes?.history.at(-1)]
        }
      },
    })
    const manyCalls = (count: number) => {
      const calls = Array.from({ length: count }, (_, at) => createCall(at))
      return createRequest([
        { role: 'user', parts: [{ kind: 'text', text: 'Look.' }] },
        createResponse(calls),
        { role: 'results', parts: calls.map(createResult) },
      ])
    }
    for (const [what, create] of [
      ['a history of responses', (count: number) => createRequest(createHistory(count))],
      ['a response with calls', manyCalls],
    ] as const) {
      cases.push({
        label: `${id}: writing ${what}`,
        sizes: [250, 1000, 4000],
        prepare(count) {
          const request = create(count)
          return () => JSON.stringify(wire.encodeRequest(request, wire.profile).body)
        },
      })
      cases.push({
        label: `${id}: reading ${what}`,
        sizes: [250, 1000, 4000],
        prepare(count) {
          const body: unknown = JSON.parse(JSON.stringify(wire.encodeRequest(create(count), wire.profile).body))
          return () => wire.readRequest(body)
        },
      })
    }
  }
  return cases
}
