import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ClientCapabilities, McpServer } from '@agentclientprotocol/sdk'
import type { RehearsalScript, ScriptStep } from '../../../src/rehearsal/script/script.ts'
import type { stage } from '../../support/command.ts'
import { root } from '../../support/paths.ts'
import { choose, type Editor, type EditorOptions, never } from './editor.ts'

export type Place = Awaited<ReturnType<typeof stage>>

/** A state in which the process is killed. */
export interface State {
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

export const PROMPT = 'Run it.'
const SHELL = 'run_shell_command'
const FREE = ['--sandbox', 'off', '--yolo']
export const ASKING = ['--sandbox', 'off']
export const done = [{ say: 'Done.' }, { say: 'More.' }, { say: 'More.' }, { say: 'More.' }]
const append = (rest = ''): ScriptStep => ({
  call: [{ name: SHELL, args: { command: `echo ran >> ran.txt${rest}` } }],
})
/** Runs until the file `end` is there. */
const RUN_ON = '; until [ -e end ]; do sleep 0.1; done'
export const APPEND = append()
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

export const countRuns = ({ work }: Place): number =>
  existsSync(join(work, 'ran.txt')) ? readFileSync(join(work, 'ran.txt'), 'utf8').split('\n').length - 1 : 0

export async function poll(isReached: () => boolean): Promise<void> {
  while (!isReached()) await new Promise((resolve) => setTimeout(resolve, 20))
}

const inProgress = (editor: Editor) =>
  editor.until(() => editor.updatesOf('tool_call_update').find(({ status }) => status === 'in_progress'))
export const asked = (editor: Editor) => editor.until(() => editor.questions[0])
const hasRun = (_editor: Editor, place: Place) => poll(() => countRuns(place) > 0)
export const says = (editor: Editor, text: string) =>
  editor.until(() => (editor.text().includes(text) ? true : undefined))
export const load = (editor: Editor, place: Place, sessionId: string) =>
  editor.agent.request('session/load', { sessionId, cwd: place.work, mcpServers: [] })

/** Marks a thing that the editor does, which the agent must not ask for twice. */
const mark = (place: { path: string }): void => {
  writeFileSync(place.path, 'ran\n', { flag: 'a' })
}

/** A tool of an MCP server asks the user, who does not answer. */
const withElicitation =
  (tool: string, elicitation: NonNullable<ClientCapabilities['elicitation']>) =>
  (at: { path: string }): State => ({
    steps: [{ call: [{ name: tool, args: {} }] }, ...done],
    mcpServers: [asker],
    options: {
      args: FREE,
      capabilities: { elicitation },
      elicit: () => {
        mark(at)
        return never()
      },
    },
    reach: hasRun,
    runs: [1, 1],
  })

export const STATES: Readonly<Record<string, State | ((place: { path: string }) => State)>> = {
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
  'a form of an MCP server is open': withElicitation('greet', { form: {} }),
  'a URL of an MCP server is open': withElicitation('sign_in', { url: {} }),
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
