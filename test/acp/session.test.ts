import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { dragoman, stage } from '../support/command.ts'
import { choose, openEditor } from './support/editor.ts'

const LIMIT = { timeout: 300_000 }

test('a session in an editor: messages, thoughts, calls, usage, title, and one reason for the end', LIMIT, async () => {
  const place = await stage([
    {
      think: 'I look first.',
      say: 'Reading.',
      call: [{ name: 'read_file', args: { absolute_path: '{cwd}/a.txt', offset: 1, limit: 1 } }],
    },
    { say: 'It says two 🙂.', pieces: 30 },
    { say: 'Again.' },
  ])
  writeFileSync(join(place.work, 'a.txt'), 'one\ntwo\nthree\n')
  const card = { window: 32_000, price: { input: 1, output: 2 } }
  mkdirSync(join(place.home, '.config/dragoman'), { recursive: true })
  writeFileSync(
    join(place.home, '.config/dragoman/config.json'),
    JSON.stringify({ catalog: { 'openai-chat/script': card } }),
  )
  const editor = await openEditor(place, { capabilities: { session: { notices: {}, compaction: {} } } })
  assert.equal(editor.initialized.protocolVersion, 1)
  assert.ok(editor.initialized.agentCapabilities?.loadSession)
  assert.deepEqual(
    editor.initialized.authMethods?.map(({ id }) => id),
    ['key'],
  )
  await editor.agent.request('authenticate', { methodId: 'key' })
  const { sessionId, modes, configOptions } = await editor.newSession()
  assert.equal(modes?.currentModeId, 'default')
  assert.deepEqual(
    configOptions?.map(({ id, category }) => [id, category]),
    [
      ['mode', 'mode'],
      ['model', 'model'],
      ['effort', 'thought_level'],
    ],
  )
  assert.equal(await editor.prompt(sessionId, 'What is in a.txt?'), 'end_turn')
  assert.match(editor.text(), /Reading\.It says two 🙂\./)
  assert.equal(editor.updatesOf('agent_thought_chunk').length > 0, true)
  const [call] = editor.updatesOf('tool_call')
  assert.equal(call?.kind, 'read')
  assert.equal(call?.status, 'pending')
  assert.deepEqual(call?.locations, [{ path: join(place.work, 'a.txt'), line: 2 }])
  const last = editor.updatesOf('tool_call_update').at(-1)
  assert.equal(last?.status, 'completed')
  assert.match(JSON.stringify(last?.rawOutput), /two/)
  const usage = editor.updatesOf('usage_update')
  assert.equal(usage.length, 2)
  assert.equal(usage[1]?.size, 32_000)
  assert.ok((usage[1]?.used ?? 0) > 0)
  assert.ok((usage[1]?.cost?.amount ?? 0) > 0 && usage[1]?.cost?.currency === 'USD')
  assert.equal(editor.updatesOf('session_info_update')[0]?.title, 'What is in a.txt?')
  const commands = await editor.until(() => editor.updatesOf('available_commands_update')[0])
  assert.ok(commands.availableCommands.some(({ name }) => name === 'compress'))

  const { sessions } = await editor.agent.request('session/list', { cwd: place.work })
  assert.deepEqual(
    sessions.map((one) => [one.sessionId, one.cwd, one.title]),
    [[sessionId, place.work, 'What is in a.txt?']],
  )
  assert.equal((await editor.agent.request('session/list', {})).sessions.length, 1)
  await editor.agent.request('session/close', { sessionId })
  await assert.rejects(editor.prompt(sessionId, 'more'), /no open session/)
  const before = editor.updates.length
  await editor.agent.request('session/resume', { sessionId, cwd: place.work })
  assert.equal(
    editor.updates.slice(before).filter(({ update }) => update.sessionUpdate === 'user_message_chunk').length,
    0,
  )
  assert.equal(await editor.prompt(sessionId, 'And again?'), 'end_turn')
  await editor.agent.request('session/close', { sessionId })
  await editor.agent.request('session/delete', { sessionId })
  assert.deepEqual((await editor.agent.request('session/list', { cwd: place.work })).sessions, [])
  await editor.agent.request('logout', {})
  await assert.rejects(editor.newSession(), { code: -32000 })
  await editor.agent.request('authenticate', { methodId: 'key' })
  await editor.newSession()
  await editor.close()
})

