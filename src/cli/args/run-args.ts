import type { SandboxMode } from '../../host/sandbox/sandbox.ts'
import type { ApprovalMode } from '../../policy/policy.ts'
import { UserError } from '../user-error.ts'
import { RUN_OPTIONS } from './options.ts'
import {
  parseCommandLine,
  parseNumberBetween,
  parsePositiveInteger,
  parsePositiveNumber,
  type OptionValues,
} from './parse-command-line.ts'
import { EFFORT_VALUES, type GenerationSettings, parseEffort } from '../setup/generation-settings.ts'
import { defined } from '../../model/defined.ts'

export interface RunArgs {
  readonly prompt?: string
  /** The prompt is one bare word: it may be a mistyped command. */
  readonly isBareWord: boolean
  /** One answer is wanted, not an interactive session. */
  readonly isOneShot: boolean
  readonly model?: string
  /** For every model of the run; they override those of the config files. */
  readonly generation: GenerationSettings
  readonly outputFormat: OutputFormat
  /** The schema of the answer: a file, or JSON. */
  readonly jsonSchema?: string
  readonly approvalMode?: ApprovalMode
  /** The session to continue: its id, or `latest`. */
  readonly resume?: string
  /** Take the lock of the session over from a process that cannot be seen from here. */
  readonly takeOver?: boolean
  /** The session to fork: its id, or `latest`; with `@3`, as it was before the user's third message. */
  readonly fork?: string
  readonly noSession?: boolean
  readonly maxTurns?: number
  readonly maxCost?: number
  readonly cwd?: string
  readonly directories: readonly string[]
  readonly allowedTools: readonly string[]
  readonly disallowedTools?: readonly string[]
  /** Files with MCP servers, or JSON. */
  readonly mcpConfigs?: readonly string[]
  readonly systemFile?: string
  readonly systemPrompt?: string
  readonly appendSystemPrompt?: string
  readonly allFiles?: boolean
  readonly sandbox?: SandboxMode
  /** Commands in the sandbox may reach the network. */
  readonly network?: boolean
  readonly writeCaches?: boolean
  readonly record?: string
  readonly trace?: string
  readonly yes: boolean
  readonly help: boolean
  readonly version: boolean
}

export type OutputFormat = (typeof RUN_OPTIONS)['output-format']['from'][number]

export function parseRunArgs(argv: readonly string[]): RunArgs {
  const { values, positionals } = parseCommandLine('dragoman', RUN_OPTIONS, argv)
  return toRunArgs(values, positionals)
}

/** The same for a command that takes the options of a run beside its own. */
export function toRunArgs(values: OptionValues<typeof RUN_OPTIONS>, positionals: readonly string[]): RunArgs {
  const {
    'approval-mode': approvalMode,
    'output-format': outputFormat = 'text',
    'json-schema': jsonSchema,
    'include-directories': directories,
    'allowed-tools': allowedTools,
    'take-over': takeOver,
    'no-session': noSession,
    'max-turns': maxTurns,
    'max-cost': maxCost,
    'max-output-tokens': maxOutputTokens,
    'top-p': topP,
    'disallowed-tools': disallowedTools,
    'mcp-config': mcpConfigs,
    'system-file': systemFile,
    'system-prompt': systemPrompt,
    'append-system-prompt': appendSystemPrompt,
    'all-files': allFiles,
    'sandbox-network': network,
    'sandbox-write-caches': writeCaches,
    yes = false,
    help = false,
    version = false,
    ...rest
  } = values
  const { prompt: promptOption, print, yolo, continue: continueLatest, resume: resumeOption, ...more } = rest
  const { model, fork, cwd, sandbox, record, trace, effort, temperature, verbose, ...unread } = more
  // An option that is not read above does not compile.
  unread satisfies Record<string, never>
  if (promptOption !== undefined && positionals.length > 0)
    throw new UserError('the prompt was given twice; pass it with -p or as arguments, not both')
  rejectOtherMeanings(values, positionals)
  if (systemFile !== undefined && systemPrompt !== undefined)
    throw new UserError('use --system-file or --system-prompt, not both')
  if (verbose && outputFormat === 'text')
    throw new UserError('--verbose belongs to --output-format stream-json; in a session, Ctrl-O shows a call in full')
  const prompt = promptOption ?? (positionals.length > 0 ? positionals.join(' ') : undefined)
  if (yolo && approvalMode !== undefined && approvalMode !== 'yolo')
    throw new UserError('--yolo and --approval-mode contradict each other; use one of them')
  if (continueLatest && resumeOption !== undefined && resumeOption !== 'latest')
    throw new UserError('--continue continues the latest session; to continue another one, use --resume alone')
  const resume = resumeOption ?? (continueLatest ? 'latest' : undefined)
  if (resume !== undefined && fork !== undefined) throw new UserError('use --resume or --fork, not both')
  if (takeOver && resume === undefined) throw new UserError('--take-over needs --resume')
  if (noSession && (resume !== undefined || fork !== undefined))
    throw new UserError('--no-session cannot be combined with --resume, --continue or --fork')
  return {
    isBareWord: promptOption === undefined && !print && /^[\p{L}\p{N}_-]+$/u.test(prompt ?? ''),
    isOneShot: promptOption !== undefined || print === true || yes || jsonSchema !== undefined,
    outputFormat,
    generation: defined({
      effort: requireEffort(effort),
      temperature: parseNumberBetween('--temperature', temperature, [0, 2]),
      topP: parseNumberBetween('--top-p', topP, [0, 1]),
      maxTokens: parsePositiveInteger('--max-output-tokens', maxOutputTokens),
    }),
    directories: splitListValues(directories),
    allowedTools: splitListValues(allowedTools),
    yes,
    help,
    version,
    ...defined({ prompt, resume, model, takeOver, fork, noSession, cwd, systemFile, allFiles, sandbox, network }),
    ...defined({ systemPrompt, appendSystemPrompt, mcpConfigs }),
    ...(disallowedTools && { disallowedTools: splitListValues(disallowedTools) }),
    ...defined({ jsonSchema, writeCaches, record, trace, approvalMode: yolo ? ('yolo' as const) : approvalMode }),
    ...defined({
      maxTurns: parsePositiveInteger('--max-turns', maxTurns),
      maxCost: parsePositiveNumber('--max-cost', maxCost),
    }),
  }
}

/** Letters that mean something else in Codex would take a value for the prompt. */
function rejectOtherMeanings(values: OptionValues<typeof RUN_OPTIONS>, [first = '']: readonly string[]): void {
  if (values.continue && /^[\w.]+=\S*$/.test(first))
    throw new UserError(`-c continues the latest session; to set ${first}, edit the settings (dragoman config path)`)
  if (values['all-files'] && /^(?:untrusted|on-failure|on-request|never)$/.test(first))
    throw new UserError(`-a sends all files; for the approval policy ${first}, use --approval-mode`)
}

function requireEffort(value: string | undefined): GenerationSettings['effort'] {
  const effort = value === undefined ? undefined : parseEffort(value)
  if (value !== undefined && effort === undefined)
    throw new UserError(`--effort needs ${EFFORT_VALUES}, not “${value}”`)
  return effort
}

/** Lists are separated by commas; those inside brackets belong to a rule: `run_shell_command(git log, x)`. */
function splitListValues(values: readonly string[] = []): string[] {
  return values
    .flatMap((value) => value.match(/(?:[^,(]|\([^)]*\))+/g) ?? [])
    .map((value) => value.trim())
    .filter((value) => value !== '')
}
