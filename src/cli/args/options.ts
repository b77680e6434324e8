import { EFFORT_LEVELS } from '../../model/request.ts'
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
  /** Values that are not in `from` are possible too. */
  readonly isOpen?: true
  readonly many?: true
  /** The switch that it is if its value is left out. */
  readonly switchWithoutValue?: string
  /** Its names in other agents, where it means the same: they work. After such a name, words of this form are further values. */
  readonly aliases?: readonly string[]
  readonly furtherValues?: RegExp
  /** What other agents call its values. */
  readonly valueAliases?: Readonly<Record<string, string>>
  /** Its names in other agents, for a hint. */
  readonly elsewhere?: readonly string[]
  readonly hidden?: true
}

/** Things whose names a shell can complete. */
export type CompletionKind = 'file' | 'folder' | 'model' | 'provider' | 'session' | 'tool'

/** By long name. */
export type CliOptions = Readonly<Record<string, CliOption>>

export const HELP_OPTION = { help: { short: 'h', about: 'show this help' } } as const satisfies CliOptions

/** Rules of Claude Code, such as Read, Bash(git log:*) or mcp__server__tool. */
const TOOL_RULE = /^(?:[A-Z][A-Za-z]+|mcp__\w+)(?:\(.*\))?$/

/** The options of a run, `dragoman [options] [prompt]`, in the order of the help. */
export const RUN_OPTIONS = {
  ...inGroup('Prompt and model', {
    prompt: {
      short: 'p',
      takes: '<text>',
      switchWithoutValue: 'print',
      about: 'print one answer to this prompt and exit; standard input is put before it',
    },
    model: {
      short: 'm',
      takes: '<name>',
      from: 'model',
      about: 'provider/model: gemini/gemini-2.5-pro, ollama/qwen3, rehearsal/hello; a,b: use b if a cannot answer',
    },
    effort: {
      elsewhere: ['reasoning-effort', 'thinking', 'thinking-budget'],
      takes: '<level>',
      from: EFFORT_LEVELS,
      isOpen: true,
      about: 'how much the model thinks: off, minimal, low, medium, high, xhigh, or a number of tokens',
    },
    temperature: { takes: '<n>', about: 'sampling temperature, from 0 to 2' },
    'top-p': { takes: '<n>', about: 'nucleus sampling, from 0 to 1' },
    'max-output-tokens': {
      elsewhere: ['max-tokens', 'max-completion-tokens'],
      takes: '<n>',
      about: 'the longest response of the model, in tokens',
    },
    'output-format': {
      short: 'o',
      takes: '<format>',
      from: ['text', 'json', 'stream-json'],
      about: 'text, json or stream-json',
    },
    'json-schema': {
      aliases: ['output-schema'],
      takes: '<file>',
      from: 'file',
      about: 'print one answer that is JSON of this JSON Schema: a file, or the JSON itself',
    },
    'system-file': {
      aliases: ['system-prompt-file'],
      takes: '<file>',
      from: 'file',
      about: 'use the system prompt in this file',
    },
    'system-prompt': { takes: '<text>', about: 'use this text as the system prompt' },
    'append-system-prompt': { takes: '<text>', about: 'add this text to the system prompt' },
    'all-files': { short: 'a', about: 'include the text of all files of the folder in the first request' },
  }),
  ...inGroup('Permissions', {
    'approval-mode': {
      aliases: ['permission-mode'],
      valueAliases: { acceptEdits: 'auto_edit', bypassPermissions: 'yolo' },
      takes: '<mode>',
      from: APPROVAL_MODE_NAMES,
      about: Object.entries(APPROVAL_MODES)
        .map(([name, about]) => `${name} (${about})`)
        .join(', '),
    },
    yolo: {
      aliases: ['dangerously-skip-permissions'],
      elsewhere: ['allow-all-tools'],
      short: 'y',
      about: 'the same as --approval-mode yolo',
    },
    'allowed-tools': {
      aliases: ['allowedTools'],
      furtherValues: TOOL_RULE,
      elsewhere: ['allow-tool'],
      takes: '<list>',
      from: 'tool',
      many: true,
      about: 'run these without approval: read_file, run_shell_command(git status)',
    },
    'disallowed-tools': {
      aliases: ['disallowedTools'],
      furtherValues: TOOL_RULE,
      elsewhere: ['deny-tool', 'exclude-tools'],
      takes: '<list>',
      from: 'tool',
      many: true,
      about: 'refuse these: write_file, run_shell_command(git push *)',
    },
    sandbox: {
      takes: '<mode>',
      from: ['auto', 'on', 'off'] satisfies SandboxMode[],
      about: 'run commands in a sandbox: auto (if one is available), on (or refuse to run), off',
    },
    'sandbox-network': { about: 'allow commands in the sandbox to reach the network' },
    'sandbox-write-caches': {
      about: 'let commands and MCP servers with network access write the package caches in your home folder',
    },
  }),
  ...inGroup('Sessions and limits', {
    resume: {
      elsewhere: ['session'],
      short: 'r',
      takes: '[session]',
      implicitValue: 'latest',
      from: 'session',
      about: 'continue a session: its id, or the latest one',
    },
    'take-over': {
      about: 'with --resume: take over the lock of a process in another container or on another machine',
    },
    continue: { short: 'c', about: 'continue the latest session, like --resume' },
    fork: {
      takes: '[session]',
      implicitValue: 'latest',
      from: 'session',
      about: 'copy a session into a new one; latest@3: up to before your third message',
    },
    'no-session': { aliases: ['no-session-persistence'], about: 'do not save this session; needs no home folder' },
    'max-turns': { takes: '<n>', about: 'stop after this many turns' },
    'max-cost': { aliases: ['max-budget-usd'], takes: '<dollars>', about: 'stop before the cost exceeds this' },
  }),
  ...inGroup('Folders and servers', {
    cwd: {
      aliases: ['cd'],
      elsewhere: ['directory', 'workdir'],
      short: 'C',
      takes: '<folder>',
      from: 'folder',
      about: 'work in this folder',
    },
    'include-directories': {
      aliases: ['add-dir'],
      furtherValues: /^(?:~|\.\.?)(?:\/|$)/,
      elsewhere: ['dir'],
      takes: '<list>',
      from: 'folder',
      many: true,
      about: 'additional folders to work in',
    },
    'mcp-config': {
      takes: '<file>',
      from: 'file',
      many: true,
      about: 'use the MCP servers of this file, or of this JSON, for this run',
    },
  }),
  ...inGroup('Diagnostics and help', {
    record: {
      takes: '<folder>',
      from: 'folder',
      about: 'record all requests and responses, without secrets, for dragoman replay',
    },
    trace: {
      takes: '<file>',
      from: 'file',
      about: 'write the timings of all requests to this file',
    },
    help: { short: 'h', about: 'show this help; also after a command' },
    version: { short: 'v', about: 'show the version' },
  }),
  print: { about: 'print one answer and exit', hidden: true },
  verbose: { about: 'with --output-format stream-json: accepted, because it prints everything anyway', hidden: true },
  yes: { about: 'without other arguments: run the tour without questions', hidden: true },
} satisfies CliOptions

function inGroup<const T extends CliOptions>(
  group: string,
  options: T,
): { readonly [Name in keyof T]: T[Name] & { readonly group: string } } {
  const entries = Object.entries(options).map(([name, option]) => [name, { ...option, group }])
  return Object.fromEntries(entries) as ReturnType<typeof inGroup<T>>
}
