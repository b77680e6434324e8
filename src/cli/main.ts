import { Complaint, EXIT } from './exit.ts'

/** The commands; each is loaded when it is called for. */
const COMMANDS: Readonly<Record<string, (args: string[]) => Promise<number | void>>> = {
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
    return await (await import('./command/run.ts')).runCommand(argv)
  } catch (error) {
    if (!(error instanceof Complaint)) throw error
    process.stderr.write(`dragoman: ${error.message.replace(/\s+/g, ' ')}\n`)
    return error.code
  }
}

// Whoever reads us may have seen enough: `dragoman … | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(EXIT.ok)
  throw error
})

process.exitCode = await main(process.argv.slice(2))
