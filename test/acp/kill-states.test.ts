import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { openaiChat } from '../../src/wire/openai-chat/wire.ts'
import { dragoman, stage } from '../support/command.ts'
import { ISOLATION } from '../support/environment.ts'
import { root } from '../support/paths.ts'
import { validateTranscript } from '../support/transcript-validator.ts'
import { choose, type Editor, openEditor } from './support/editor.ts'
import {
  APPEND,
  asked,
  ASKING,
  countRuns,
  done,
  load,
  poll,
  PROMPT,
  says,
  type State,
  STATES,
} from './support/killed-states.ts'

const LIMIT = { timeout: 300_000 }

describe('kill -9, then session/load in a new process: the transcript is valid, and nothing is done twice', () => {
  for (const [name, entry] of Object.entries(STATES)) test(name, LIMIT, () => killIn(name, entry))
})

async function killIn(name: string, entry: (typeof STATES)[string]): Promise<void> {
  const at = { path: '' }
  const state = typeof entry === 'function' ? entry(at) : entry
  const place = await stage([...state.steps])
  at.path = join(place.work, 'ran.txt')
  writeFileSync(join(place.work, 'b.txt'), 'old\n')
  if (state.agents) {
    mkdirSync(join(place.home, '.config/dragoman'), { recursive: true })
    writeFileSync(join(place.home, '.config/dragoman/config.json'), JSON.stringify({ acpAgents: state.agents }))
  }
  const { prompts = [PROMPT], runs = [0, 0], options = {} } = state
  const first = await openEditor(place, options)
  const { sessionId } = await first.newSession({ mcpServers: [...(state.mcpServers ?? [])] })
  if (state.mcpServers) await waitForServers(first, sessionId)
  for (const prompt of prompts.slice(0, -1)) assert.equal(await first.prompt(sessionId, prompt), 'end_turn')
  if (prompts.length > 0) void first.prompt(sessionId, prompts.at(-1) ?? '').catch(() => undefined)
  await state.reach(first, place, sessionId)
  await first.kill()
  assert.deepEqual(first.schema.problems, [])
  assert.equal(countRuns(place), runs[0], `${name}: runs before the kill`)
  writeFileSync(join(place.work, 'end'), '')

  // Killed once more while it is loaded: that changes nothing.
  const interrupted = await openEditor(place, options)
  void load(interrupted, place, sessionId).catch(() => undefined)
  if (prompts.length > 0) await interrupted.until(() => interrupted.updates[0])
  await interrupted.kill()
  assert.equal(countRuns(place), runs[0], `${name}: runs after a kill in session/load`)

  const permit = state.permit ?? (() => choose('once'))
  const { args = [] } = options
  const last = await openEditor(place, { args, permit })
  await load(last, place, sessionId)
  checkReplay(last, state, first)
  if (state.questionsAfterLoad !== undefined) {
    const again = await asked(last)
    assert.equal(again.toolCall.toolCallId, first.questions[0]?.toolCall.toolCallId)
    assert.deepEqual(again.options, first.questions[0]?.options)
    await says(last, 'Done.')
    assert.equal(last.questions.length, state.questionsAfterLoad)
  }
  assert.equal(await last.prompt(sessionId, 'Go on.'), 'end_turn')
  if (state.questionsAfterLoad === undefined && runs[1] === runs[0])
    assert.deepEqual(last.questions, [], 'nothing is asked any more')
  assert.equal(countRuns(place), runs[1], `${name}: runs in the end`)
  await last.agent.request('session/close', { sessionId })
  const before = last.updates.length
  await load(last, place, sessionId)
  checkCallsHaveEnded(last.updates.slice(before), new Set())
  await last.close()

  const resumed = await dragoman(['-p', 'and?', '--resume', sessionId], place)
  assert.equal(resumed.code, 0, resumed.err)
  assert.deepEqual(place.server.failures, [])
  for (const { body } of place.server.requests)
    assert.deepEqual(validateTranscript('openai-chat', body, openaiChat.profile), [], name)
  const messages = JSON.stringify(place.server.requests.at(-1)?.conversation)
  for (const prompt of ['Go on.', ...prompts.filter((text) => !text.startsWith('/'))])
    assert.equal(messages.split(`"${prompt}"`).length - 1, 1, `${name}: “${prompt}” is there once: ${messages}`)
}

