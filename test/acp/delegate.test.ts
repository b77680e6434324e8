import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { stage } from '../support/command.ts'
import { root } from '../support/paths.ts'
import { choose, openEditor } from './support/editor.ts'

const LIMIT = { timeout: 300_000 }

function configure(home: string, agents: object): void {
  mkdirSync(join(home, '.config/dragoman'), { recursive: true })
  writeFileSync(join(home, '.config/dragoman/config.json'), JSON.stringify({ acpAgents: agents }))
}

const OTHER = {
  command: process.execPath,
  args: [join(root, 'test/acp/support/other-agent.mjs')],
  description: 'Fast.',
}

test('a task goes to another agent; its questions and its files go through our user and policy', LIMIT, async () => {
  const place = await stage([
    { expect: { tools: ['delegate_other'] }, call: [{ name: 'delegate_other', args: { task: 'Do it.' } }] },
    { say: 'Handed over.' },
  ])
  configure(place.home, { other: OTHER })
  writeFileSync(join(place.work, 'a.txt'), 'one\ntwo\nthree\n')
  const editor = await openEditor(place, {
    permit: ({ toolCall }) => choose(/shadow/.test(toolCall.title ?? '') ? 'no' : 'once'),
  })
  const { sessionId } = await editor.newSession()
  assert.equal(await editor.prompt(sessionId, 'Hand it over.'), 'end_turn')
  assert.match(editor.text(), /Handed over\./)
  const titles = editor.questions.map(({ toolCall }) => toolCall.title ?? '')
  assert.match(titles[0] ?? '', /delegate_other/)
  assert.ok(titles.some((title) => title === `The agent other wants to write ${join(place.work, 'b.txt')}`))
  assert.ok(titles.includes('The agent other asks: Deploy it'))
  assert.equal(readFileSync(join(place.work, 'b.txt'), 'utf8'), 'by the other\n')
  const results = JSON.stringify(editor.updatesOf('tool_call_update').at(-1)?.rawOutput)
  const answer = (JSON.parse(results) as { content: string }).content
  assert.deepEqual(JSON.parse(answer), {
    read: { content: 'two' },
    hidden: true,
    written: {},
    outcome: { outcome: 'selected', optionId: 'yes' },
  })
  await editor.close()
})

test('a refused task starts nothing; a cancelled one ends; a program that is missing is a result', LIMIT, async () => {
  const refused = await stage([{ call: [{ name: 'delegate_other', args: { task: 'Do it.' } }] }, { say: 'Well.' }])
  configure(refused.home, { other: OTHER })
  const editor = await openEditor(refused, { permit: () => choose('no') })
  const { sessionId } = await editor.newSession()
  assert.equal(await editor.prompt(sessionId, 'Hand it over.'), 'end_turn')
  assert.equal(existsSync(join(refused.work, 'b.txt')), false)
  await editor.close()

  const slow = await stage([{ call: [{ name: 'delegate_other', args: { task: 'wait' } }] }, { say: 'Well.' }])
  configure(slow.home, { other: OTHER })
  const waiting = await openEditor(slow, { args: ['--yolo'] })
  const started = await waiting.newSession()
  const ended = waiting.prompt(started.sessionId, 'Hand it over.')
  await waiting.until(() => waiting.updatesOf('tool_call_update').find(({ status }) => status === 'in_progress'))
  await waiting.agent.notify('session/cancel', { sessionId: started.sessionId })
  assert.equal(await ended, 'cancelled')
  await waiting.close()

  // An agent that never answers to `initialize`.
  const mute = await stage([{ call: [{ name: 'delegate_mute', args: { task: 'Do it.' } }] }, { say: 'Well.' }])
  configure(mute.home, { mute: { command: process.execPath, args: ['-e', 'process.stdin.resume()'] } })
  const patient = await openEditor(mute, { args: ['--yolo'] })
  const opened = await patient.newSession()
  const over = patient.prompt(opened.sessionId, 'Hand it over.')
  await patient.until(() => patient.updatesOf('tool_call_update').find(({ status }) => status === 'in_progress'))
  await patient.agent.notify('session/cancel', { sessionId: opened.sessionId })
  assert.equal(await over, 'cancelled')
  await patient.close()

  const missing = await stage([
    { call: [{ name: 'delegate_gone', args: { task: 'Do it.' } }] },
    { expect: { results: 'was not found' }, say: 'It is missing.' },
  ])
  configure(missing.home, { gone: { command: 'no-such-agent' } })
  const last = await openEditor(missing, { args: ['--yolo'] })
  const third = await last.newSession()
  assert.equal(await last.prompt(third.sessionId, 'Hand it over.'), 'end_turn')
  assert.match(last.text(), /It is missing\./)
  await last.close()
})
