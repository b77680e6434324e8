import { nearMisses } from '../schema/near.ts'
import { Complaint, EXIT } from './exit.ts'

/** The commands; each is loaded when it is called for. */
const COMMANDS: Readonly<Record<string, (args: string[]) => Promise<number | void>>> = {
  config: async (args) => (await import('./command/config.ts')).configCommand(args),
  trust: async (args) => (await import('./command/trust.ts')).trustCommand(args),
  wire: async (args) => (await import('./command/wire.ts')).wireCommand(args),
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
    if (!(error instanceof Complaint)) throw error
    process.stderr.write(`dragoman: ${error.message.replace(/\s+/g, ' ')}\n`)
    return error.code
  }
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

process.exitCode = await main(process.argv.slice(2))
