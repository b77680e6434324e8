import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { splitRunnableCalls } from '../../src/model/fold.ts'
import { isObject } from '../../src/model/json.ts'
import type { AssistantTurn } from '../../src/model/turn.ts'
import { fromPlainConversation } from '../../src/wire/plain-conversation/from-plain.ts'
import { toPlainConversation } from '../../src/wire/plain-conversation/to-plain.ts'
import type { Wire } from '../../src/wire/wire.ts'
import { atLengths, bytewise, checkRecording, decodeRecording } from './check-recording.ts'
import { type Recording, recordings, toCorpusConversation } from './corpus.ts'
import { shared } from './paths.ts'

/** Tests that every recording of a Gemini wire reads as the corpus says, however it is cut, and that its request goes out again. */
export function testCorpus(wire: Wire): void {
  for (const recording of recordings(wire.id)) {
    test(recording.file, () => {
      const whole = decodeRecording(wire, recording)
      checkRecording(recording, whole)
      checkTokens(recording, whole.turn.usage)
      assert.deepEqual(decodeRecording(wire, recording, bytewise), whole, 'byte by byte')
      const lengths = recording.response.chunkBytes
      if (lengths)
        assert.deepEqual(
          decodeRecording(wire, recording, (all) => atLengths(all, lengths)),
          whole,
          'as it came',
        )
      checkSignatures(wire, recording, whole.turn)
      checkCuts(wire, recording, whole.turn)
      checkRequest(wire, recording)
    })
  }
}

function checkTokens({ expect, file }: Recording, usage: { output: number; reasoning: number } | undefined): void {
  assert.equal(usage?.output ?? 0, expect.usage?.['output'] ?? 0, `${file}: output tokens`)
  assert.equal(usage?.reasoning ?? 0, expect.usage?.['reasoning'] ?? 0, `${file}: reasoning tokens`)
}

/** Every signature of the answer goes back once, in its order, byte for byte (T117–T119). */
function checkSignatures(wire: Wire, { response, file }: Recording, turn: AssistantTurn): void {
  const came = [...response.body.matchAll(/"thoughtSignature":\s*("[^"]+")/g)].map(
    ([, text]) => JSON.parse(text ?? '') as string,
  )
  const user = { role: 'user', parts: [{ kind: 'text', text: 'x' }] } as const
  const { body } = wire.encodeRequest({ model: 'm', tools: [], turns: [user, turn, user] }, wire.profile)
  const sent = [...JSON.stringify(body).matchAll(/"thoughtSignature":("[^"]+")/g)].map(
    ([, text]) => JSON.parse(text ?? '') as string,
  )
  assert.deepEqual(sent, came, `${file}: signatures`)
}

/** However early an answer breaks off, nothing runs that the whole answer would not run. */
function checkCuts(wire: Wire, recording: Recording, whole: AssistantTurn): void {
  // Where the vendor answers its own calls, a clean end right before its answer cannot be told from the true end.
  if (recording.tags.includes('server-tool')) return
  const wanted = splitRunnableCalls(whole).calls.map(({ name, input }) => JSON.stringify([name, input]))
  const { length } = Buffer.from(recording.response.body)
  for (let part = 0; part < 40; part++) {
    const { turn } = decodeRecording(wire, recording, (all) => [all.subarray(0, Math.floor((length * part) / 40))])
    const ran = splitRunnableCalls(turn).calls.map(({ name, input }) => JSON.stringify([name, input]))
    assert.deepEqual(ran, wanted.slice(0, ran.length), `${recording.file}: cut at ${part}/40`)
  }
}

/** A request reads as the corpus says, and goes out again as something that the API takes and that says the same. */
function checkRequest(wire: Wire, { request, file }: Recording): void {
  const { body, conversation } = request ?? {}
  if (!conversation) return
  assert.deepEqual(
    toCorpusConversation(toPlainConversation(wire.readRequest(body).request)),
    conversation,
    `${file}: the request as read`,
  )
  const again = wire.encodeRequest(fromPlainConversation(conversation, { model: 'm' }).request, wire.profile).body
  const inner = wire.id === 'code-assist' ? (again['request'] as Record<string, unknown>) : again
  const valid = validator()
  assert.ok(valid(inner), `${file}: ${JSON.stringify(valid.errors)}`)
  assert.deepEqual(substance(again), substance(body), `${file}: the request as written`)
}

/** The calls, results and texts of a body, in order, without their form. */
function substance(body: unknown): unknown[] {
  const outer = isObject(body) ? body : {}
  const { contents } = (isObject(outer['request']) ? outer['request'] : outer) as {
    contents?: { parts: Record<string, unknown>[] }[]
  }
  return (contents ?? [])
    .flatMap(({ parts }) => parts)
    .flatMap((part) => {
      const call = part['functionCall'] as { name: string; args?: unknown } | undefined
      const response = part['functionResponse'] as { name: string; response: unknown } | undefined
      if (call) return [['call', call.name, call.args ?? {}]]
      if (response) return [['result', response.name, response.response]]
      // The corpus shows what was spelled in snake case only as an item, which says nothing.
      return typeof part['text'] === 'string' ? [['text', part['text']]] : []
    })
}

function validator() {
  const schema = JSON.parse(readFileSync(join(shared, 'specs/gemini-vertex-request.schema.json'), 'utf8')) as object
  return new Ajv2020({ strict: false }).compile(schema)
}
