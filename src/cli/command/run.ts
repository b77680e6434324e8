import { isatty } from 'node:tty'
import { parseArgs } from 'node:util'
import { COMMANDS } from '../commands.ts'
import { Complaint, EXIT } from '../exit.ts'
import { readArgs, type RunArgs } from '../line/args.ts'
import { nearestNames } from '../line/nearest-name.ts'
import { RUN_OPTIONS } from '../line/options.ts'
import { showHelp } from '../line/show-help.ts'
import { NPM_START, ownName } from '../own/name.ts'
import { readPiped } from '../piped.ts'

/** `dragoman [options] [prompt]`: works on a prompt; with nothing to do and no model, takes the tour. */
export async function runCommand(argv: readonly string[], keepCompiled: () => void): Promise<number> {
  try {
    return await runLine(argv, keepCompiled)
  } catch (error) {
    if (error instanceof Complaint) await tellProgram(error, argv)
    throw error
  }
}

async function runLine(argv: readonly string[], keepCompiled: () => void): Promise<number> {
  const args = readArgs(argv)
  if (args.help) return showHelp()
  if (args.version) {
    process.stdout.write(`${(await import('../version.ts')).version}\n`)
    return EXIT.ok
  }
  // A run has needed what the next run will need.
  if (isForPerson(args)) {
    refuseBareWord(args, '')
    process.once('exit', keepCompiled)
    return (await import('../tui/app.ts')).interactive(args)
  }
  const isBare = argv.length === 0 || (argv.length === 1 && args.yes)
  // `npm start` alone is the tour, whatever its standard input is: it may well be a pipe that nobody ever closes.
  const piped = isBare && ownName() === NPM_START ? '' : await readPiped()
  if (isBare && piped === '') return nothingAsked(args.yes)
  refuseBareWord(args, piped)
  process.once('exit', keepCompiled)
  return (await import('../headless.ts')).headless(args, piped)
}

/**
 * One bare word is more likely a command that was mistyped, or is of another program, than a prompt: it is not sent to a
 * model that costs something. With something piped in it may be a prompt, unless it is nearly a command.
 */
function refuseBareWord({ prompt = '', bareWord, resume, fork }: RunArgs, piped: string): void {
  if (!bareWord || resume !== undefined || fork !== undefined) return
  const commands = Object.keys(COMMANDS).filter((name) => !COMMANDS[name]?.hidden)
  const near = nearestNames(prompt, [...commands, 'help', 'version'])
  if (piped !== '' && near.length === 0) return
  const next = near.length === 0 ? 'dragoman --help shows what there is' : `did you mean ${near.join(' or ')}?`
  throw new Complaint(
    `there is no command ${prompt}; ${next}${near.length === 0 ? '.' : ''} As a prompt: dragoman -p ${prompt}`,
  )
}

/** A terminal on both sides, and no wish for one answer: a conversation. */
function isForPerson(args: RunArgs): boolean {
  // `process.stdin` is not touched: that would make a later read of a pipe give up where it should wait.
  return isatty(0) && isatty(1) && !args.once && args.format === 'text'
}

/** Without a prompt: the tour if there is no model to talk to. */
async function nothingAsked(yes: boolean): Promise<number> {
  const { configuredModel } = await import('../setup/model.ts')
  const model = await configuredModel()
  if (model === undefined) return (await import('./tour.ts')).tourCommand(yes ? ['--yes'] : [])
  await showHelp()
  process.stdout.write(`\nThe model is ${model}. Try: dragoman -p "what is in this folder?"\n`)
  return EXIT.ok
}

/** Whoever reads JSON is told in JSON why nothing ran. The form is looked for leniently: the rest of the line may be wrong. */
async function tellProgram({ code, message }: Complaint, argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    strict: false,
    options: { 'output-format': { type: 'string', short: 'o' } },
  })
  const format = RUN_OPTIONS['output-format'].from.find((one) => one === values['output-format'])
  if (format === undefined || format === 'text') return
  const { outputFor } = await import('../output/standard.ts')
  outputFor(format).refuse({ type: TYPES[code] ?? 'failure', message })
}

const TYPES: Readonly<Record<number, string>> = {
  [EXIT.signIn]: 'auth',
  [EXIT.input]: 'input',
  [EXIT.config]: 'config',
}
