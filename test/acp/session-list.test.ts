import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stage } from '../support/command.ts'
import { openEditor } from './support/editor.ts'

const LIMIT = { timeout: 300_000 }

test('a long list of sessions comes in pages; what is removed meanwhile hides no other', LIMIT, async () => {
  const place = await stage({ start: 'prompt', steps: [{ say: 'Hello.' }] })
  const editor = await openEditor(place)
  const made: string[] = []
  for (let count = 0; count < 53; count++) {
    const { sessionId } = await editor.newSession()
    assert.equal(await editor.prompt(sessionId, `number ${count}`), 'end_turn')
    await editor.agent.request('session/close', { sessionId })
    made.unshift(sessionId)
  }
  const first = await editor.agent.request('session/list', { cwd: place.work })
  assert.equal(first.sessions.length, 50)
  assert.ok(first.nextCursor)
  // A session of the first page goes away: the second page is the same.
  const [gone] = first.sessions
  assert.ok(gone)
  await editor.agent.request('session/delete', { sessionId: gone.sessionId })
  const second = await editor.agent.request('session/list', { cwd: place.work, cursor: first.nextCursor })
  assert.equal(second.nextCursor ?? undefined, undefined)
  const listed = [...first.sessions, ...second.sessions].map(({ sessionId }) => sessionId)
  assert.deepEqual(listed.toSorted(), made.toSorted())
  assert.deepEqual(listed[0], made[0])
  for (const cursor of ['page two', '-1'])
    await assert.rejects(editor.agent.request('session/list', { cursor }), { code: -32602 })
  await assert.rejects(editor.agent.request('session/list', { cwd: 'relative' }), { code: -32602 })
  await editor.close()
})

test('a session that does not exist is reported as that; it can be closed and deleted', LIMIT, async () => {
  const place = await stage([{ say: 'Hello.' }])
  const editor = await openEditor(place)
  const sessionId = 'none'
  const cwd = place.work
  const unknown = { code: -32002 }
  await assert.rejects(editor.agent.request('session/load', { sessionId, cwd, mcpServers: [] }), unknown)
  await assert.rejects(editor.agent.request('session/resume', { sessionId, cwd }), unknown)
  await assert.rejects(editor.prompt(sessionId, 'Hi.'), unknown)
  await assert.rejects(editor.agent.request('session/set_mode', { sessionId, modeId: 'plan' }), unknown)
  const option = { sessionId, configId: 'mode', value: 'plan' }
  await assert.rejects(editor.agent.request('session/set_config_option', option), unknown)
  const seen = editor.schema.errors.length
  await editor.agent.request('session/delete', { sessionId })
  await editor.agent.request('session/close', { sessionId })
  assert.equal(editor.schema.errors.length, seen, 'the SDK hides such errors')
  await editor.close()
})

test('a client with terminals is offered to sign in there, by arguments of this command', LIMIT, async () => {
  const place = await stage([{ say: 'Hello.' }])
  const editor = await openEditor(place, { capabilities: { auth: { terminal: true } } })
  const methods = editor.initialized.authMethods ?? []
  const [key, ...others] = methods
  assert.equal(key?.id, 'key')
  assert.ok(others.length > 0 && others.every((method) => 'type' in method && method.type === 'terminal'))
  const openai = others.find(({ id }) => id === 'login-openai')
  assert.deepEqual(openai && 'args' in openai ? openai.args : undefined, ['--login', 'openai'])
  for (const { id } of methods) await editor.agent.request('authenticate', { methodId: id })
  await assert.rejects(editor.agent.request('authenticate', { methodId: 'magic' }), { code: -32602 })
  await editor.close()
})