test('mode, model and effort can be set, in both forms', LIMIT, async () => {
  const place = await stage([{ say: 'hello' }])
  const editor = await openEditor(place)
  const { sessionId } = await editor.newSession()
  await editor.agent.request('session/set_mode', { sessionId, modeId: 'plan' })
  const mode = await editor.until(() => editor.updatesOf('current_mode_update')[0])
  assert.equal(mode.currentModeId, 'plan')
  const set = (configId: string, value: string) =>
    editor.agent.request('session/set_config_option', { sessionId, configId, value })
  const values = async (configId: string, value: string) =>
    (await set(configId, value)).configOptions.map((option) => option.currentValue)
  assert.deepEqual(await values('mode', 'auto_edit'), ['auto_edit', 'openai-chat/script', 'default'])
  assert.deepEqual(await values('effort', 'high'), ['auto_edit', 'openai-chat/script', 'high'])
  assert.deepEqual(await values('model', 'openai-chat/other'), ['auto_edit', 'openai-chat/other', 'high'])
  await assert.rejects(set('model', 'nobody/none'), /unknown provider|nobody/i)
  await assert.rejects(set('mode', 'reckless'), { code: -32602 })
  await assert.rejects(set('colour', 'red'), { code: -32602 })
  await assert.rejects(editor.agent.request('session/set_mode', { sessionId, modeId: 'reckless' }), { code: -32602 })
  assert.equal(await editor.prompt(sessionId, 'hi'), 'end_turn')
  assert.equal(place.server.requests.at(-1)?.body['model'], 'other')
  assert.equal(place.server.requests.at(-1)?.body['reasoning_effort'], 'high')
  await editor.close()
})

test('slash commands: custom ones become prompts, others answer themselves', LIMIT, async () => {
  const place = await stage([{ expect: { user: 'Review src/a.ts carefully.' }, say: 'Reviewed.' }])
  const folder = join(place.home, '.config/dragoman/commands')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'review.md'), '---\ndescription: review a file\n---\nReview $ARGUMENTS carefully.\n')
  const editor = await openEditor(place)
  const { sessionId } = await editor.newSession()
  const { availableCommands } = await editor.until(() => editor.updatesOf('available_commands_update')[0])
  const review = availableCommands.find(({ name }) => name === 'review')
  assert.equal(review?.description, 'review a file')
  assert.equal(await editor.prompt(sessionId, '/tools'), 'end_turn')
  assert.match(editor.text(), /read_file/)
  assert.equal(place.server.requests.length, 0)
  assert.equal(await editor.prompt(sessionId, '/review src/a.ts'), 'end_turn')
  assert.match(editor.text(), /Reviewed\./)
  assert.equal(await editor.prompt(sessionId, '/stats'), 'end_turn')
  assert.equal(await editor.prompt(sessionId, '/plan'), 'end_turn')
  assert.equal(editor.updatesOf('current_mode_update').at(-1)?.currentModeId, 'plan')
  await editor.close()
})

test('a plan is shown, approved, and ends plan mode', LIMIT, async () => {
  const plan = 'The plan:\n\n1. Read the code\n2. Change it\n'
  const place = await stage([{ call: [{ name: 'exit_plan_mode', args: { plan } }] }, { say: 'Carried out.' }])
  const editor = await openEditor(place, { permit: () => choose('edits'), args: ['--approval-mode', 'plan'] })
  const { sessionId, modes } = await editor.newSession()
  assert.equal(modes?.currentModeId, 'plan')
  assert.equal(await editor.prompt(sessionId, 'Plan it.'), 'end_turn')
  assert.deepEqual(
    editor.updatesOf('plan')[0]?.entries.map(({ content, status }) => [content, status]),
    [
      ['Read the code', 'pending'],
      ['Change it', 'pending'],
    ],
  )
  assert.equal(editor.updatesOf('tool_call')[0]?.kind, 'switch_mode')
  assert.equal(editor.updatesOf('current_mode_update').at(-1)?.currentModeId, 'auto_edit')
  await editor.close()
})

