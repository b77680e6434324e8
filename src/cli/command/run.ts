import { resolve } from 'node:path'
import { isatty } from 'node:tty'
import { parseArgs } from 'node:util'
import { COMMAND_WORDS } from '../commands.ts'
import { UserError, EXIT_CODE } from '../user-error.ts'
import { parseRunArgs, type RunArgs } from '../args/run-args.ts'
import { listNearestNames } from '../args/nearest-name.ts'
import { RUN_OPTIONS } from '../args/options.ts'
import { printHelp } from '../args/print-help.ts'
import { NPM_START_COMMAND, getInvocationName } from '../args/invocation-name.ts'
import { realPathOrSelf } from '../paths/folders.ts'
import { readStdin } from '../stdin.ts'

/** `dragoman [options] [prompt]`: works on a prompt; without a prompt and a model, runs the tour. */
export async function runPromptCommand(argv: readonly string[], saveCompileCache: () => void): Promise<number> {
  try {
    return await dispatchRun(argv, saveCompileCache)
  } catch (error) {
    if (error instanceof UserError) await reportErrorAsJson(error, argv)
    throw error
  }
}

async function dispatchRun(argv: readonly string[], saveCompileCache: () => void): Promise<number> {
  const args = await parseArguments(argv)
  if (args.help) return printHelp()
  if (args.version) {
    process.stdout.write(`${(await import('../version.ts')).version}\n`)
    return EXIT_CODE.ok
  }
  // The next run will need the same compiled code.
  if (isInteractive(args)) {
    await rejectBareWord(args, '')
    process.once('exit', saveCompileCache)
    return (await import('../tui/app.ts')).runInteractive(args)
  }
  const isBare = argv.length === 0 || (argv.length === 1 && args.yes)
  // `npm start` alone is the tour, whatever its standard input is: it may be a pipe that nobody ever closes.
  const stdinText = isBare && getInvocationName() === NPM_START_COMMAND ? '' : await readStdin()
  if (isBare && stdinText === '') return runWithoutPrompt(args.yes)
  await rejectBareWord(args, stdinText)
  process.once('exit', saveCompileCache)
  return (await import('../headless.ts')).runHeadless(args, stdinText)
}

async function parseArguments(argv: readonly string[]): Promise<RunArgs> {
  let args
  try {
    args = parseRunArgs(argv)
  } catch (error) {
    throw (await import('../args/other-agents.ts')).explainOption(error)
  }
  if (args.allowedTools.length === 0 && args.disallowedTools === undefined) return args
  const { translateToolRules } = await import('../setup/allowed-tools.ts')
  return translateToolRules(args, realPathOrSelf(resolve(args.cwd ?? '.')))
}

/**
 * One bare word is more likely a mistyped command, or one of another program, than a prompt: it is not sent to a model that
 * costs money. With standard input it may be a prompt, unless it is nearly a command.
 */
async function rejectBareWord({ prompt = '', isBareWord, resume, fork }: RunArgs, stdinText: string): Promise<void> {
  if (!isBareWord || resume !== undefined || fork !== undefined) return
  const suggestions = listNearestNames(prompt, COMMAND_WORDS)
  if (stdinText !== '' && suggestions.length === 0) return
  const other = (await import('../args/other-agents.ts')).describeOtherCommand(prompt)
  const near = suggestions.length === 0 ? 'see dragoman --help.' : `did you mean ${suggestions.join(' or ')}?`
  const hint = other === undefined ? near : `${other}.`
  throw new UserError(`unknown command ${prompt}; ${hint} To send it as a prompt: dragoman -p ${prompt}`)
}

function isInteractive(args: RunArgs): boolean {
  // `process.stdin` is not touched: that would make a later read of a pipe fail instead of waiting.
  return isatty(0) && isatty(1) && !args.isOneShot && args.outputFormat === 'text'
}

async function runWithoutPrompt(yes: boolean): Promise<number> {
  const { detectModel } = await import('../setup/choose-model.ts')
  const model = await detectModel()
  if (model === undefined) return (await import('./tour/tour.ts')).runTourCommand(yes ? ['--yes'] : [])
  await printHelp()
  process.stdout.write(`\nThe model is ${model}. Try: dragoman -p "what is in this folder?"\n`)
  return EXIT_CODE.ok
}

/** Programs that read JSON get the error as JSON. The format is parsed leniently: the rest of the line may be wrong. */
async function reportErrorAsJson({ exitCode, message }: UserError, argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    strict: false,
    options: { 'output-format': { type: 'string', short: 'o' } },
  })
  const format = RUN_OPTIONS['output-format'].from.find((one) => one === values['output-format'])
  if (format === undefined || format === 'text') return
  const { createRunOutput } = await import('../output/create-output.ts')
  createRunOutput(format).onError({ type: ERROR_TYPES[exitCode] ?? 'failure', message })
}

const ERROR_TYPES: Readonly<Record<number, string>> = {
  [EXIT_CODE.signIn]: 'auth',
  [EXIT_CODE.input]: 'input',
  [EXIT_CODE.config]: 'config',
}
