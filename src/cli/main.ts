import { COMMANDS } from './commands.ts'
import { Complaint, EXIT } from './exit.ts'
import { nearestName } from './line/nearest-name.ts'
import { showHelp } from './line/show-help.ts'
import { bounded } from './output/bounded.ts'
import { settleHome } from './own/places.ts'
import { isLostOutput, loseOutput } from './stopping.ts'

/** The words that mean something alone. */
const WORDS: readonly string[] = [...Object.keys(COMMANDS).filter((name) => !COMMANDS[name]?.hidden), 'help', 'version']

/** Runs the command line, and gives the exit code. */
async function main(argv: readonly string[], keepCompiled: () => void): Promise<number> {
  const [name = '', ...rest] = argv
  settleHome()
  try {
    if (Object.hasOwn(COMMANDS, name))
      return isHelpAsked(rest) ? await showHelp(name, rest[0]) : ((await COMMANDS[name]?.run(rest)) ?? EXIT.ok)
    // `help` is a word that a prompt may well begin with; alone, or before a command, it is none.
    if (name === 'help' && (rest.length === 0 || Object.hasOwn(COMMANDS, rest[0] ?? ''))) return await showHelp(...rest)
    await refuseMistyped(name, rest)
    const line = name === 'version' && rest.length === 0 ? ['--version'] : name === 'exec' ? ['--print', ...rest] : argv
    return await (await import('./command/run.ts')).runCommand(line, keepCompiled)
  } catch (error) {
    if (isFolderGone(error)) {
      process.stderr.write('dragoman: the folder that you are in does not exist any more; change to another one\n')
      return EXIT.input
    }
    if (!(error instanceof Complaint)) return await crashed(error)
    process.stderr.write(bounded(`dragoman: ${error.message.replace(/\s+/g, ' ')}\n`))
    return error.code
  }
}

/** Somebody removed the working folder: the system does not even say its name any more. */
function isFolderGone(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd'
}

/** A fault of ours: one line for the person, a trace for us. */
async function crashed(error: unknown): Promise<number> {
  const { lastWords } = await import('./last-words.ts')
  process.stderr.write(bounded(lastWords(error)))
  return EXIT.failure
}

let isEnding = false

/** Ends after a fault that nobody caught. If even the last words fail, the end comes without them: never a second try. */
async function endWith(error: unknown): Promise<void> {
  if (isEnding) process.exit(EXIT.failure)
  isEnding = true
  try {
    process.exit(await crashed(error))
  } catch {
    process.stderr.write(`dragoman: this should not have happened: ${String(error).split('\n')[0]}\n`)
    process.exit(EXIT.failure)
  }
}

/** Every command has a help, asked for anywhere among its words. */
function isHelpAsked(words: readonly string[]): boolean {
  const end = words.indexOf('--')
  return words.slice(0, end < 0 ? words.length : end).some((word) => word === '--help' || word === '-h')
}

/** Words that are nearly a command are not a prompt; with -p they are. */
async function refuseMistyped(name: string, rest: readonly string[]): Promise<void> {
  if (!/^[a-z]+$/i.test(name) || name === 'version') return
  const [next, ...more] = rest.filter((word) => !word.startsWith('-'))
  const right = next === undefined ? nearestName(name, WORDS) : await commandMeant(name, next, more.length === 0)
  if (right === undefined) return
  const prompt = next === undefined ? name : `"${name} ${next} …"`
  throw new Complaint(`there is no command ${name}; did you mean ${right}? As a prompt: dragoman -p ${prompt}`)
}

/** The command that two words were meant for; nothing if they may well be the beginning of a prompt. */
async function commandMeant(word: string, next: string, isAll: boolean): Promise<string | undefined> {
  const { PAGES } = await import('./manual/pages.ts')
  const meant = nearestName(word, [...Object.keys(PAGES), 'help'])
  if (meant === 'help') {
    const command = isAll ? nearestName(next, Object.keys(PAGES)) : undefined
    return command && `help ${command}`
  }
  // The other way round: `list sessions`.
  if (isAll && Object.hasOwn(PAGES, next)) {
    const isVerb = Object.hasOwn(PAGES[next]?.verbs ?? {}, word)
    if (isVerb || word === 'list' || word === 'show') return isVerb ? `${next} ${word}` : next
  }
  if (meant === undefined) return undefined
  const { namesOf } = await import('./command/complete-names.ts')
  const { verbs = {}, words, options = {} } = PAGES[meant] ?? {}
  const names = [...Object.keys(verbs), ...(await namesOf(words, next, '.')).map(({ value }) => value)]
  if (names.includes(next)) return `${meant} ${next}`
  if (isAll && Object.hasOwn(options, next)) return `${meant} --${next}`
  const near = isAll ? nearestName(next, names) : undefined
  if (near !== undefined) return `${meant} ${near}`
  return Object.values(PAGES).some((page) => Object.hasOwn(page.verbs ?? {}, next)) ? meant : undefined
}

/** Starts the command. `keepCompiled` keeps the code that was compiled until then, for the next start. */
export async function start(argv: readonly string[], keepCompiled: () => void): Promise<void> {
  // Whoever reads us may have seen enough: `dragoman … | head`. A run is stopped then, and says how it ended.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (!isLostOutput(error)) throw error
    if (!loseOutput()) process.exit(EXIT.ok)
  })
  process.stderr.on('error', (error: NodeJS.ErrnoException) => {
    if (!isLostOutput(error)) throw error
  })
  process.on('uncaughtException', (error) => {
    void endWith(error)
  })
  // If nothing is left that could go on, whoever is waited for will never come: that is no success.
  const stuck = (): void => {
    process.stderr.write('dragoman: this should not have happened: it waited for something that can no longer come.\n')
    process.exit(EXIT.failure)
  }
  process.once('beforeExit', stuck)
  process.exitCode = await main(argv, keepCompiled)
  process.off('beforeExit', stuck)
}
