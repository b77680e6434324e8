import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { AgentContext } from '../../src/agent/agent-context.ts'
import type { JsonObject } from '../../src/model/json.ts'
import type { Policy } from '../../src/policy/policy.ts'
import { builtinTools } from '../../src/tool/builtin/index.ts'
import { agentOf, closing, modelOn, play, rehearse } from '../support/stage.ts'
import { workspace } from '../tool/workspace.ts'

const ASK: Policy = { decide: () => ({ verdict: 'ask', rule: 'test', why: 'Ask.' }), remember: () => '' }

/** Lets the model make one call, and the person change it; gives the entry of the result. */
async function changed(name: string, args: JsonObject, person: JsonObject | undefined) {
  using at = workspace({ 'a.txt': 'one\ntwo\nthree\n' })
  const fill = (input: JsonObject): JsonObject => ({ ...input, file_path: `${at.root}/a.txt` })
  const server = await rehearse([{ call: [{ name, args: fill(args) }] }, { say: 'Done.' }])
  try {
    const requestApproval: AgentContext['requestApproval'] = (question) =>
      Promise.resolve({
        ask: question.id,
        ...(person ? { outcome: 'modify', input: fill(person) } : { outcome: 'proceed-once' }),
      })
    const more = { host: at.host, folders: [at.root], policy: ASK, requestApproval }
    const agent = agentOf(modelOn('anthropic', server), builtinTools({ memory: at.memory }), more)
    assert.equal(closing(await play(agent, 'go')).reason, 'done')
    assert.deepEqual(server.failures, [])
    const result = agent.session.entries.find((entry) => entry.kind === 'result')
    assert.ok(result?.kind === 'result')
    return { ...result, file: at.read('a.txt') }
  } finally {
    await server.close()
  }
}

describe('a call that the person changed', () => {
  const cases: readonly [name: string, model: JsonObject, person: JsonObject, file: string][] = [
    [
      'write_file',
      { content: 'one\ntwo\nthree\nfour\nfive\n' },
      { content: 'one\ntwo\nthree\nfour\nsix\nseven\n' },
      'one\ntwo\nthree\nfour\nsix\nseven\n',
    ],
    [
      'replace',
      { old_string: 'two\n', new_string: 'two\nand a half\nmore\n' },
      { old_string: 'two\n', new_string: 'two\nand a half\nless\nleast\n' },
      'one\ntwo\nand a half\nless\nleast\nthree\n',
    ],
  ]
  for (const [name, model, person, file] of cases) {
    test(`${name}: the figures tell the model's lines from the person's`, async () => {
      const entry = await changed(name, model, person)
      assert.equal(entry.file, file)
      assert.deepEqual(entry.facts, {
        ai_added_lines: 2,
        ai_removed_lines: 0,
        user_added_lines: 2,
        user_removed_lines: 1,
      })
      assert.deepEqual(entry.decided, { by: 'user', outcome: 'modified' })
    })

    test(`${name}: unchanged, all lines are the model's`, async () => {
      const { facts } = await changed(name, model, undefined)
      assert.deepEqual(facts, { ai_added_lines: 2, ai_removed_lines: 0, user_added_lines: 0, user_removed_lines: 0 })
    })
  }
})
