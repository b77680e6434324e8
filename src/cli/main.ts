import { Complaint, EXIT } from './exit.ts'

/** A command, loaded when it is called for. */
interface Command {
  readonly about: string
  readonly run: (args: string[]) => Promise<void>
}

const COMMANDS: Readonly<Record<string, Command>> = {
  wire: {
    about: 'read and write what goes over the wire, to debug a provider',
    run: async (args) => (await import('./command/wire.ts')).wireCommand(args),
  },
}

/** Runs the command line. */
export async function main(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv
  try {
    if (name === undefined || name === '--help' || name === '-h' || name === 'help') print(help())
    else if (name === '--version' || name === '-v') print((await import('./version.ts')).version)
    else if (Object.hasOwn(COMMANDS, name)) await COMMANDS[name]?.run(rest)
    else throw new Complaint(`there is no command “${name}”; dragoman --help lists them`)
    return EXIT.ok
  } catch (error) {
    if (!(error instanceof Complaint)) throw error
    process.stderr.write(`dragoman: ${error.message.replace(/\s+/g, ' ')}\n`)
    return error.code
  }
}

function help(): string {
  const commands = Object.entries(COMMANDS).map(([name, { about }]) => `  ${name.padEnd(10)}${about}`)
  return [
    'Usage: dragoman <command> [options]',
    '',
    'Commands:',
    ...commands,
    '',
    'dragoman <command> --help says more.',
  ].join('\n')
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

process.exitCode = await main(process.argv.slice(2))
