import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { dragoman, stage } from '../support/command.ts'
import { choose, openEditor } from './support/editor.ts'

const LIMIT = { timeout: 300_000 }

const APPEND = { name: 'run_shell_command', args: { command: 'echo ran >> ran.txt; sleep {seconds}' } }

const countRuns = (work: string): number =>
  existsSync(join(work, 'ran.txt')) ? readFileSync(join(work, 'ran.txt'), 'utf8').split('\n').length - 1 : 0

test('a question survives kill -9, is asked again after load, and its answer runs the call once', LIMIT, async () => {
  const place = await stage([{ call: [APPEND] }, { say: 'Done.' }], { seconds: '0' })
  const first = await openEditor(place, { args: ['--sandbox', 'off'] })
  const { sessionId } = await first.newSession()
  void first.prompt(sessionId, 'Run it.').catch(() => undefined)
  const asked = await first.until(() => first.questions[0])
  await first.kill()
  assert.equal(countRuns(place.work), 0)

  // Closing the editor instead of killing it keeps the question too.
  const second = await openEditor(place, { args: ['--sandbox', 'off'] })
  await second.agent.request('session/load', { sessionId, cwd: place.work, mcpServers: [] })
  const again = await second.until(() => second.questions[0])
  assert.equal(again.toolCall.toolCallId, asked.toolCall.toolCallId)
  assert.deepEqual(again.options, asked.options)
  await second.close()

  const third = await openEditor(place, { args: ['--sandbox', 'off'], permit: () => choose('once') })
  await third.agent.request('session/load', { sessionId, cwd: place.work, mcpServers: [] })
  await third.until(() => (/Done\./.test(third.text()) ? true : undefined))
  assert.equal(third.questions.length, 1)
  await third.close()
  assert.equal(countRuns(place.work), 1)
})

test(
  'kill -9 while the model answers, while a tool runs, and after the end: load is valid, nothing runs twice',
  LIMIT,
  async () => {
    for (const state of ['answering', 'running', 'idle'] as const) {
      const place = await stage(
        [
          ...(state === 'answering' ? [{ when: { user: 'Run it.' }, say: 'late', delay: 200_000 }] : []),
          { call: [APPEND] },
          { say: 'Done.' },
          { say: 'More.' },
        ],
        { seconds: state === 'running' ? '100' : '0' },
      )
      const options = { args: ['--sandbox', 'off', '--yolo'] }
      const editor = await openEditor(place, options)
      const { sessionId } = await editor.newSession()
      const prompted = editor.prompt(sessionId, 'Run it.').catch(() => undefined)
      if (state === 'answering')
        while (place.server.requests.length === 0) await new Promise((done) => setTimeout(done, 20))
      else if (state === 'running')
        while (countRuns(place.work) === 0) await new Promise((done) => setTimeout(done, 20))
      else await prompted
      await editor.kill()
      const runs = countRuns(place.work)
      assert.equal(runs, state === 'answering' ? 0 : 1)

      const next = await openEditor(place, options)
      await next.agent.request('session/load', { sessionId, cwd: place.work, mcpServers: [] })
      const kinds = next.updates.map(({ update }) => update.sessionUpdate)
      assert.equal(kinds[0], 'user_message_chunk', state)
      const calls = next.updatesOf('tool_call').map(({ toolCallId }) => toolCallId)
      const ended = next
        .updatesOf('tool_call_update')
        .filter(({ status }) => status === 'completed' || status === 'failed')
      assert.deepEqual(calls.toSorted(), ended.map(({ toolCallId }) => toolCallId).toSorted(), state)
      assert.equal(await next.prompt(sessionId, 'Go on.'), 'end_turn')
      await next.close()
      assert.equal(countRuns(place.work), state === 'answering' ? 1 : runs, state)
      for (const { conversation } of place.server.requests) assert.ok(conversation)
      const resumed = await dragoman(['-p', 'and?', '--resume', sessionId], place)
      assert.equal(resumed.code, 0, resumed.err)
    }
  },
)