test('a summary is told as a compaction, or as a message', LIMIT, async () => {
  const place = await stage({
    start: 'prompt',
    steps: [{ say: { text: 'A long answer that says the same again. ', times: 400 } }],
  })
  for (const capabilities of [{ session: { compaction: {}, notices: {} } }, {}]) {
    const editor = await openEditor(place, { capabilities })
    const { sessionId } = await editor.newSession()
    for (const word of ['one', 'two', 'three']) assert.equal(await editor.prompt(sessionId, word), 'end_turn')
    assert.equal(await editor.prompt(sessionId, '/compress'), 'end_turn')
    if (capabilities.session) {
      const statuses = editor.updatesOf('compaction_update').map(({ status }) => status)
      assert.equal(statuses[0], 'in_progress')
      assert.match(statuses.at(-1) ?? '', /completed|failed/)
    } else {
      assert.equal(editor.updatesOf('compaction_update').length, 0)
      assert.match(editor.text(), /summarised/)
    }
    await editor.close()
  }
})

test('several sessions in one process do not mix, and a cancelled prompt ends with that reason', LIMIT, async () => {
  const place = await stage([{ when: { user: 'wait' }, say: 'late', delay: 120_000 }, { say: 'quick' }])
  const editor = await openEditor(place)
  const [slow, quick] = [await editor.newSession(), await editor.newSession()]
  const waiting = editor.prompt(slow.sessionId, 'wait')
  const queued = editor.prompt(slow.sessionId, 'after it')
  assert.equal(await editor.prompt(quick.sessionId, 'hi'), 'end_turn')
  await editor.agent.notify('session/cancel', { sessionId: slow.sessionId })
  assert.equal(await waiting, 'cancelled')
  assert.equal(await queued, 'cancelled')
  const texts = editor.updates.flatMap(({ session, update }) =>
    update.sessionUpdate === 'agent_message_chunk' && session === slow.sessionId ? [update] : [],
  )
  assert.deepEqual(texts, [])
  assert.equal(await editor.prompt(quick.sessionId, 'more'), 'end_turn')
  await editor.close()
})

test('faults and limits end a prompt with one reason, and say why', LIMIT, async () => {
  const refused = await stage([{ misbehave: [{ kind: 'status', status: 401 }] as never, say: '' }])
  const editor = await openEditor(refused)
  const { sessionId } = await editor.newSession()
  assert.equal(await editor.prompt(sessionId, 'hi'), 'end_turn')
  assert.notEqual(editor.text().trim(), '')
  await editor.close()
  const loop = await stage([{ loop: [{ call: [{ name: 'list_directory', args: { path: '{cwd}' } }] }] }])
  const limited = await openEditor(loop, { args: ['--max-turns', '2'] })
  const started = await limited.newSession()
  assert.equal(await limited.prompt(started.sessionId, 'go'), 'max_turn_requests')
  await limited.close()
})

test('a session of the terminal is loaded in the editor, and the other way round', LIMIT, async () => {
  const place = await stage([
    { say: 'Listing.', call: [{ name: 'list_directory', args: { path: '{cwd}' } }] },
    { say: 'From the terminal.' },
    { say: 'From the editor.' },
    { say: 'Back on the terminal.' },
  ])
  assert.equal((await dragoman(['-p', 'look'], place)).code, 0)
  const editor = await openEditor(place)
  const [found] = (await editor.agent.request('session/list', { cwd: place.work })).sessions
  assert.ok(found)
  const { sessionId } = found
  await editor.agent.request('session/load', { sessionId, cwd: place.work, mcpServers: [] })
  assert.deepEqual(
    editor.updates.slice(0, 5).map(({ update }) => update.sessionUpdate),
    ['user_message_chunk', 'agent_message_chunk', 'tool_call', 'tool_call_update', 'agent_message_chunk'],
  )
  // While the editor has it, nobody else can write it.
  const second = await dragoman(['-p', 'too', '--resume', sessionId], place)
  assert.notEqual(second.code, 0)
  assert.equal(await editor.prompt(sessionId, 'and you?'), 'end_turn')
  assert.match(editor.text(), /From the editor\./)
  await editor.close()
  const back = await dragoman(['-p', 'and now?', '--resume', sessionId], place)
  assert.match(back.out, /Back on the terminal\./)
})
