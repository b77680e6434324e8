import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createCallPreparer } from '../../src/agent/calls/prepare-call.ts'
import type { TurnEvent } from '../../src/model/event.ts'
import type { Policy, Proposal } from '../../src/policy/policy.ts'
import { createShellTool } from '../../src/tool/builtin/run-shell-command.ts'
import { WIRES } from '../support/seals.ts'
import { agentOf, closing, FREE, modelOn, play, rehearse } from '../support/stage.ts'

/** A policy that refuses everything, and notes what it is asked. */
function createRecorder(prepare: (proposal: Proposal) => Promise<void>) {
  const asked: string[] = []
  const note = (what: string, { effects }: Proposal): void => {
    for (const effect of effects) if (effect.kind === 'exec') asked.push(`${what} ${effect.command}`)
  }
  const policy: Policy = {
    ...FREE,
    prepare(proposal) {
      note('prepare', proposal)
      return prepare(proposal)
    },
    decide(proposal) {
      note('decide', proposal)
      return { verdict: 'deny', rule: 'test', why: 'No.' }
    },
  }
  return { asked, policy }
}

describe('the check of a command is prepared while the response comes', () => {
  for (const wire of WIRES)
    test(`${wire}: once its arguments are complete, and before it is decided`, async () => {
      const call = [
        { name: 'run_shell_command', args: { command: 'echo "{}" && ls' } },
        { name: 'run_shell_command', args: { cmd: 'nothing' } },
      ]
      const server = await rehearse([{ call }, { say: 'Done.' }])
      const { asked, policy } = createRecorder(() => Promise.reject(new Error('not now')))
      const end = closing(await play(agentOf(modelOn(wire, server), [createShellTool()], { policy }), 'go'))
      await server.close()
      assert.equal(end.text, 'Done.')
      assert.equal(asked[0], 'prepare echo "{}" && ls')
      assert.deepEqual(
        asked.filter((one) => one.startsWith('decide')),
        ['decide echo "{}" && ls'],
      )
    })

  test('never while they are incomplete, nor for other tools', async () => {
    const { asked, policy } = createRecorder(() => Promise.resolve())
    const server = await rehearse([{ say: 'x' }])
    const onEvent = createCallPreparer(agentOf(modelOn('openai-chat', server), [createShellTool()], { policy }))
    await server.close()
    const events: TurnEvent[] = [
      { type: 'part-open', index: 0, kind: 'call', name: 'run_shell_command' },
      { type: 'part-delta', index: 0, kind: 'call', text: '{"command": "echo ${x}' },
      { type: 'part-delta', index: 0, kind: 'call', text: ' {}' },
      { type: 'part-delta', index: 1, kind: 'call', text: '{"command": "rm"}' },
      { type: 'part-open', index: 2, kind: 'call', name: 'unknown' },
      { type: 'part-delta', index: 2, kind: 'call', text: '{"command": "rm"}' },
      { type: 'part-open', index: 3, kind: 'call' },
      { type: 'part-delta', index: 3, kind: 'call', text: '{"command": "rm"}' },
    ]
    for (const event of events) onEvent(event)
    assert.deepEqual(asked, [])
    onEvent({ type: 'part-delta', index: 0, kind: 'call', text: '"}' })
    assert.deepEqual(asked, ['prepare echo ${x} {}'])
  })
})