async function waitForServers(editor: Editor, sessionId: string): Promise<void> {
  while (!/asker: ready/.test(editor.text())) {
    assert.equal(await editor.prompt(sessionId, '/mcp'), 'end_turn')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

function checkReplay(editor: Editor, state: State, first: Editor): void {
  const { prompts = [PROMPT] } = state
  const texts = editor
    .updatesOf('user_message_chunk')
    .map(({ content }) => (content.type === 'text' ? content.text : ''))
  assert.deepEqual(
    texts,
    prompts.filter((text) => !text.startsWith('/')),
  )
  const started = first
    .updatesOf('tool_call_update')
    .flatMap(({ toolCallId, status }) => (status === undefined || status === 'pending' ? [] : [toolCallId]))
  const notStarted = first
    .updatesOf('tool_call')
    .flatMap(({ toolCallId }) => (state.mayReadAgain || !started.includes(toolCallId) ? [toolCallId] : []))
  checkCallsHaveEnded(editor.updates, new Set(notStarted))
}

/** Every call is announced once and has one end, except those that are still open. */
function checkCallsHaveEnded(updates: Editor['updates'], open: ReadonlySet<string>): void {
  const announced: string[] = []
  const ended: string[] = []
  for (const { update } of updates) {
    if (update.sessionUpdate === 'tool_call') announced.push(update.toolCallId)
    if (update.sessionUpdate === 'tool_call_update' && ['completed', 'failed'].includes(update.status ?? ''))
      ended.push(update.toolCallId)
  }
  assert.equal(new Set(announced).size, announced.length, 'a call is announced twice')
  const expected = announced.filter((id) => !open.has(id))
  assert.deepEqual(ended.filter((id) => !open.has(id)).toSorted(), expected.toSorted(), 'each call has one end')
}

test('kill -9 while initialize or session/new is answered leaves nothing behind', LIMIT, async () => {
  const place = await stage([{ say: 'Hello.' }])
  const message = (id: number, method: string, params: object) =>
    `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`
  const initialize = message(0, 'initialize', { protocolVersion: 1, clientCapabilities: {} })
  const create = message(1, 'session/new', { cwd: place.work, mcpServers: [] })
  // Before the process reads, while it starts, after the first answer, and while the session is made.
  for (const wait of ['', 'started', 'initialized', 'creating'] as const) {
    const child = spawn(process.execPath, [join(root, 'bin/dragoman'), 'acp'], {
      cwd: place.work,
      env: { ...ISOLATION, ...place.env },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    child.stdin.on('error', () => undefined)
    const exited = new Promise((resolve) => child.once('close', resolve))
    child.stdin.write(initialize)
    if (wait === 'started') await new Promise((resolve) => setTimeout(resolve, 50))
    if (wait === 'initialized' || wait === 'creating')
      await new Promise((resolve) => child.stdout.once('data', resolve))
    if (wait === 'creating') child.stdin.write(create)
    child.kill('SIGKILL')
    await exited
  }
  const editor = await openEditor(place)
  assert.deepEqual((await editor.agent.request('session/list', { cwd: place.work })).sessions, [])
  const { sessionId } = await editor.newSession()
  assert.equal(await editor.prompt(sessionId, 'Hi.'), 'end_turn')
  assert.match(editor.text(), /Hello\./)
  await editor.close()
})

test('kill -9 with two sessions in different states: both can be loaded', LIMIT, async () => {
  const place = await stage([
    { when: { user: 'Wait.' }, misbehave: [{ kind: 'stall' }] },
    { when: { user: PROMPT, turns: 0 }, ...APPEND },
    ...done,
    ...done,
  ])
  const first = await openEditor(place, { args: ASKING })
  const one = await first.newSession()
  const other = await first.newSession()
  void first.prompt(one.sessionId, PROMPT).catch(() => undefined)
  await asked(first)
  void first.prompt(other.sessionId, 'Wait.').catch(() => undefined)
  await poll(() => place.server.requests.length === 2)
  await first.kill()
  const next = await openEditor(place, { args: ASKING, permit: () => choose('once') })
  for (const { sessionId } of [one, other]) await load(next, place, sessionId)
  await poll(() => countRuns(place) === 1)
  for (const { sessionId } of [one, other]) assert.equal(await next.prompt(sessionId, 'Go on.'), 'end_turn')
  assert.equal(next.questions.length, 1)
  assert.equal(countRuns(place), 1)
  await next.close()
})
