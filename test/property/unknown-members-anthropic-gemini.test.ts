import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import type { Profile } from '../../src/model/profile.ts'
import type { WireId } from '../../src/model/turn.ts'
import { anthropic } from '../../src/wire/anthropic/wire.ts'
import { codeAssist } from '../../src/wire/code-assist/wire.ts'
import { gemini } from '../../src/wire/gemini/wire.ts'
import { interactions } from '../../src/wire/interactions/wire.ts'
import type { Wire } from '../../src/wire/wire.ts'
import { CONTENTS_BODY, MESSAGES_BODY, STEPS_BODY } from '../support/request-bodies.ts'
import { listUnknownMembers, traceUnknownMember, type UnknownMemberRules } from '../support/unknown-members.ts'

const RULES: UnknownMemberRules = {
  opaque:
    'input_schema schema input args response metadata parametersJsonSchema labels input_examples parameters arguments any'.split(
      ' ',
    ),
  variants: 'tool_choice thinking context_management functionCallingConfig toolConfig response_format'.split(' '),
}

/** On this wire, `input` is the history. */
const STEP_RULES: UnknownMemberRules = { ...RULES, opaque: RULES.opaque.filter((name) => name !== 'input') }

interface WireCase {
  readonly wire: Wire
  readonly body: JsonObject
  readonly profile: Profile
  readonly rules?: UnknownMemberRules
}

const capable: Profile = { ...anthropic.profile, systemNotes: true, lateTools: 'native' }

const CASES: Readonly<Partial<Record<WireId | 'anthropic, older models', WireCase>>> = {
  anthropic: { wire: anthropic, body: MESSAGES_BODY, profile: capable },
  'anthropic, older models': { wire: anthropic, body: MESSAGES_BODY, profile: anthropic.profile },
  interactions: { wire: interactions, body: STEPS_BODY, profile: interactions.profile, rules: STEP_RULES },
  gemini: { wire: gemini, body: CONTENTS_BODY, profile: gemini.profile },
  'code-assist': {
    wire: codeAssist,
    body: { model: 'gemini-3', project: 'p', user_prompt_id: 'u', request: CONTENTS_BODY },
    profile: codeAssist.profile,
  },
}

describe('T180 what a reader does not know is kept, or a warning names it', () => {
  for (const [name, { wire, body, profile, rules = RULES }] of Object.entries(CASES))
    it(name, () => {
      const members = listUnknownMembers(body, rules)
      const traced = members.map((member) => ({ path: member.path, fate: traceUnknownMember(wire, member, profile) }))
      const count = (fate: string) => traced.filter((one) => one.fate === fate).length
      console.log(`${name}: ${members.length} unknown members, ${count('kept')} kept, ${count('warned')} warned`)
      assert.deepEqual(
        traced.filter(({ fate }) => fate === 'dropped').map(({ path }) => path),
        [],
      )
      assert.ok(count('kept') > count('warned'))
    })
})
