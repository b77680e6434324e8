import assert from 'node:assert/strict'
import { type FoldedTurn, splitRunnableCalls } from '../../src/model/fold.ts'
import type { CallPart, TextPart } from '../../src/model/turn.ts'
import { parseCallArguments } from '../../src/wire/calls/parse-arguments.ts'
import { parseTextCalls } from '../../src/wire/text-calls/text-call-parser.ts'
import type { Expected, ExpectedCall, Fixture } from './fixture.ts'

/** Asserts that a decoded answer means what the fixture says, and nothing more. */
export function checkFixture({ expect, given }: Fixture, { turn, warnings }: FoldedTurn): void {
  const { calls, rejected } = splitRunnableCalls(turn)
  const texts = turn.parts.filter((part) => part.kind === 'text')
  const reasoning = turn.parts.filter((part) => part.kind === 'reasoning')
  const codes = warnings.map(({ code }) => code)

  // One comparison, so that a failure shows everything at once.
  assert.deepEqual(
    {
      calls: calls.map((call, at) => shownCall(call, expect.calls[at])),
      rejected: rejected.map(({ call }, at) => shownRejected(call, expect.rejected?.[at])),
      text: joined(texts.filter((part) => !part.refusal)),
      refusal: joined(texts.filter((part) => part.refusal)),
      reasoning: joined(reasoning),
      finish: {
        reason: turn.finish.reason,
        ...(expect.finish.raw !== undefined && { raw: turn.finish.raw }),
      },
      fault: shownFault(turn.finish.fault, expect.fault),
    },
    {
      calls: expect.calls,
      rejected: expect.rejected ?? [],
      text: expect.text,
      refusal: expect.refusal ?? '',
      reasoning: expect.reasoning ?? '',
      finish: expect.finish,
      fault: expect.fault,
    },
    `warnings: ${JSON.stringify(warnings)}; finish: ${JSON.stringify(turn.finish)}`,
  )

  for (const code of expect.warnings ?? []) assert.ok(codes.includes(code), `no warning ${code}, only ${codes.join()}`)
  if (expect.quiet) assert.deepEqual(warnings, [])
  if (expect.usage) assert.deepEqual(turn.usage, expect.usage)
  if (expect.sealed) assert.deepEqual(sealed(turn.parts, expect.sealed), expect.sealed)
  if (expect.written) {
    const found = parseTextCalls(turn.finish.fault?.written ?? '', given.tools)
    const read = found.map(({ name, raw }) => ({ name, reading: parseCallArguments(raw) }))
    assert.deepEqual(
      read.map(({ name, reading }) => ({ name, input: reading.ok ? reading.inputs[0] : undefined })),
      expect.written,
    )
  }
  // Ids are ours: unique, whatever the vendor sent (T10).
  const ids = turn.parts.flatMap((part) => (part.kind === 'call' ? [part.id] : []))
  assert.equal(new Set(ids).size, ids.length, 'two calls have one id')
}

function shownCall(call: CallPart, wanted: ExpectedCall | undefined) {
  return {
    name: call.name,
    input: call.input,
    ...(wanted && 'wireId' in wanted && { wireId: call.native?.id ?? null }),
    ...(wanted && 'raw' in wanted && { raw: call.raw }),
  }
}

function shownRejected(call: CallPart, wanted: NonNullable<Expected['rejected']>[number] | undefined) {
  return {
    name: call.name,
    ...(wanted && 'code' in wanted && { code: call.flaw?.code }),
    ...(wanted && 'raw' in wanted && { raw: call.raw }),
  }
}

function shownFault(fault: FoldedTurn['turn']['finish']['fault'], wanted: Expected['fault']) {
  if (!fault || !wanted) return fault
  const shown = Object.entries(fault).filter(([key]) => key in wanted)
  const says = wanted.says
  return {
    ...Object.fromEntries(shown),
    ...(says !== undefined && { says: fault.message.includes(says) ? says : fault.message }),
  }
}

function sealed(parts: FoldedTurn['turn']['parts'], wanted: NonNullable<Expected['sealed']>) {
  const carriers = parts.filter((part) => part.native?.data !== undefined)
  return carriers.map((part, at) => ({
    kind: part.kind,
    ...(wanted[at] && 'text' in wanted[at] && { text: 'text' in part ? part.text : undefined }),
    data: part.native?.data,
  }))
}

function joined(parts: readonly Pick<TextPart, 'text'>[]): string {
  return parts.map(({ text }) => text).join('')
}
