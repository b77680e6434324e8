import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { McpServer } from '@agentclientprotocol/sdk'
import type { RehearsalScript, ScriptStep } from '../../src/rehearsal/script/script.ts'
import { openaiChat } from '../../src/wire/openai-chat/wire.ts'
import { dragoman, stage } from '../support/command.ts'
import { ISOLATION } from '../support/environment.ts'
import { root } from '../support/paths.ts'
import { validateTranscript } from '../support/transcript-validator.ts'
import { choose, type Editor, type EditorOptions, never, openEditor } from './support/editor.ts'

const LIMIT = { timeout: 300_000 }

type Place = Awaited<ReturnType<typeof stage>>

/** A state in which the process is killed. */
interface State {
  readonly steps: RehearsalScript['steps']
  readonly options?: EditorOptions
  readonly mcpServers?: readonly McpServer[]
  /** Other agents, in the settings. */
  readonly agents?: object
  /** The prompts before the kill; the last one is not waited for. */
  readonly prompts?: readonly string[]
  /** Resolves in the state. */
  reach(editor: Editor, place: Place, sessionId: string): unknown
  /** How often something was done until the kill, and in the end. */
  readonly runs?: readonly [number, number]
  /** How many questions are asked when the session is loaded. */
  readonly questionsAfterLoad?: number
  /** A tool that only reads may run again: its start is not yet on the disk. */
  readonly mayReadAgain?: true
  readonly permit?: EditorOptions['permit']
}

const PROMPT = 'Run it.'
const SHELL = 'run_shell_command'
const FREE = ['--sandbox', 'off', '--yolo']
const ASKING = ['--sandbox', 'off']
const done = [{ say: 'Done.' }, { say: 'More.' }, { say: 'More.' }, { say: 'More.' }]
const append = (rest = ''): ScriptStep => ({
  call: [{ name: SHELL, args: { command: `echo ran >> ran.txt${rest}` } }],
})
/** Runs until the file `end` is there. */
const RUN_ON = '; until [ -e end ]; do sleep 0.1; done'
const APPEND = append()
const WRITE: ScriptStep = { call: [{ name: 'write_file', args: { file_path: '{cwd}/a.txt', content: 'new\n' } }] }
const stalled = (at: 'first-event' | 'text' | 'arguments', step: ScriptStep): ScriptStep => ({
  ...step,
  when: { user: PROMPT, turns: 0 },
  misbehave: [{ kind: 'stall', at }],
})
/** The model stops in the middle of its first response; the next prompt runs the command. */
const stalling = (...[at, step]: Parameters<typeof stalled>) => ({
  steps: [stalled(at, step), APPEND, ...done],
  options: { args: FREE },
  runs: [0, 1] as const,
})
/** A command runs on this machine. */
const RUNNING = { steps: [append(RUN_ON), ...done], options: { args: FREE }, runs: [1, 1] as const }
const FILES = { fs: { readTextFile: true, writeTextFile: true } }
const task = (prompt: string): ScriptStep => ({
  call: [{ name: 'task', args: { description: 'a part', prompt, subagent_type: 'general' } }],
})
const delegate = (work: string): ScriptStep => ({ call: [{ name: 'delegate_other', args: { task: work } }] })
const otherAgent = { command: process.execPath, args: [join(root, 'test/acp/support/other-agent.mjs')] }
const asker: McpServer = {
  name: 'asker',
  command: process.execPath,
  args: [join(root, 'test/acp/support/asking-server.mjs')],
  env: [{ name: 'GREETING', value: 'Hi' }],
}

const countRuns = ({ work }: Place): number =>
  existsSync(join(work, 'ran.txt')) ? readFileSync(join(work, 'ran.txt'), 'utf8').split('\n').length - 1 : 0

async function poll(isReached: () => boolean): Promise<void> {
  while (!isReached()) await new Promise((resolve) => setTimeout(resolve, 20))
}

const inProgress = (editor: Editor) =>
  editor.until(() => editor.updatesOf('tool_call_update').find(({ status }) => status === 'in_progress'))
