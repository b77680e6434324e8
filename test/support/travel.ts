import assert from 'node:assert/strict'
import { isObject, type Json, type JsonObject } from '../../src/model/json.ts'
import { splitRunnableCalls } from '../../src/model/fold.ts'
import type { Profile } from '../../src/model/profile.ts'
import type { ModelRequest, ToolSpec } from '../../src/model/request.ts'
import type { AssistantTurn, ResultPart, Turn, WireId } from '../../src/model/turn.ts'
import { declareTools } from '../../src/schema/dialect/declare-tools.ts'
import { decodeResponse } from '../../src/wire/decode-response.ts'
import { wires } from './cases.ts'
import { meaningOf, meaningRead } from './meaning.ts'
import { foreignMarks } from './seals.ts'
import { validateTranscript } from './transcript-validator.ts'
import { type Answer, SSE, vendorStream } from './vendor-streams.ts'

/** An endpoint on the way of a conversation. */
export interface Station {
  readonly wire: WireId
  readonly profile: Profile
}

/** The station of a wire's plain endpoint. */
export function plain(wire: WireId): Station {
  return { wire, profile: wires[wire].profile }
}

/** The tools of every conversation here. */
export const TOOLS: readonly ToolSpec[] = [
  { name: 'read_file', description: 'Reads.', schema: { type: 'object', properties: { path: { type: 'string' } } } },
  { name: 'run', description: 'Runs.', schema: { type: 'object', properties: { command: { type: 'string' } } } },
]

/** Reads a real answer of a vendor, with two calls unless it is told otherwise, and answers its calls. */
export function exchange(station: Station, round: number, more: Partial<Answer> = {}): Turn[] {
  const { wire, profile } = station
  const answer: Answer = {
    signer: profile.signer,
    round,
    thought: `Thought ${round}.`,
    text: `Words ${round} of ${wire}.`,
    calls: [
      { name: 'read_file', args: { path: `${round}.txt` } },
      { name: 'run', args: { command: `echo "${round}"` } },
    ],
    ...more,
  }
  const reading = { turnKey: `turn${String(round).padStart(16, '0')}`, profile, tools: TOOLS }
  const { turn } = decodeResponse(wires[wire], reading, [vendorStream(wire, answer)], SSE)
  const { calls, rejected } = splitRunnableCalls(turn)
  assert.deepEqual(rejected, [])
  assert.deepEqual(
    calls.map(({ name, input }) => ({ name, args: input })),
    answer.calls.map(({ name, args }) => ({ name, args })),
  )
  const results = calls.map(({ id, name }, at): ResultPart => {
    const text = `Result ${round}.${at}`
    return { kind: 'result', id, name, status: at === 0 ? 'ok' : 'error', content: [{ kind: 'text', text }] }
  })
  // Tools end in any order.
  return [turn, { role: 'results', parts: results.toReversed() }]
}

/** A user's turn. */
export function says(text: string): Turn {
  return { role: 'user', parts: [{ kind: 'text', text }] }
}

/**
 * Writes the request for the next station, and holds that it is accepted there, means all that was said, called and
 * answered, and carries no vendor data of anybody else.
 */
export function arrive({ wire, profile }: Station, turns: readonly Turn[]): { body: JsonObject; text: string } {
  const request: ModelRequest = { model: 'm', tools: TOOLS, turns }
  const { body } = wires[wire].encodeRequest(request, profile)
  const text = JSON.stringify(body)
  assert.deepEqual(validateTranscript(wire, body, profile), [])
  const thinking = wires[wire].encodeRequest({ ...request, params: { effort: 'medium' } }, profile).body
  assert.deepEqual(validateTranscript(wire, thinking, profile), [])
  assert.deepEqual(foreignMarks(text, wire, profile.signer), [])
  const meant = meaningOf(turns, declareTools(TOOLS, profile.dialect))
  const said = meaningRead(wires[wire].readRequest(body).request)
  assert.deepEqual(
    said.calls.map(({ name, args }) => [name, args]),
    meant.calls.map(({ name, args }) => [name, args]),
  )
  assert.deepEqual(said.ids[1], said.ids[0])
  for (const [at, { answer }] of meant.calls.entries())
    for (const words of answer ?? []) assert.ok(said.calls[at]?.answer?.join('\n').includes(words), words)
  // Some templates want a word of the assistant between a result and the user (T94).
  const words = said.said.filter((one) => one.trim() !== '' && one !== 'Understood.')
  assert.equal(words.join('\n'), meant.said.join('\n'))
  return { body, text }
}

/** The strings that a vendor sealed on a turn, ids of calls included; ids of items mean nothing to a server that keeps none (T84). */
export function seals(turn: AssistantTurn | undefined): string[] {
  return (turn?.parts ?? []).flatMap((part) => [
    ...(part.native?.id === undefined ? [] : [part.native.id]),
    ...strings(part.native?.data ?? null),
    // Where thoughts are not sealed, they go back as they were said (T74).
    ...(part.kind === 'reasoning' ? strings(part.text) : []),
  ])
}

function strings(value: Json): string[] {
  if (typeof value === 'string') return value.includes('7Qz') ? [value] : []
  if (Array.isArray(value)) return value.flatMap(strings)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, inner]) => (key === 'id' ? [] : strings(inner)))
}
