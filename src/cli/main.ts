import { COMMAND_LOADERS, COMMAND_WORDS, isCommandName } from './commands.ts'
import { UserError, EXIT_CODE } from './user-error.ts'
import { findNearestName } from './args/nearest-name.ts'
import { printHelp } from './args/print-help.ts'
import { truncateLines } from './output/truncate-lines.ts'
import { removeInvalidHomeVariable } from './paths/folders.ts'
import { isOutputLostError, stopForLostOutput } from './stop-signals.ts'

async function main(argv: readonly string[], saveCompileCache: () => void): Promise<number> {
  const [name = '', ...rest] = argv
  removeInvalidHomeVariable()
  try {
    // An editor starts it again and again, like a prompt.
    if (name === 'acp') process.once('exit', saveCompileCache)
    if (isCommandName(name))
      return isHelpRequested(rest)
        ? await printHelp(name, rest[0])
        : ((await COMMAND_LOADERS[name](rest)) ?? EXIT_CODE.ok)
    // For the scripts of `dragoman completion`.
    if (name === '__complete') {
      await (await import('./command/completion/complete.ts')).runCompleteCommand(rest)
      return EXIT_CODE.ok
    }
    // A prompt may begin with `help`; alone, or before a command, it is not one.
    if (name === 'help' && (rest.length === 0 || isCommandName(rest[0] ?? ''))) return await printHelp(...rest)
    await rejectMistypedCommand(name, rest)
    const line =
      name === 'version' && rest.length === 0
        ? ['--version']
        : name === 'exec' || name === 'e'
          ? ['--print', ...rest]
          : argv
    return await (await import('./command/run.ts')).runPromptCommand(line, saveCompileCache)
  } catch (error) {
    if (isWorkingFolderMissing(error)) {
      process.stderr.write('dragoman: the current folder no longer exists; change to another folder\n')
      return EXIT_CODE.input
    }
    if (!(error instanceof UserError)) return await handleCrash(error)
    process.stderr.write(truncateLines(`dragoman: ${error.message.replace(/\s+/g, ' ')}\n`))
    return error.exitCode
  }
}

function isWorkingFolderMissing(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd'
}

/** A bug in Dragoman: one line for the user, the stack trace in a file. */
async function handleCrash(error: unknown): Promise<number> {
  const { reportCrash } = await import('./crash-report.ts')
  process.stderr.write(truncateLines(reportCrash(error)))
  return EXIT_CODE.failure
}

let isExiting = false

/** Ends after an exception that nobody caught. If the report itself fails, there is no second attempt. */
async function exitAfterCrash(error: unknown): Promise<void> {
  if (isExiting) process.exit(EXIT_CODE.failure)
  isExiting = true
  try {
    process.exit(await handleCrash(error))
  } catch {
    process.stderr.write(`dragoman: internal error: ${String(error).split('\n')[0]}\n`)
    process.exit(EXIT_CODE.failure)
  }
}

function isHelpRequested(words: readonly string[]): boolean {
  const end = words.indexOf('--')
  return words.slice(0, end < 0 ? words.length : end).some((word) => word === '--help' || word === '-h')
}

/** Words that are nearly a command are not a prompt; with -p they are. */
async function rejectMistypedCommand(name: string, rest: readonly string[]): Promise<void> {
  if (!/^[a-z]+$/i.test(name) || name === 'version') return
  const [next, ...more] = rest.filter((word) => !word.startsWith('-'))
  if (next !== undefined && more.length === 0) {
    const other = (await import('./args/other-agents.ts')).describeOtherCommand(name, next)
    if (other !== undefined)
      throw new UserError(`unknown command ${name}; ${other}. To send it as a prompt: dragoman -p "${name} ${next} …"`)
  }
  const suggestion =
    next === undefined ? findNearestName(name, COMMAND_WORDS) : await suggestCommand(name, next, more.length === 0)
  if (suggestion === undefined) return
  const prompt = next === undefined ? name : `"${name} ${next} …"`
  throw new UserError(
    `unknown command ${name}; did you mean ${suggestion}? To send it as a prompt: dragoman -p ${prompt}`,
  )
}

/** The command that two words were probably meant for; undefined if they may be the beginning of a prompt. */
async function suggestCommand(word: string, next: string, isAll: boolean): Promise<string | undefined> {
  const { COMMAND_SPECS } = await import('./command/specs.ts')
  const commands = Object.keys(COMMAND_SPECS)
  const suggestion = findNearestName(word, [...commands, 'help'])
  if (suggestion === 'help') {
    const command = isAll ? findNearestName(next, commands) : undefined
    return command && `help ${command}`
  }
  // The other way round: `list sessions`.
  if (isAll && isCommandName(next)) {
    const isSubcommand = Object.hasOwn(COMMAND_SPECS[next].subcommands ?? {}, word)
    if (isSubcommand || word === 'list' || word === 'show') return isSubcommand ? `${next} ${word}` : next
  }
  if (suggestion === undefined || !isCommandName(suggestion)) return undefined
  const { findCandidates } = await import('./command/completion/candidates.ts')
  const { subcommands = {}, positional, options } = COMMAND_SPECS[suggestion]
  const names = [
    ...Object.keys(subcommands),
    ...(await findCandidates(positional, next, '.')).map(({ value }) => value),
  ]
  if (names.includes(next)) return `${suggestion} ${next}`
  if (isAll && Object.hasOwn(options, next)) return `${suggestion} --${next}`
  const near = isAll ? findNearestName(next, names) : undefined
  if (near !== undefined) return `${suggestion} ${near}`
  return Object.values(COMMAND_SPECS).some((spec) => Object.hasOwn(spec.subcommands ?? {}, next))
    ? suggestion
    : undefined
}

/** Starts the command. `saveCompileCache` stores the code that was compiled until then, for the next start. */
export async function startCli(argv: readonly string[], saveCompileCache: () => void): Promise<void> {
  // The reader may have closed the pipe: `dragoman … | head`. A run is stopped then, and reports how it ended.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (!isOutputLostError(error)) throw error
    if (!stopForLostOutput()) process.exit(EXIT_CODE.ok)
  })
  process.stderr.on('error', (error: NodeJS.ErrnoException) => {
    if (!isOutputLostError(error)) throw error
  })
  process.on('uncaughtException', (error) => {
    void exitAfterCrash(error)
  })
  // Node exits with 0 when a promise can never settle; that must not look like success.
  const onDeadlock = (): void => {
    process.stderr.write('dragoman: internal error: the program waits for something that can never happen.\n')
    process.exit(EXIT_CODE.failure)
  }
  process.once('beforeExit', onDeadlock)
  process.exitCode = await main(argv, saveCompileCache)
  process.off('beforeExit', onDeadlock)
}
