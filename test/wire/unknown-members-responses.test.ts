import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import { openaiResponses } from '../../src/wire/openai-responses/wire.ts'
import { recordings } from '../support/corpus.ts'
import { listUnknownMembers, traceUnknownMember, type UnknownMemberRules } from '../support/unknown-members.ts'
import { RESPONSES_BODIES } from '../support/responses-bodies.ts'

const RULES: UnknownMemberRules = {
  opaque: ['parameters', 'schema', 'output_schema', 'metadata', 'arguments', 'properties'],
  variants: ['tool_choice', 'format', 'input'],
}

describe('nothing of a Responses request disappears in silence', () => {
  const recorded = recordings('openai-responses').flatMap(({ file, request }) =>
    request?.body ? [[file, request.body] as const] : [],
  )
  const bodies: (readonly [string, JsonObject])[] = [...Object.entries(RESPONSES_BODIES), ...recorded]

  it('whatever a later version of the API adds, at any level', () => {
    const dropped: string[] = []
    const counts = { kept: 0, warned: 0, dropped: 0 }
    for (const [name, body] of bodies)
      for (const member of listUnknownMembers(body, RULES)) {
        const fate = traceUnknownMember(openaiResponses, member)
        counts[fate]++
        if (fate === 'dropped') dropped.push(`${name}: ${member.path}`)
      }
    console.log(`${bodies.length} bodies: ${counts.kept} kept, ${counts.warned} warned of`)
    assert.deepEqual(dropped.slice(0, 20), [], `${dropped.length} dropped`)
  })

  it('no warning without a reason', () => {
    for (const [name, body] of recorded) {
      const { warnings } = openaiResponses.readRequest(body)
      // One library sends a role that this API does not have.
      assert.deepEqual(
        warnings.filter(({ message }) => !message.includes('"tool"')),
        [],
        name,
      )
    }
  })
})