const asked = (editor: Editor) => editor.until(() => editor.questions[0])
const hasRun = (_editor: Editor, place: Place) => poll(() => countRuns(place) > 0)
const says = (editor: Editor, text: string) => editor.until(() => (editor.text().includes(text) ? true : undefined))
const load = (editor: Editor, place: Place, sessionId: string) =>
  editor.agent.request('session/load', { sessionId, cwd: place.work, mcpServers: [] })

/** Marks a thing that the editor does, which the agent must not ask for twice. */
const mark = (place: { path: string }): void => {
  writeFileSync(place.path, 'ran\n', { flag: 'a' })
}

const STATES: Readonly<Record<string, State | ((place: { path: string }) => State)>> = {
  'the session is new': { steps: done, prompts: [], reach: () => undefined },
  'the model has not answered yet': {
    ...stalling('first-event', APPEND),
    reach: (_editor, { server }) => poll(() => server.requests.length > 0),
  },
  'a message is streaming': {
    ...stalling('text', { say: 'It begins here.', pieces: 5 }),
    reach: (editor) => editor.until(() => editor.updatesOf('agent_message_chunk')[0]),
  },
  'a thought is streaming': {
    ...stalling('text', { think: 'I wonder.', say: 'So.', pieces: 3 }),
    reach: (editor) => editor.until(() => editor.updatesOf('agent_thought_chunk')[0]),
  },
  'the arguments of a call are streaming': {
    ...stalling('arguments', { say: 'Now.', ...APPEND }),
    reach: (editor) => editor.until(() => editor.updatesOf('agent_message_chunk')[0]),
  },
  'a question about a command is open': {
    steps: [APPEND, ...done],
    options: { args: ASKING },
    reach: asked,
    questionsAfterLoad: 1,
    runs: [0, 1],
  },
  'a question about an edit is open': {
    steps: [WRITE, ...done],
    reach: asked,
    questionsAfterLoad: 1,
  },
  'two questions of one response are open': {
    steps: [{ call: [...(APPEND.call ?? []), ...(WRITE.call ?? [])] }, ...done],
    options: { args: ASKING },
    reach: asked,
    questionsAfterLoad: 2,
    runs: [0, 1],
  },
  'a question of the model is open': {
    steps: [
      { call: [{ name: 'ask_user', args: { question: 'Tabs?', options: [{ label: 'Yes' }, { label: 'No' }] } }] },
      ...done,
    ],
    permit: () => choose('answer-1'),
    reach: asked,
    questionsAfterLoad: 1,
  },
  'the approval of a plan is open': {
    steps: [{ call: [{ name: 'exit_plan_mode', args: { plan: '1. Look\n2. Leap\n' } }] }, ...done],
    options: { args: ['--approval-mode', 'plan'] },
    reach: asked,
    questionsAfterLoad: 1,
  },
  'a question was just answered': {
    steps: [append(RUN_ON), ...done],
    options: { args: ASKING, permit: () => choose('once') },
    reach: hasRun,
    runs: [1, 1],
  },
  'a command runs on this machine': {
    ...RUNNING,
    reach: hasRun,
  },
  'one command runs and a question about another call is open': {
    steps: [{ call: [...(append(RUN_ON).call ?? []), ...(WRITE.call ?? [])] }, ...done],
    options: { args: [...ASKING, '--allowed-tools', SHELL] },
    reach: async (editor, place) => {
      await asked(editor)
      await hasRun(editor, place)
    },
    questionsAfterLoad: 1,
    runs: [1, 1],
  },
  'the editor makes a terminal': (at) => ({
    steps: [APPEND, ...done],
    options: {
      args: FREE,
      capabilities: { terminal: true },
      terminal: () => {
        mark(at)
        return never()
      },
    },
    reach: hasRun,
    runs: [1, 1],
  }),
  'a command runs in a terminal of the editor': (at) => ({
    steps: [APPEND, ...done],
    options: {
      args: FREE,
      capabilities: { terminal: true },
      terminal: () => {
        mark(at)
        return { output: 'half of it' }
      },
    },
    reach: (editor) =>
      editor.until(() =>
        editor.updatesOf('tool_call_update').find(({ content }) => content?.some(({ type }) => type === 'terminal')),
      ),
    runs: [1, 1],
  }),
  'the editor reads a file': {
    steps: [{ call: [{ name: 'read_file', args: { absolute_path: '{cwd}/b.txt' } }] }, ...done],
    options: { capabilities: FILES, readFile: () => never() },
    reach: inProgress,
    mayReadAgain: true,
  },
  'the editor writes a file': (at) => ({
    steps: [
      { call: [{ name: 'replace', args: { file_path: '{cwd}/b.txt', old_string: 'old', new_string: 'new' } }] },
      ...done,
    ],
    options: {
      args: FREE,
      capabilities: FILES,
      readFile: () => 'old\n',
      writeFile: () => {
        mark(at)
        return never()
      },
    },
    reach: hasRun,
    runs: [1, 1],
  }),
  'the history is summarised': {
    steps: [
      { when: { user: { not: { matches: '^(?:Run it|Go on|one|two|and)' } } }, misbehave: [{ kind: 'stall' }] },
      { say: { text: 'A long answer that says the same again. ', times: 400 }, repeat: 3 },
      ...done,
    ],
    prompts: [PROMPT, 'one', 'two', '/compress'],
    reach: (_editor, { server }) => poll(() => server.requests.length === 4),
  },
  'a cancellation was sent while a command ran': {
    ...RUNNING,
    reach: async (editor, place, sessionId) => {
      await hasRun(editor, place)
      await editor.agent.notify('session/cancel', { sessionId })
    },
  },
  'a prompt was cancelled while a question was open': {
    steps: [APPEND, ...done],
    options: { args: ASKING },
    reach: async (editor, _place, sessionId) => {
      await asked(editor)
      await editor.agent.notify('session/cancel', { sessionId })
      await editor.until(() => editor.updatesOf('tool_call_update').find(({ status }) => status === 'failed'))
    },
    runs: [0, 0],
  },
  'a form of an MCP server is open': (at) => ({
    steps: [{ call: [{ name: 'greet', args: {} }] }, ...done],
    mcpServers: [asker],
    options: {
      args: FREE,
      capabilities: { elicitation: { form: {} } },
      elicit: () => {
        mark(at)
        return never()
      },
    },
    reach: hasRun,
    runs: [1, 1],
  }),
  'the model of a subagent has not answered yet': {
    steps: [{ when: { user: 'PART' }, misbehave: [{ kind: 'stall' }] }, task('PART'), ...done],
    options: { args: FREE },
    reach: (_editor, { server }) => poll(() => server.requests.length === 2),
    runs: [0, 0],
  },
  'a command of a subagent runs': {
    steps: [{ when: { user: 'PART', turns: 0 }, ...append(RUN_ON) }, task('PART'), ...done],
    options: { args: FREE },
    reach: hasRun,
    runs: [1, 1],
  },
  'a question of a subagent is open': {
    steps: [{ when: { user: 'PART', turns: 0 }, ...APPEND }, task('PART'), ...done],
    options: { args: [...ASKING, '--allowed-tools', 'task'] },
    reach: asked,
    runs: [0, 0],
  },
  'another agent works on a task': {
    steps: [delegate('mark and wait'), ...done],
    agents: { other: otherAgent },
    options: { args: FREE },
    reach: hasRun,
    runs: [1, 1],
  },
  'a question about a task for another agent is open': {
    steps: [delegate('mark'), ...done],
    agents: { other: otherAgent },
    options: { args: ASKING },
    reach: asked,
    questionsAfterLoad: 1,
    runs: [0, 1],
  },
  'a question of another agent is open': {
    steps: [delegate('mark and ask'), ...done],
    agents: { other: otherAgent },
    options: { args: [...ASKING, '--allowed-tools', 'delegate_other'] },
    reach: asked,
    runs: [1, 1],
  },
  'the run is over': {
    steps: [APPEND, ...done],
    options: { args: FREE },
    reach: (editor) => says(editor, 'Done.'),
    runs: [1, 1],
  },
}

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
