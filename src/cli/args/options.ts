import { APPROVAL_MODES, APPROVAL_MODE_NAMES } from '../../policy/policy.ts'
import type { SandboxMode } from '../../host/sandbox/sandbox.ts'

/** An option of a command line. Parsing, help, completion and the man page are all made from this. */
export interface CliOption {
  /** One letter. */
  readonly short?: string
  /** Its value, as the help shows it: `<file>`; in square brackets if it may be left out; absent for a switch. */
  readonly takes?: string
  /** The value if it is left out. */
  readonly implicitValue?: string
  readonly about: string
  /** The heading under which the help shows it. */
  readonly group?: string
  /** The possible values, or what kind of thing to complete. */
  readonly from?: readonly string[] | CompletionKind
  /** It may be given several times. */
  readonly many?: true
  /** Its names in other agents, for a hint. */
  readonly elsewhere?: readonly string[]
  /** Not in the help. */
  readonly hidden?: true
}

/** Things whose names a shell can complete. */
export type CompletionKind = 'file' | 'folder' | 'model' | 'provider' | 'session' | 'tool'

/** By long name. */
export type CliOptions = Readonly<Record<string, CliOption>>

export const HELP_OPTION = { help: { short: 'h', about: 'show this help' } } as const satisfies CliOptions

const PROMPT_GROUP = { group: 'Prompt and model' } as const
const PERMISSION_GROUP = { group: 'Permissions' } as const
const SESSION_GROUP = { group: 'Sessions and limits' } as const
const FOLDER_GROUP = { group: 'Folders' } as const
const OTHER_GROUP = { group: 'Diagnostics and help' } as const

/** The options of a run, `dragoman [options] [prompt]`, in the order of the help. */
export const RUN_OPTIONS = {
  prompt: {
    short: 'p',
    takes: '<text>',
    about: 'print one answer to this prompt and exit; standard input is put before it',
    ...PROMPT_GROUP,
  },
  model: {
    elsewhere: ['fallback-model'],
    short: 'm',
    takes: '<name>',
    from: 'model',
    about: 'provider/model: gemini/gemini-2.5-pro, ollama/qwen3, rehearsal/hello; a,b: use b if a cannot answer',
    ...PROMPT_GROUP,
  },
  'output-format': {
    elsewhere: ['json', 'experimental-json'],
    short: 'o',
    takes: '<format>',
    from: ['text', 'json', 'stream-json'],
    about: 'text, json or stream-json',
    ...PROMPT_GROUP,
  },
  'system-file': {
    elsewhere: ['system-prompt', 'append-system-prompt', 'system-prompt-file'],
    takes: '<file>',
    from: 'file',
    about: 'use the system prompt in this file',
    ...PROMPT_GROUP,
  },
  'all-files': {
    short: 'a',
    about: 'include the text of all files of the folder in the first request',
    ...PROMPT_GROUP,
  },
  'approval-mode': {
    elsewhere: ['permission-mode', 'ask-for-approval', 'full-auto'],
    takes: '<mode>',
    from: APPROVAL_MODE_NAMES,
    about: Object.entries(APPROVAL_MODES)
      .map(([name, about]) => `${name} (${about})`)
      .join(', '),
    ...PERMISSION_GROUP,
  },
  yolo: {
    elsewhere: ['dangerously-skip-permissions', 'dangerously-bypass-approvals-and-sandbox', 'allow-all-tools'],
    short: 'y',
    about: 'the same as --approval-mode yolo',
    ...PERMISSION_GROUP,
  },
  'allowed-tools': {
    elsewhere: ['allow-tool', 'tools'],
    takes: '<list>',
    from: 'tool',
    many: true,
    about: 'run these without approval: read_file, run_shell_command(git status)',
    ...PERMISSION_GROUP,
  },
  sandbox: {
    takes: '<mode>',
    from: ['auto', 'on', 'off'] satisfies SandboxMode[],
    about: 'run commands in a sandbox: auto (if one is available), on (or refuse to run), off',
    ...PERMISSION_GROUP,
  },
  'sandbox-network': { about: 'allow commands in the sandbox to reach the network', ...PERMISSION_GROUP },
  'sandbox-write-caches': {
    about: 'let commands and MCP servers with network access write the package caches in your home folder',
    ...PERMISSION_GROUP,
  },
  resume: {
    elsewhere: ['session-id', 'session'],
    short: 'r',
    takes: '[session]',
    implicitValue: 'latest',
    from: 'session',
    about: 'continue a session: its id, or the latest one',
    ...SESSION_GROUP,
  },
  'take-over': {
    about: 'with --resume: take over the lock of a process in another container or on another machine',
    ...SESSION_GROUP,
  },
  continue: { short: 'c', about: 'continue the latest session, like --resume', ...SESSION_GROUP },
  fork: {
    elsewhere: ['fork-session'],
    takes: '[session]',
    implicitValue: 'latest',
    from: 'session',
    about: 'copy a session into a new one; latest@3: up to before your third message',
    ...SESSION_GROUP,
  },
  'no-session': { about: 'do not save this session; needs no home folder', ...SESSION_GROUP },
  'max-turns': { takes: '<n>', about: 'stop after this many turns', ...SESSION_GROUP },
  'max-cost': {
    elsewhere: ['max-budget-usd'],
    takes: '<dollars>',
    about: 'stop before the cost exceeds this',
    ...SESSION_GROUP,
  },
  cwd: {
    elsewhere: ['cd', 'C', 'directory', 'workdir'],
    takes: '<folder>',
    from: 'folder',
    about: 'work in this folder',
    ...FOLDER_GROUP,
  },
  'include-directories': {
    elsewhere: ['add-dir', 'dir'],
    takes: '<list>',
    from: 'folder',
    many: true,
    about: 'additional folders to work in',
    ...FOLDER_GROUP,
  },
  record: {
    takes: '<folder>',
    from: 'folder',
    about: 'record all requests and responses, without secrets, for dragoman replay',
    ...OTHER_GROUP,
  },
  trace: {
    elsewhere: ['debug', 'verbose'],
    takes: '<file>',
    from: 'file',
    about: 'write the timings of all requests to this file',
    ...OTHER_GROUP,
  },
  print: { about: 'print one answer and exit', hidden: true },
  yes: { about: 'without other arguments: run the tour without questions', hidden: true },
  help: { short: 'h', about: 'show this help; also after a command', ...OTHER_GROUP },
  version: { short: 'v', about: 'show the version', ...OTHER_GROUP },
} as const satisfies CliOptions
