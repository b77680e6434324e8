import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import { openaiChat } from '../../src/wire/openai-chat/wire.ts'
import { openaiResponses } from '../../src/wire/openai-responses/wire.ts'
import type { Wire } from '../../src/wire/wire.ts'
import { CHAT_BODIES } from '../support/chat-bodies.ts'
import { recordings } from '../support/corpus.ts'
import { RESPONSES_BODIES } from '../support/responses-bodies.ts'
import { listUnknownMembers, traceUnknownMember, type UnknownMemberRules } from '../support/unknown-members.ts'

const OPAQUE = ['parameters', 'schema', 'output_schema', 'metadata', 'arguments']

const WIRES: readonly (readonly [Wire, Record<string, JsonObject>, UnknownMemberRules])[] = [
  [openaiResponses, RESPONSES_BODIES, { opaque: OPAQUE, variants: ['tool_choice', 'format'] }],
  [openaiChat, CHAT_BODIES, { opaque: OPAQUE, variants: ['tool_choice', 'response_format', 'format'] }],
]

describe('T170 nothing of a request disappears in silence', () => {
  for (const [wire, made, rules] of WIRES) {
    // A call without a name cannot be sent at all (T08).
    const isSendable = (body: JsonObject) => !JSON.stringify(body).includes('"name":""')
    const recorded = recordings(wire.id).flatMap(({ file, request }) =>
      request?.body && isSendable(request.body) ? [[file, request.body] as const] : [],
    )
    const bodies: (readonly [string, JsonObject])[] = [...Object.entries(made), ...recorded]

    it(`${wire.id}: whatever a later version of the API adds, at any level`, () => {
      const dropped: string[] = []
      const counts = { kept: 0, warned: 0, dropped: 0 }
      for (const [name, body] of bodies)
        for (const member of listUnknownMembers(body, rules)) {
          const fate = traceUnknownMember(wire, member)
          counts[fate]++
          if (fate === 'dropped') dropped.push(`${name}: ${member.path}`)
        }
      console.log(`${wire.id}: ${bodies.length} bodies, ${counts.kept} kept, ${counts.warned} warned of`)
      assert.deepEqual(dropped.slice(0, 20), [], `${dropped.length} dropped`)
    })

    it(`${wire.id}: what is made for the test is read without a warning`, () => {
      for (const [name, body] of Object.entries(made)) assert.deepEqual(wire.readRequest(body).warnings, [], name)
    })
  }
})
