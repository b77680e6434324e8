import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { isObject, type JsonObject, stringOrEmpty } from '../../src/model/json.ts'
import type { ModelRequest } from '../../src/model/request.ts'
import type { WireId } from '../../src/model/turn.ts'
import { parseVendorRoute } from '../../src/wire/vendor-route.ts'
import type { CapturedRequest } from '../../scripts/clients/capture-server.ts'
import { checkTools } from '../../scripts/clients/check-tools.ts'
import { wires } from '../support/cases.ts'
import { recordings } from '../support/corpus.ts'
import { answerCalls, type DatasetCase, readDataset, toCase } from '../support/dataset.ts'
import { describeDifferences, isRenamed, listExchanges, passThrough, toWireExchanges } from '../support/hand-over.ts'
import { shared, skipWithoutShared } from '../support/paths.ts'
import { compareTools, type ToolOutcome } from '../support/tool-survival.ts'

const wireIds = Object.keys(wires) as WireId[]
/** Folders that a user names: data sets, and what `npm run clients -- --out` has written. */
const folder = process.env['DRAGOMAN_DATASETS']
const captures = process.env['DRAGOMAN_CLIENT_CAPTURES']

describe('tools, calls and results are the same after every hand-over from wire to wire', () => {
  test('the recordings of real providers', { skip: skipWithoutShared }, () => handOverAll(recordedCases()))
  test('calls written as text', { skip: skipWithoutShared }, () => handOverAll(textCallCases()))
  test('the data sets in DRAGOMAN_DATASETS', { skip: folder ? false : 'DRAGOMAN_DATASETS names no folder' }, () =>
    handOverAll(readDataset(folder ?? '')),
  )
  const skip = captures ? false : 'DRAGOMAN_CLIENT_CAPTURES names no folder'
  test('the requests of other agents in DRAGOMAN_CLIENT_CAPTURES', { skip }, async () => {
    const requests = readCaptures(captures ?? '')
    for (const { id, captured } of requests) assert.deepEqual((await checkTools(captured))?.losses ?? [], [], id)
    handOverAll(requests.flatMap(toCapturedCase))
  })
})

/** From each wire to each: encode, read, encode, read. */
function handOverAll(cases: readonly DatasetCase[]): void {
  assert.ok(cases.length > 0, 'there are cases')
  const counts = { cases: cases.length, tools: 0, calls: 0, results: 0, handOvers: 0, renamed: 0 }
  const faults: string[] = []
  for (const { id, request } of cases) {
    const exchanges = listExchanges(request)
    counts.tools += request.tools.length
    counts.calls += exchanges.length
    counts.results += exchanges.filter(({ result }) => result).length
    for (const from of wireIds) {
      const first = handOver(request, from)
      faults.push(...first.faults.map((fault) => `${id} on ${from}: ${fault}`))
      for (const to of wireIds) {
        const second = handOver(first.request, to)
        faults.push(...second.faults.map((fault) => `${id} from ${from} to ${to}: ${fault}`))
        counts.handOvers++
        if (first.isRenamed || second.isRenamed) counts.renamed++
      }
    }
  }
  console.log(JSON.stringify({ ...counts, faults: faults.length }))
  assert.equal(faults.length, 0, faults.slice(0, 10).join('\n'))
}

/** Everything is as it was, except names that the wire does not allow: there it is as the wire's declarations say. */
function handOver(request: ModelRequest, id: WireId) {
  const wire = wires[id]
  const found = passThrough(request, wire)
  const renamed = isRenamed(request, wire)
  const expected = renamed ? toWireExchanges(request, wire) : listExchanges(request)
  const tools = compareTools(request, found, wire).filter(({ outcome }) => LOSSES.has(outcome))
  const faults = [
    ...describeDifferences(expected, listExchanges(found)),
    ...tools.map(({ tool, outcome }) => `tool ${tool.name}: ${outcome}`),
  ]
  return { request: found, isRenamed: renamed, faults }
}

const LOSSES: ReadonlySet<ToolOutcome> = new Set(['missing', 'other-description', 'other-schema'])

/** The tools and the history of each request, and the calls of its response with results of ours. */
function recordedCases(): DatasetCase[] {
  return wireIds.flatMap(recordings).flatMap(({ file, wire, request: recorded, expect }) => {
    if (!recorded?.body) return []
    const { request } = wires[wire].readRequest(recorded.body)
    const calls = expect.toolCalls.flatMap(({ name, args, kind }) =>
      isObject(args) && kind !== 'custom' ? [{ name, input: args as JsonObject }] : [],
    )
    const turns = calls.length === 0 ? request.turns : [...request.turns, ...answerCalls(file, calls)]
    return [{ id: file, request: { model: 'm', tools: request.tools, turns } }]
  })
}

function textCallCases(): DatasetCase[] {
  const place = join(shared, 'text-calls')
  const files = readdirSync(place).filter((name) => name.endsWith('.json'))
  const records = files.flatMap((name) => JSON.parse(readFileSync(join(place, name), 'utf8')) as JsonObject[])
  return records.flatMap((record) => toCase(stringOrEmpty(record['id']), record) ?? [])
}

interface NamedCapture {
  readonly id: string
  readonly captured: CapturedRequest
}

function readCaptures(place: string): NamedCapture[] {
  const names = readdirSync(place, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.json'))
  return names
    .sort()
    .map((id) => ({ id, captured: JSON.parse(readFileSync(join(place, id), 'utf8')) as CapturedRequest }))
}

function toCapturedCase({ id, captured }: NamedCapture): DatasetCase[] {
  const route = parseVendorRoute(captured.path, captured.headers)
  return route?.kind === 'ask' ? [{ id, request: wires[route.wire].readRequest(captured.body).request }] : []
}
