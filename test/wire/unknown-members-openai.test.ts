import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isObject, type JsonObject, tryParseJson } from '../../src/model/json.ts'
import { decodeResponse } from '../../src/wire/decode-response.ts'
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

/** What a response repeats of its request, counts, and what is read as a whole. */
const REPEATED = [
  'tools',
  'tool_choice',
  'text',
  'reasoning',
  'metadata',
  'usage',
  'billing',
  'instructions',
  'arguments',
  'incomplete_details',
  'error',
  'tool_usage',
  'content_filters',
  'copilot_usage',
]

describe('T176 nothing of a response disappears in silence', () => {
  it('openai-responses: unknown fields, items and parts of a whole response', () => {
    const bodies = recordings('openai-responses').flatMap(({ file, response, streaming }) => {
      const body = streaming || response.status >= 400 ? undefined : tryParseJson(response.body)
      return isObject(body) && Array.isArray(body['output']) ? [[file, body as JsonObject] as const] : []
    })
    const dropped: string[] = []
    let count = 0
    for (const [file, body] of [['made here', WHOLE_RESPONSE] as const, ...bodies])
      for (const member of listUnknownMembers(body, { opaque: REPEATED })) {
        count++
        const context = { turnKey: 'k', profile: openaiResponses.profile, tools: [] }
        const bytes = new TextEncoder().encode(JSON.stringify(member.body))
        const read = decodeResponse(openaiResponses, context, [bytes], 'application/json')
        if (!JSON.stringify(read).includes(member.marker)) dropped.push(`${file}: ${member.path}`)
      }
    console.log(`openai-responses: ${count} unknown members of ${bodies.length + 1} responses`)
    assert.deepEqual(dropped.slice(0, 20), [], `${dropped.length} dropped`)
  })
})

const WHOLE_RESPONSE: JsonObject = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  model: 'm',
  output: [
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }], encrypted_content: 'sealed' },
    { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'a', arguments: '{}', status: 'completed' },
    { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } },
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [
        { type: 'output_text', text: 'Yes.', annotations: [{ type: 'url_citation', url: 'https://example.com' }] },
      ],
    },
  ],
}
