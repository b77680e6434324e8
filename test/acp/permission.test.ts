import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { RequestPermissionResponse } from '@agentclientprotocol/sdk'
import { dragoman, stage } from '../support/command.ts'
import { choose, openEditor } from './support/editor.ts'

const LIMIT = { timeout: 300_000 }

const WRITE = { name: 'write_file', args: { file_path: '{cwd}/a.txt', content: 'new\n' } }

test('an edit is asked about with its diff; yes writes it, and the answer is in the log', LIMIT, async () => {
  const place = await stage([{ call: [WRITE] }, { say: 'Done.' }])
  writeFileSync(join(place.work, 'a.txt'), 'old\n')
  const editor = await openEditor(place, { permit: () => choose('once') })
  const { sessionId } = await editor.newSession()
  assert.equal(await editor.prompt(sessionId, 'Change it.'), 'end_turn')
  const [question] = editor.questions
  const path = join(place.work, 'a.txt')
  assert.deepEqual(question?.toolCall.content?.[0], { type: 'diff', path, oldText: 'old\n', newText: 'new\n' })
  assert.equal(question?.toolCall.toolCallId, editor.updatesOf('tool_call')[0]?.toolCallId)
  assert.equal(question?.toolCall.kind, 'edit')
  assert.equal(readFileSync(path, 'utf8'), 'new\n')
  const finished = editor.updatesOf('tool_call_update').at(-1)
  assert.deepEqual(finished?.content, [{ type: 'diff', path, oldText: 'old\n', newText: 'new\n' }])
  assert.deepEqual(finished?.locations, [{ path, line: 1 }])
  await editor.close()
  const log = await dragoman(['sessions', 'export', sessionId, '--format', 'json'], place)
  assert.match(log.out, /"kind":\s*"reply"[^}]*"outcome":\s*"proceed-once"/)
})

test('no, a cancelled question and an answer that was not offered change nothing', LIMIT, async () => {
  const answers: readonly [RequestPermissionResponse, string][] = [
    [choose('no'), 'end_turn'],
    [choose('everything'), 'end_turn'],
    [{ outcome: { outcome: 'cancelled' } }, 'cancelled'],
  ]
  for (const [answer, reason] of answers) {
    const place = await stage([{ call: [WRITE] }, { say: 'Done.' }])
    const editor = await openEditor(place, { permit: () => answer })
    const { sessionId } = await editor.newSession()
    assert.equal(await editor.prompt(sessionId, 'Write it.'), reason)
    assert.equal(existsSync(join(place.work, 'a.txt')), false)
    assert.equal(editor.updatesOf('tool_call_update').at(-1)?.status, 'failed')
    await editor.close()
  }
})

test('grants are offered as the policy offers them, kept for their scope, and not asked again', LIMIT, async () => {
  const touch = (name: string) => ({ call: [{ name: 'run_shell_command', args: { command: `mkdir ${name}` } }] })
  const place = await stage({ steps: [touch('x'), touch('y'), { say: 'Done.' }], start: 'prompt' })
  const editor = await openEditor(place, {
    permit: ({ options }) => choose(options.find(({ optionId }) => optionId.endsWith('-session'))?.optionId ?? 'no'),
    args: ['--sandbox', 'off'],
  })
  const { sessionId } = await editor.newSession()
  assert.equal(await editor.prompt(sessionId, 'Make folders.'), 'end_turn')
  assert.equal(editor.questions.length, 1)
  const kinds = editor.questions[0]?.options.map(({ optionId, kind }) => `${kind} ${optionId}`) ?? []
  assert.equal(kinds[0], 'allow_once once')
  assert.equal(kinds.at(-1), 'reject_once no')
  assert.ok(kinds.some((one) => one.startsWith('allow_always') && one.endsWith('-project')))
  assert.ok(kinds.some((one) => one.startsWith('allow_always') && one.endsWith('-user')))
  assert.ok(existsSync(join(place.work, 'x')) && existsSync(join(place.work, 'y')))
  await editor.close()
})

test('a grant for the project holds in the next session', LIMIT, async () => {
  const command = { name: 'run_shell_command', args: { command: 'mkdir -p made' } }
  const place = await stage({ steps: [{ call: [command] }, { say: 'Done.' }], start: 'prompt' })
  for (const asked of [1, 0]) {
    const editor = await openEditor(place, {
      permit: ({ options }) => choose(options.find(({ optionId }) => optionId.endsWith('-project'))?.optionId ?? 'no'),
      args: ['--sandbox', 'off'],
    })
    const { sessionId } = await editor.newSession()
    assert.equal(await editor.prompt(sessionId, 'Make it.'), 'end_turn')
    assert.equal(editor.questions.length, asked)
    await editor.close()
  }
})

test('a proposal that the user changed in the editor is what is written', LIMIT, async () => {
  const place = await stage([{ call: [WRITE] }, { say: 'Done.' }])
  const editor = await openEditor(place, {
    permit: () => ({
      outcome: { outcome: 'selected', optionId: 'once', _meta: { dragoman: { content: 'mine\n' } } },
    }),
  })
  const { sessionId } = await editor.newSession()
  assert.equal(await editor.prompt(sessionId, 'Write it.'), 'end_turn')
  assert.equal(readFileSync(join(place.work, 'a.txt'), 'utf8'), 'mine\n')
  await editor.close()
})

test('cancelling while a question is open ends the prompt, and nothing runs', LIMIT, async () => {
  const place = await stage([{ call: [WRITE] }, { say: 'Done.' }])
  const editor = await openEditor(place)
  const { sessionId } = await editor.newSession()
  const ended = editor.prompt(sessionId, 'Write it.')
  await editor.until(() => editor.questions[0])
  await editor.agent.notify('session/cancel', { sessionId })
  assert.equal(await ended, 'cancelled')
  assert.equal(existsSync(join(place.work, 'a.txt')), false)
  await editor.close()
})
