import { nearMisses } from '../schema/near.ts'
import { Complaint, EXIT } from './exit.ts'

/** The commands; each is loaded when it is called for. */
const COMMANDS: Readonly<Record<string, (args: string[]) => Promise<number | void>>> = {
  config: async (args) => (await import('./command/config.ts')).configCommand(args),
  trust: async (args) => (await import('./command/trust.ts')).trustCommand(args),
  doctor: async (args) => (await import('./command/doctor.ts')).doctorCommand(args),
  undo: async (args) => (await import('./command/undo.ts')).undoCommand(args),
  login: async (args) => (await import('./command/login.ts')).loginCommand(args),
  logout: async (args) => (await import('./command/login.ts')).logoutCommand(args),
  replay: async (args) => (await import('./command/replay.ts')).replayCommand(args),
  bug: async (args) => (await import('./command/bug.ts')).bugCommand(args),
  policy: async (args) => (await import('./command/policy.ts')).policyCommand(args),
  wire: async (args) => (await import('./command/wire.ts')).wireCommand(args),
  models: async (args) => (await import('./command/models.ts')).modelsCommand(args),
  sessions: async (args) => (await import('./command/sessions.ts')).sessionsCommand(args),
  tour: async (args) => (await import('./command/tour.ts')).tourCommand(args),
  rehearse: async (args) => (await import('./command/rehearse.ts')).rehearseCommand(args),
}

/** Runs the command line, and gives the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  const [name = '', ...rest] = argv
  try {
    if (Object.hasOwn(COMMANDS, name)) return (await COMMANDS[name]?.(rest)) ?? EXIT.ok
    refuseMistyped(name, rest)
    return await (await import('./command/run.ts')).runCommand(argv)
  } catch (error) {
    if (!(error instanceof Complaint)) return await crashed(error)
    process.stderr.write(`dragoman: ${error.message.replace(/\s+/g, ' ')}\n`)
    return error.code
  }
}

/** A fault of ours: one line for the person, a trace for us. */
async function crashed(error: unknown): Promise<number> {
  const { lastWords } = await import('./last-words.ts')
  process.stderr.write(lastWords(error))
  return EXIT.failure
}

let isEnding = false

/** Ends after a fault that nobody caught. If even the last words fail, the end comes without them: never a second try. */
async function endWith(error: unknown): Promise<void> {
  if (isEnding) process.exit(EXIT.failure)
  isEnding = true
  process.exit(await crashed(error).catch(() => EXIT.failure))
}

/** One word that is nearly a command is not a prompt; with -p it is. */
function refuseMistyped(name: string, rest: readonly string[]): void {
  if (!/^[a-z]+$/i.test(name) || rest.some((word) => !word.startsWith('-'))) return
  const meant = nearMisses([name], Object.keys(COMMANDS)).get(name)
  if (meant === undefined) return
  throw new Complaint(`there is no command ${name}; did you mean ${meant}? As a prompt: dragoman -p ${name}`)
}

// Whoever reads us may have seen enough: `dragoman … | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.ok)
  throw error
})

process.on('uncaughtException', (error) => {
  void endWith(error)
})

process.exitCode = await main(process.argv.slice(2))
