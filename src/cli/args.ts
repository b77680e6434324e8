import { parseArgs } from 'node:util'
import type { SandboxMode } from '../host/sandbox/sandbox.ts'
import type { ApprovalMode } from '../policy/policy.ts'
import { Complaint } from './exit.ts'

/** What a person asked for on the command line. */
export interface RunArgs {
  readonly prompt?: string
  /** One answer is wanted, not a conversation. */
  readonly once: boolean
  readonly model?: string
  readonly format: OutputFormat
  readonly mode?: ApprovalMode
  /** The session to go on with: its id, or `latest`. */
  readonly resume?: string
  /** The session to branch off from: its id, or `latest`. */
  readonly fork?: string
  readonly maxTurns?: number
  readonly maxCost?: number
  readonly cwd?: string
  readonly directories: readonly string[]
  readonly allowedTools: readonly string[]
  readonly systemFile?: string
  readonly sandbox?: SandboxMode
  /** Commands in the sandbox may reach the network. */
  readonly network?: true
  /** A folder for a recording of every exchange. */
  readonly record?: string
  /** A file for the times of every exchange. */
  readonly trace?: string
  readonly yes: boolean
  readonly help: boolean
  readonly version: boolean
}

/** The forms in which a run can be printed. */
export type OutputFormat = (typeof FORMATS)[number]

const FORMATS = ['text', 'json', 'stream-json'] as const
const SANDBOXES = ['auto', 'on', 'off'] as const
const MODES = ['default', 'auto_edit', 'yolo', 'plan'] as const

/** Reads the command line of a run. Throws a sentence about what it does not understand. */
export function readArgs(argv: readonly string[]): RunArgs {
  const { values, positionals } = parse(withDefaults(argv))
  if (values.prompt !== undefined && positionals.length > 0) {
    throw new Complaint('give the prompt either with -p or as words, not both')
  }
  const prompt = values.prompt ?? (positionals.length > 0 ? positionals.join(' ') : undefined)
  if (values.yolo && values['approval-mode'] !== undefined && values['approval-mode'] !== 'yolo') {
    throw new Complaint('--yolo and --approval-mode contradict each other; give one of them')
  }
  if (values.resume !== undefined && values.fork !== undefined) throw new Complaint('give --resume or --fork, not both')
  const maxTurns = wholeOf('--max-turns', values['max-turns'])
  const maxCost = numberOf('--max-cost', values['max-cost'])
  const systemFile = values['system-file']
  const mode = values.yolo ? 'yolo' : values['approval-mode']
  return {
    ...(prompt !== undefined && { prompt }),
    once: values.prompt !== undefined || values.yes === true,
    ...(values.model !== undefined && { model: values.model }),
    format: oneOf('--output-format', values['output-format'] ?? 'text', FORMATS),
    ...(mode !== undefined && { mode: oneOf('--approval-mode', mode, MODES) }),
    ...(values.resume !== undefined && { resume: values.resume }),
    ...(values.fork !== undefined && { fork: values.fork }),
    ...(maxTurns !== undefined && { maxTurns }),
    ...(maxCost !== undefined && { maxCost }),
    ...(values.cwd !== undefined && { cwd: values.cwd }),
    directories: listOf(values['include-directories']),
    allowedTools: listOf(values['allowed-tools']),
    ...(systemFile !== undefined && { systemFile }),
    ...(values.sandbox !== undefined && { sandbox: oneOf('--sandbox', values.sandbox, SANDBOXES) }),
    ...(values['sandbox-network'] && { network: true }),
    ...(values.record !== undefined && { record: values.record }),
    ...(values.trace !== undefined && { trace: values.trace }),
    yes: values.yes ?? false,
    help: values.help ?? false,
    version: values.version ?? false,
  }
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        prompt: { type: 'string', short: 'p' },
        model: { type: 'string', short: 'm' },
        'output-format': { type: 'string', short: 'o' },
        'approval-mode': { type: 'string' },
        yolo: { type: 'boolean', short: 'y' },
        resume: { type: 'string', short: 'r' },
        fork: { type: 'string' },
        'max-turns': { type: 'string' },
        'max-cost': { type: 'string' },
        cwd: { type: 'string' },
        'include-directories': { type: 'string', multiple: true },
        'allowed-tools': { type: 'string', multiple: true },
        'system-file': { type: 'string' },
        sandbox: { type: 'string' },
        'sandbox-network': { type: 'boolean' },
        record: { type: 'string' },
        trace: { type: 'string' },
        yes: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'v' },
      },
    })
  } catch (error) {
    throw new Complaint(error instanceof Error ? error.message : String(error))
  }
}

/** `--resume` and `--fork` may stand alone: then they mean the latest session. */
function withDefaults(argv: readonly string[]): string[] {
  return argv.flatMap((arg, at) => {
    const next = argv[at + 1]
    const alone = next === undefined || next.startsWith('-')
    return (arg === '--resume' || arg === '-r' || arg === '--fork') && alone ? [arg, 'latest'] : [arg]
  })
}

function oneOf<T extends string>(flag: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === value)
  if (found === undefined) throw new Complaint(`${flag} is one of ${allowed.join(', ')}, not “${value}”`)
  return found
}

function numberOf(flag: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const number = Number(value)
  if (!(number > 0 && number < Infinity)) throw new Complaint(`${flag} takes a number above 0, not “${value}”`)
  return number
}

function wholeOf(flag: string, value: string | undefined): number | undefined {
  const number = numberOf(flag, value)
  if (number === undefined || Number.isSafeInteger(number)) return number
  throw new Complaint(`${flag} takes a whole number, not “${value}”`)
}

function listOf(values: readonly string[] | undefined): string[] {
  return (values ?? []).flatMap((value) => splitOutside(value)).filter((value) => value !== '')
}

/** Commas inside brackets belong to the rule: `run_shell_command(git log, x)`. */
function splitOutside(value: string): string[] {
  return (value.match(/(?:[^,(]|\([^)]*\))+/g) ?? []).map((one) => one.trim())
}
