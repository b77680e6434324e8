import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isObject, type JsonObject, tryParseJson } from '../../src/model/json.ts'
import type { WireId } from '../../src/model/turn.ts'
import { loadWire, wireIds } from '../../src/wire/wires.ts'
import { recordings } from '../support/corpus.ts'
import { fixtures } from '../support/fixture.ts'
import { listUnknownMembers, traceUnknownInResponse } from '../support/unknown-members.ts'
import { vendorStream } from '../support/vendor-streams.ts'
import { WHOLE_RESPONSES } from '../support/whole-responses.ts'

/** What is not the API's: arguments and errors, and what a response repeats of its request. */
const OPAQUE = [
  'args',
  'arguments',
  'input',
  'error',
  'tools',
  'tool_choice',
  'text',
  'reasoning',
  'metadata',
  'instructions',
]

const STREAMED: Readonly<Partial<Record<WireId, readonly string[]>>> = {
  // A message beside a delta repeats what the deltas said.
  'openai-chat': ['message'],
  // The last event repeats all items, and the end of an item repeats what it consists of.
  'openai-responses': ['output', 'part', 'annotation', 'logprobs', 'caller'],
}

describe('T176 what a decoder does not know of a response is kept, or a warning names it', async () => {
  for (const id of wireIds) {
    const wire = await loadWire(id)

    it(`${id}: whole`, () => {
      const bodies = [WHOLE_RESPONSES[id], ...listWholeBodies(id)]
      report(
        `${id}, ${bodies.length} whole responses`,
        bodies.flatMap((body) =>
          listUnknownMembers(body, { opaque: OPAQUE }).map((member) => ({
            path: member.path,
            fate: traceUnknownInResponse(wire, [member.body], member.marker, 'whole'),
          })),
        ),
      )
    })

    it(`${id}: streamed`, () => {
      const streams = listStreams(id)
      const opaque = [...OPAQUE, ...(STREAMED[id] ?? [])]
      const seen = new Set<string>()
      report(
        `${id}, ${streams.length} streams`,
        streams.flatMap((frames) =>
          frames.flatMap((frame, at) => {
            const shape = describeShape(frame)
            if (seen.has(shape)) return []
            seen.add(shape)
            return listUnknownMembers(frame, { opaque }).map((member) => ({
              path: `${JSON.stringify(frame).slice(0, 60)} ${member.path}`,
              fate: traceUnknownInResponse(wire, frames.with(at, member.body), member.marker, 'stream'),
            }))
          }),
        ),
      )
    })
  }
})

function report(name: string, traced: readonly { readonly path: string; readonly fate: string }[]): void {
  const count = (fate: string) => traced.filter((one) => one.fate === fate).length
  console.log(`${name}: ${traced.length} unknown members, ${count('kept')} kept, ${count('warned')} warned of`)
  const lost = traced
    .filter(({ fate }) => fate !== 'kept' && fate !== 'warned')
    .map(({ path, fate }) => `${fate}: ${path}`)
  assert.deepEqual(lost.slice(0, 20), [], `${lost.length} lost`)
}

function listWholeBodies(id: WireId): JsonObject[] {
  return recordings(id).flatMap(({ response, streaming }) => {
    const body = streaming || response.status >= 400 ? undefined : tryParseJson(response.body)
    return isObject(body) && body['error'] === undefined ? [body as JsonObject] : []
  })
}

/** A stream as the vendor writes it, and those of recordings and fixtures. */
function listStreams(id: WireId): JsonObject[][] {
  const calls = [{ name: 'a', args: { path: 'x' } }]
  const made = vendorStream(id, { signer: id, round: 1, thought: 'Hm, well.', text: 'I look.', calls })
  const recorded = recordings(id).flatMap(({ response, streaming }) =>
    streaming && response.status < 400 ? [response.body] : [],
  )
  // Of a fixture that is damaged, some is ignored.
  const intact = fixtures().flatMap(({ given, expect, bytes }) =>
    given.wire === id && !expect.fault && !expect.warnings && !given.profile ? [new TextDecoder().decode(bytes)] : [],
  )
  const streams = [new TextDecoder().decode(made), ...recorded, ...intact].map(parseFrames)
  return streams.filter(({ length }) => length <= MAX_FRAMES)
}

/** Longer streams take long, and have nothing that the shorter ones lack. */
const MAX_FRAMES = 80

function parseFrames(stream: string): JsonObject[] {
  return stream.split('\n').flatMap((line) => {
    const value = line.startsWith('data: {') ? tryParseJson(line.slice('data: '.length)) : undefined
    return isObject(value) ? [value as JsonObject] : []
  })
}

/** The types and names in a frame: one frame of each shape is enough. */
function describeShape(value: unknown): string {
  if (Array.isArray(value)) return `[${[...new Set(value.map(describeShape))].join()}]`
  if (!isObject(value)) return typeof value
  return `{${Object.entries(value)
    .map(([name, inner]) => `${name}:${/type$|^event/.test(name) ? String(inner) : describeShape(inner)}`)
    .join()}}`
}
