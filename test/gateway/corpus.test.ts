import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createClientEvents } from '../../src/gateway/client-events.ts'
import { createTurnFold, splitRunnableCalls } from '../../src/model/fold.ts'
import { isObject, type JsonObject } from '../../src/model/json.ts'
import type { ModelRequest } from '../../src/model/request.ts'
import type { AssistantTurn, WireId } from '../../src/model/turn.ts'
import { decodeResponse, decodeResponseEvents } from '../../src/wire/decode-response.ts'
import { createFrameFormatter } from '../../src/wire/framing/write-frames.ts'
import { stringifyWithRawJson } from '../../src/wire/json/raw-json.ts'
import { collectDeclaredTools } from '../../src/wire/late-tools.ts'
import type { DecodeContext, Wire } from '../../src/wire/wire.ts'
import { loadWire, wireIds } from '../../src/wire/wires.ts'
import { recordings } from '../support/corpus.ts'
import { KEY } from './support.ts'

const EMPTY: ModelRequest = { model: 'm', tools: [], turns: [] }
const HEAD = {
  id: 'r1',
  model: 'm',
  created: 1_700_000_000,
  request: { stream_options: { include_usage: true }, include: ['reasoning.encrypted_content'] },
}

for (const from of wireIds)
  describe(`recorded responses of ${from}, written for each client`, async () => {
    const wire = await loadWire(from)
    const all = recordings(from)
    for (const to of wireIds) {
      if (to === from) continue
      test(`${to}: ${all.length} responses keep their calls, arguments, text, usage and end`, async () => {
        const client = await loadWire(to)
        for (const recording of all) {
          const request = readRequest(wire, recording.request?.body)
          const { contentType, status, body } = recording.response
          const tools = collectDeclaredTools(request).known
          const context: DecodeContext = { turnKey: 'k1', profile: wire.profile, tools, status }
          const bytes = [Buffer.from(body)]
          const before = decodeResponse(wire, context, bytes, contentType).turn
          for (const stream of [true, false]) {
            const written = write(wire, client, { context, bytes, contentType, request, stream })
            const note = `${recording.file}, ${stream ? 'streamed' : 'whole'}`
            if (written === undefined) {
              // Whatever is not finished, or has a call that must not run, is an error for the client.
              const { rejected } = splitRunnableCalls(before)
              const isFailed = ['fault', 'malformed-call', 'aborted'].includes(before.finish.reason)
              assert.ok(isFailed || rejected.length > 0, note)
              continue
            }
            const clientContext: DecodeContext = { turnKey: 'k2', profile: client.profile, tools, status: 200 }
            const after = decodeResponse(client, clientContext, [Buffer.from(written)], undefined).turn
            assert.deepEqual(summarize(after, to), summarize(before, to), note)
          }
        }
      })
    }
  })

function readRequest(wire: Wire, body: JsonObject | undefined): ModelRequest {
  return isObject(body) ? wire.readRequest(body).request : EMPTY
}

interface Recorded {
  readonly context: DecodeContext
  readonly bytes: Buffer[]
  readonly contentType: string
  readonly request: ModelRequest
  readonly stream: boolean
}

/** The bytes that a client gets; undefined if it gets an error. */
function write(
  wire: Wire,
  client: Wire,
  { context, bytes, contentType, request, stream }: Recorded,
): string | undefined {
  const events = createClientEvents({ wire: client.id, upstreamWire: wire.id, request, key: KEY })
  const writer = client.responseWriter.startStream(HEAD)
  const formatter = createFrameFormatter('sse')
  const fold = createTurnFold({ provider: 'p', wire: client.id, model: 'm' })
  let text = ''
  for (const event of decodeResponseEvents(wire, context, bytes, contentType)) {
    const end = event.type === 'finish' ? events.end(event) : undefined
    if (end && !('finish' in end)) return undefined
    const passed = event.type === 'finish' ? events.takeHeldCalls() : events.push(event)
    for (const one of [...passed, ...(end ? [end.finish] : [])]) {
      fold.push(one)
      for (const frame of writer.write(one)) text += formatter.format(frame)
    }
  }
  return stream ? text : stringifyWithRawJson(client.responseWriter.writeWhole(fold.end().turn, HEAD))
}

/** What a turn says and does, as far as the API of the client can say it. */
function summarize(turn: AssistantTurn, client: WireId): JsonObject {
  const { calls } = splitRunnableCalls(turn)
  const { reason } = turn.finish
  const usage = turn.usage
  return {
    calls: calls.map(({ name, input, freeform, raw }) => [name, freeform ? { input: raw } : (input ?? null)]),
    text: turn.parts.map((part) => (part.kind === 'text' ? part.text : '')).join(''),
    // A response with calls that ends as if it had none, or the other way round, means the same.
    end: reason === 'stop' || reason === 'calls' ? 'done' : reason,
    output: usage ? usage.output + usage.reasoning : 0,
    // Google has no count of what was written to a cache.
    input: usage ? usage.input + usage.cacheRead + usage.cacheWrite : 0,
    ...(client === 'anthropic' && { cached: usage?.cacheRead ?? 0 }),
  }
}
