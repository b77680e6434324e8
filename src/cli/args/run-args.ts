import type { SandboxMode } from '../../host/sandbox/sandbox.ts'
import type { ApprovalMode } from '../../policy/policy.ts'
import { UserError } from '../user-error.ts'
import { RUN_OPTIONS } from './options.ts'
import { parseCommandLine, type OptionValues } from './parse.ts'
import { defined } from '../../model/defined.ts'

/** What a person asked for on the command line. */
export interface RunArgs {
  readonly prompt?: string
  /** The prompt is one bare word: it may be a mistyped command. */
  readonly isBareWord?: true
  /** One answer is wanted, not a conversation. */
  readonly isOneShot: boolean
  readonly model?: string
  readonly outputFormat: OutputFormat
  readonly approvalMode?: ApprovalMode
  /** The session to go on with: its id, or `latest`. */
  readonly resume?: string
  /** Take the session over from a process of which nobody here can see whether it still runs. */
  readonly takeOver?: true
  /** The session to branch off from: its id, or `latest`; with `@3`, as it was before the person's third message. */
  readonly fork?: string
  /** Nothing of the session is kept. */
  readonly noSession?: true
  readonly maxTurns?: number
  readonly maxCost?: number
  readonly cwd?: string
  readonly directories: readonly string[]
  readonly allowedTools: readonly string[]
  readonly systemFile?: string
  /** The first request takes all files of the folder along. */
  readonly allFiles?: true
  readonly sandbox?: SandboxMode
  /** Commands in the sandbox may reach the network. */
  readonly network?: true
  /** With the network they write the caches of packages in the home folder. */
  readonly writeCaches?: true
  /** A folder for a recording of every exchange. */
  readonly record?: string
  /** A file for the times of every exchange. */
  readonly trace?: string
  readonly yes: boolean
  readonly help: boolean
  readonly version: boolean
}

/** The forms in which a run can be printed. */
export type OutputFormat = (typeof RUN_OPTIONS)['output-format']['from'][number]

/** Reads the command line of a run. Throws a sentence about what it does not understand. */
export function parseRunArgs(argv: readonly string[]): RunArgs {
  const { values, positionals } = parseCommandLine('dragoman', RUN_OPTIONS, argv)
  return toRunArgs(values, positionals)
}

/** The same for a command that takes the options of a run beside its own. */
export function toRunArgs(values: OptionValues<typeof RUN_OPTIONS>, positionals: readonly string[]): RunArgs {
  if (values.prompt !== undefined && positionals.length > 0) {
    throw new UserError('give the prompt either with -p or as words, not both')
  }
  const prompt = values.prompt ?? (positionals.length > 0 ? positionals.join(' ') : undefined)
  if (values.yolo && values['approval-mode'] !== undefined && values['approval-mode'] !== 'yolo') {
    throw new UserError('--yolo and --approval-mode contradict each other; give one of them')
  }
  if (values.continue && values.resume !== undefined && values.resume !== 'latest')
    throw new UserError('--continue goes on with the latest session; give --resume alone to name another')
  const resume = values.resume ?? (values.continue ? 'latest' : undefined)
  if (resume !== undefined && values.fork !== undefined) throw new UserError('give --resume or --fork, not both')
  if (values['take-over'] && resume === undefined) throw new UserError('--take-over goes with --resume')
  if (values['no-session'] && (resume !== undefined || values.fork !== undefined))
    throw new UserError('--no-session keeps nothing, so it cannot go on with a session; leave one of them out')
  const maxTurns = parsePositiveInteger('--max-turns', values['max-turns'])
  const maxCost = parsePositiveNumber('--max-cost', values['max-cost'])
  const systemFile = values['system-file']
  const mode = values.yolo ? 'yolo' : values['approval-mode']
  return {
    ...defined({ prompt }),
    ...(values.prompt === undefined &&
      !values.print &&
      /^[\p{L}\p{N}_-]+$/u.test(prompt ?? '') && { isBareWord: true }),
    isOneShot: values.prompt !== undefined || values.print === true || values.yes === true,
    ...defined({ model: values.model }),
    outputFormat: values['output-format'] ?? 'text',
    ...defined({ approvalMode: mode, resume }),
    ...(values['take-over'] && { takeOver: true }),
    ...defined({ fork: values.fork }),
    ...(values['no-session'] && { noSession: true }),
    ...defined({ maxTurns, maxCost, cwd: values.cwd }),
    directories: splitListValues(values['include-directories']),
    allowedTools: splitListValues(values['allowed-tools']),
    ...defined({ systemFile }),
    ...(values['all-files'] && { allFiles: true }),
    ...defined({ sandbox: values.sandbox }),
    ...(values['sandbox-network'] && { network: true }),
    ...(values['sandbox-write-caches'] && { writeCaches: true }),
    ...defined({ record: values.record, trace: values.trace }),
    yes: values.yes ?? false,
    help: values.help ?? false,
    version: values.version ?? false,
  }
}

function parsePositiveNumber(flag: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const number = Number(value)
  if (!(number > 0 && number < Infinity)) throw new UserError(`${flag} takes a number above 0, not “${value}”`)
  return number
}

function parsePositiveInteger(flag: string, value: string | undefined): number | undefined {
  const number = parsePositiveNumber(flag, value)
  if (number === undefined || Number.isSafeInteger(number)) return number
  throw new UserError(`${flag} takes a whole number, not “${value}”`)
}

function splitListValues(values: readonly string[] | undefined): string[] {
  return (values ?? []).flatMap((value) => splitAtCommas(value)).filter((value) => value !== '')
}

/** Commas inside brackets belong to the rule: `run_shell_command(git log, x)`. */
function splitAtCommas(value: string): string[] {
  return (value.match(/(?:[^,(]|\([^)]*\))+/g) ?? []).map((one) => one.trim())
}
