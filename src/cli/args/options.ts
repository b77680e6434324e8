import { APPROVAL_MODES, APPROVAL_MODE_NAMES } from '../../policy/policy.ts'
/** An option of a command line. Parsing, help, completion and the man page are all made from this. */
export interface CliOption {
  /** One letter. */
  readonly short?: string
  /** What it takes, as the help shows it: `<file>`; in square brackets if it may stand alone; nothing for a switch. */
  readonly takes?: string
  /** What an option that takes something means when it stands alone. */
  readonly implicitValue?: string
  readonly about: string
  /** The heading under which the help shows it. */
  readonly group?: string
  /** The only values that it takes, or what kind of thing to complete. */
  readonly from?: readonly string[] | CompletionKind
  /** It may be given several times. */
  readonly many?: true
  /** What other agents call it, for whoever types that. */
  readonly elsewhere?: readonly string[]
  /** Not worth a line of help. */
  readonly hidden?: true
}

/** Things whose names a shell can complete. */
export type CompletionKind = 'file' | 'folder' | 'model' | 'provider' | 'session' | 'tool'

/** Options by their long names. */
export type CliOptions = Readonly<Record<string, CliOption>>

/** Every command knows this one. */
export const HELP_OPTION = { help: { short: 'h', about: 'this text' } } as const satisfies CliOptions

const PROMPT_GROUP = { group: 'Asking' } as const
const PERMISSION_GROUP = { group: 'What may happen' } as const
const SESSION_GROUP = { group: 'Sessions and limits' } as const
const FOLDER_GROUP = { group: 'Places' } as const
const OTHER_GROUP = { group: 'Watching, and the rest' } as const

/** The options of a run, `dragoman [options] [prompt]`, in the order of the help. */
export const RUN_OPTIONS = {
  prompt: {
    short: 'p',
    takes: '<text>',
    about: 'one answer to this; what is piped in stands before it',
    ...PROMPT_GROUP,
  },
  model: {
    elsewhere: ['fallback-model'],
    short: 'm',
    takes: '<name>',
    from: 'model',
    about: 'provider/model: gemini/gemini-2.5-pro, ollama/qwen3, rehearsal/hello; a,b: b where a cannot answer',
    ...PROMPT_GROUP,
  },
  'output-format': {
    elsewhere: ['json', 'experimental-json'],
    short: 'o',
    takes: '<form>',
    from: ['text', 'json', 'stream-json'],
    about: 'text, json or stream-json',
    ...PROMPT_GROUP,
  },
  'system-file': {
    elsewhere: ['system-prompt', 'append-system-prompt', 'system-prompt-file'],
    takes: '<file>',
    from: 'file',
    about: 'another system prompt',
    ...PROMPT_GROUP,
  },
  'all-files': { short: 'a', about: 'take the text of all files of the folder along from the start', ...PROMPT_GROUP },
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
    about: 'run these unasked: read_file, run_shell_command(git status)',
    ...PERMISSION_GROUP,
  },
  sandbox: {
    takes: '<mode>',
    from: ['auto', 'on', 'off'],
    about: 'auto (commands run in a sandbox where there is one), on or off',
    ...PERMISSION_GROUP,
  },
  'sandbox-network': { about: 'commands in the sandbox may reach the network', ...PERMISSION_GROUP },
  'sandbox-write-caches': {
    about: 'commands and MCP servers with the network write the package caches of your home folder',
    ...PERMISSION_GROUP,
  },
  resume: {
    elsewhere: ['session-id', 'session'],
    short: 'r',
    takes: '[session]',
    implicitValue: 'latest',
    from: 'session',
    about: 'go on with a session: its id, or the latest',
    ...SESSION_GROUP,
  },
  'take-over': {
    about: 'with --resume: also from a process in another container or on another machine that is gone',
    ...SESSION_GROUP,
  },
  continue: { short: 'c', about: 'the same as --resume: go on with the latest session', ...SESSION_GROUP },
  fork: {
    elsewhere: ['fork-session'],
    takes: '[session]',
    implicitValue: 'latest',
    from: 'session',
    about: 'branch off from a session; latest@3: from before your third message',
    ...SESSION_GROUP,
  },
  'no-session': { about: 'keep nothing of this run: no session, and no home folder is needed', ...SESSION_GROUP },
  'max-turns': { takes: '<n>', about: 'stop after so many turns', ...SESSION_GROUP },
  'max-cost': {
    elsewhere: ['max-budget-usd'],
    takes: '<dollars>',
    about: 'stop before it costs more',
    ...SESSION_GROUP,
  },
  cwd: {
    elsewhere: ['cd', 'C', 'directory', 'workdir'],
    takes: '<folder>',
    from: 'folder',
    about: 'the folder to work in',
    ...FOLDER_GROUP,
  },
  'include-directories': {
    elsewhere: ['add-dir', 'dir'],
    takes: '<list>',
    from: 'folder',
    many: true,
    about: 'more folders to work in',
    ...FOLDER_GROUP,
  },
  record: {
    takes: '<folder>',
    from: 'folder',
    about: 'keep every exchange, without secrets, to play it again',
    ...OTHER_GROUP,
  },
  trace: {
    elsewhere: ['debug', 'verbose'],
    takes: '<file>',
    from: 'file',
    about: 'write down when what went over the wire',
    ...OTHER_GROUP,
  },
  print: { about: 'one answer, to the words that are given or piped in', hidden: true },
  yes: { about: 'with nothing else: take the tour without questions', hidden: true },
  help: { short: 'h', about: 'this text; also after a command', ...OTHER_GROUP },
  version: { short: 'v', about: 'the version', ...OTHER_GROUP },
} as const satisfies CliOptions
