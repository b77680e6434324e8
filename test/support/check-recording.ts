import assert from 'node:assert/strict'
import { type FoldedTurn, splitRunnableCalls } from '../../src/model/fold.ts'
import type { CallPart } from '../../src/model/turn.ts'
import { decodeResponse } from '../../src/wire/decode-response.ts'
import type { Wire } from '../../src/wire/wire.ts'
import type { Recording } from './corpus.ts'

/** Reads a recorded answer in pieces of any size. */
export function decodeRecording(
  wire: Wire,
  recording: Recording,
  cut: (bytes: Uint8Array) => Iterable<Uint8Array> = (all) => [all],
): FoldedTurn {
  const { body, contentType, status } = recording.response
  const tools = wire.readRequest(recording.request?.body).request.tools
  return decodeResponse(
    wire,
    { turnKey: 'k'.repeat(20), profile: wire.profile, tools, status },
    cut(Buffer.from(body)),
    contentType,
  )
}

/** Cuts bytes one by one. */
export function* bytewise(all: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < all.length; at++) yield all.subarray(at, at + 1)
}

/** Cuts bytes into pieces of the given lengths; what is left over is the last piece. */
export function* atLengths(all: Uint8Array, lengths: readonly number[]): Generator<Uint8Array> {
  let at = 0
  for (const length of lengths) yield all.subarray(at, (at += length))
  if (at < all.length) yield all.subarray(at)
}

/** Asserts that a decoded answer means what the corpus says. */
export function checkRecording(recording: Recording, { turn }: FoldedTurn): void {
  const { expect, file } = recording
  const { calls, rejected } = splitRunnableCalls(turn)
  const said = (refusal: boolean) =>
    turn.parts.map((part) => (part.kind === 'text' && (part.refusal ?? false) === refusal ? part.text : '')).join('')
  assert.equal(said(false), expect.text, `${file}: text`)
  assert.equal(said(true), expect.refusal ?? '', `${file}: refusal`)
  const reasoning = turn.parts.map((part) => (part.kind === 'reasoning' ? part.text : '')).join('')
  assert.equal(reasoning, expect.reasoning ?? '', `${file}: reasoning`)
  assert.equal(turn.finish.raw ?? null, expect.finish, `${file}: finish`)
  assert.equal(
    turn.finish.fault !== undefined,
    expect.error !== undefined || expect.finishClass === null,
    `${file}: fault`,
  )
  if (expect.error)
    assert.ok(turn.finish.fault?.message.includes(expect.error.message), `${file}: ${turn.finish.fault?.message}`)

  const endedBadly = expect.error !== undefined || !['stop', 'tool'].includes(expect.finishClass ?? '')
  const ours = turn.parts.filter((part) => part.kind === 'call')
  if (!endedBadly) assert.deepEqual(rejected, [], `${file}: rejected`)
  if (!endedBadly) assert.equal(calls.length, expect.toolCalls.length, `${file}: number of calls`)
  for (const [at, wanted] of expect.toolCalls.entries()) {
    const call = endedBadly ? ours.find((one) => matches(one, wanted.id, wanted.name)) : calls[at]
    assert.ok(call, `${file}: call ${at} ${wanted.name} is missing`)
    assert.equal(call.name, wanted.name, `${file}: name`)
    if (wanted.id !== undefined) assert.equal(call.native?.id, wanted.id, `${file}: id`)
    if (wanted.kind === 'custom') assert.equal(call.raw, wanted.input, `${file}: input`)
    else if (wanted.args === null)
      assert.ok(endedBadly || call.raw.trim() === 'null', `${file}: ${wanted.name} must not run`)
    else assert.deepEqual(call.input, wanted.args, `${file}: args`)
    if (wanted.signature) assert.ok(call.native?.data !== undefined, `${file}: signature`)
  }
  if (expect.usage) checkUsage(recording, turn.usage)
}

function matches(call: CallPart, id: string | undefined, name: string): boolean {
  return call.name === name && (id === undefined || call.native?.id === id)
}

function checkUsage({ expect, file, wire }: Recording, usage: FoldedTurn['turn']['usage']): void {
  const wanted = expect.usage ?? {}
  const cached = wanted['cached'] ?? 0
  const ownInput = wire === 'anthropic' ? (wanted['input'] ?? 0) : Math.max(0, (wanted['input'] ?? 0) - cached)
  assert.equal(usage?.cacheRead ?? 0, cached, `${file}: cached`)
  // Some count the reasoning in the output, others beside it; nothing of either may be lost.
  const [output, reasoning] = [wanted['output'] ?? 0, wanted['reasoning'] ?? 0]
  const ours = (usage?.output ?? 0) + (usage?.reasoning ?? 0)
  assert.ok(
    ours === output || ours === output + reasoning,
    `${file}: ${ours} output tokens of ${output} and ${reasoning}`,
  )
  if (wanted['reasoning'] !== undefined) assert.equal(usage?.reasoning, reasoning, `${file}: reasoning tokens`)
  // Gemini counts apart what its own tools put into the prompt.
  const input = ownInput + (wanted['toolPrompt'] ?? 0)
  if (wanted['cacheWrite'] === undefined) assert.equal(usage?.input ?? 0, input, `${file}: input tokens`)
}
