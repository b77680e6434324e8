import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import type { CallPart } from '../../src/model/turn.ts'
import type { ToolDeclarations } from '../../src/schema/dialect/declare-tools.ts'
import { toWireArgumentText } from '../../src/wire/history/transcript.ts'

test('arguments that are nested too deeply to be serialised go back as they came', () => {
  const raw = `{"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
  const call: CallPart = { kind: 'call', id: '1', name: 'f', raw, input: JSON.parse(raw) as JsonObject }
  const projection = { toWireArguments: (_name: string, input: JsonObject) => input }
  assert.equal(toWireArgumentText(call, projection as unknown as ToolDeclarations), raw)
})
