import { CLI_COMMANDS } from './commands.ts'
import { UserError, EXIT_CODE } from './user-error.ts'
import { nearestName } from './args/nearest-name.ts'
import { printHelp } from './args/print-help.ts'
import { truncateLines } from './output/truncate-lines.ts'
import { dropInvalidHome } from './paths/folders.ts'
import { isOutputLostError, notifyOutputLost } from './stop-signals.ts'

/** The words that mean something alone. */
const WORDS: readonly string[] = [
  ...Object.keys(CLI_COMMANDS).filter((name) => !CLI_COMMANDS[name]?.hidden),
  'help',
  'version',
]

/** Runs the command line, and gives the exit code. */
async function main(argv: readonly string[], saveCompileCache: () => void): Promise<number> {
  const [name = '', ...rest] = argv
  dropInvalidHome()
  try {
    if (Object.hasOwn(CLI_COMMANDS, name))
      return isHelpRequested(rest)
        ? await printHelp(name, rest[0])
        : ((await CLI_COMMANDS[name]?.run(rest)) ?? EXIT_CODE.ok)
    // `help` is a word that a prompt may well begin with; alone, or before a command, it is none.
    if (name === 'help' && (rest.length === 0 || Object.hasOwn(CLI_COMMANDS, rest[0] ?? '')))
      return await printHelp(...rest)
    await rejectMistypedCommand(name, rest)
    const line = name === 'version' && rest.length === 0 ? ['--version'] : name === 'exec' ? ['--print', ...rest] : argv
    return await (await import('./command/run.ts')).runPromptCommand(line, saveCompileCache)
  } catch (error) {
    if (isWorkingFolderMissing(error)) {
      process.stderr.write('dragoman: the folder that you are in does not exist any more; change to another one\n')
      return EXIT_CODE.input
    }
    if (!(error instanceof UserError)) return await handleCrash(error)
    process.stderr.write(truncateLines(`dragoman: ${error.message.replace(/\s+/g, ' ')}\n`))
    return error.exitCode
  }
}

/** Somebody removed the working folder: the system does not even say its name any more. */
function isWorkingFolderMissing(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd'
}

/** A fault of ours: one line for the person, a trace for us. */
async function handleCrash(error: unknown): Promise<number> {
  const { reportCrash } = await import('./crash-report.ts')
  process.stderr.write(truncateLines(reportCrash(error)))
  return EXIT_CODE.failure
}

let isExiting = false

/** Ends after a fault that nobody caught. If even the last words fail, the end comes without them: never a second try. */
async function exitAfterCrash(error: unknown): Promise<void> {
  if (isExiting) process.exit(EXIT_CODE.failure)
  isExiting = true
  try {
    process.exit(await handleCrash(error))
  } catch {
    process.stderr.write(`dragoman: this should not have happened: ${String(error).split('\n')[0]}\n`)
    process.exit(EXIT_CODE.failure)
  }
}

/** Every command has a help, asked for anywhere among its words. */
function isHelpRequested(words: readonly string[]): boolean {
  const end = words.indexOf('--')
  return words.slice(0, end < 0 ? words.length : end).some((word) => word === '--help' || word === '-h')
}

/** Words that are nearly a command are not a prompt; with -p they are. */
async function rejectMistypedCommand(name: string, rest: readonly string[]): Promise<void> {
  if (!/^[a-z]+$/i.test(name) || name === 'version') return
  const [next, ...more] = rest.filter((word) => !word.startsWith('-'))
  const suggestedCommand =
    next === undefined ? nearestName(name, WORDS) : await commandMeant(name, next, more.length === 0)
  if (suggestedCommand === undefined) return
  const prompt = next === undefined ? name : `"${name} ${next} …"`
  throw new UserError(
    `there is no command ${name}; did you mean ${suggestedCommand}? As a prompt: dragoman -p ${prompt}`,
  )
}

/** The command that two words were meant for; nothing if they may well be the beginning of a prompt. */
async function commandMeant(word: string, next: string, isAll: boolean): Promise<string | undefined> {
  const { COMMAND_SPECS } = await import('./command/specs.ts')
  const suggestion = nearestName(word, [...Object.keys(COMMAND_SPECS), 'help'])
  if (suggestion === 'help') {
    const command = isAll ? nearestName(next, Object.keys(COMMAND_SPECS)) : undefined
    return command && `help ${command}`
  }
  // The other way round: `list sessions`.
  if (isAll && Object.hasOwn(COMMAND_SPECS, next)) {
    const isVerb = Object.hasOwn(COMMAND_SPECS[next]?.subcommands ?? {}, word)
    if (isVerb || word === 'list' || word === 'show') return isVerb ? `${next} ${word}` : next
  }
  if (suggestion === undefined) return undefined
  const { findCandidates } = await import('./command/completion/candidates.ts')
  const { subcommands = {}, positional, options = {} } = COMMAND_SPECS[suggestion] ?? {}
  const names = [
    ...Object.keys(subcommands),
    ...(await findCandidates(positional, next, '.')).map(({ value }) => value),
  ]
  if (names.includes(next)) return `${suggestion} ${next}`
  if (isAll && Object.hasOwn(options, next)) return `${suggestion} --${next}`
  const near = isAll ? nearestName(next, names) : undefined
  if (near !== undefined) return `${suggestion} ${near}`
  return Object.values(COMMAND_SPECS).some((page) => Object.hasOwn(page.subcommands ?? {}, next))
    ? suggestion
    : undefined
}

/** Starts the command. `keepCompiled` keeps the code that was compiled until then, for the next start. */
export async function startCli(argv: readonly string[], saveCompileCache: () => void): Promise<void> {
  // Whoever reads us may have seen enough: `dragoman … | head`. A run is stopped then, and says how it ended.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (!isOutputLostError(error)) throw error
    if (!notifyOutputLost()) process.exit(EXIT_CODE.ok)
  })
  process.stderr.on('error', (error: NodeJS.ErrnoException) => {
    if (!isOutputLostError(error)) throw error
  })
  process.on('uncaughtException', (error) => {
    void exitAfterCrash(error)
  })
  // If nothing is left that could go on, whoever is waited for will never come: that is no success.
  const onDeadlock = (): void => {
    process.stderr.write('dragoman: this should not have happened: it waited for something that can no longer come.\n')
    process.exit(EXIT_CODE.failure)
  }
  process.once('beforeExit', onDeadlock)
  process.exitCode = await main(argv, saveCompileCache)
  process.off('beforeExit', onDeadlock)
}
