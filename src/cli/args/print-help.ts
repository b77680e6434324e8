import { EXIT_CODE } from '../user-error.ts'

export async function printHelp(command?: string, subcommand?: string): Promise<number> {
  process.stdout.write((await import('./help.ts')).formatHelp(command, subcommand))
  return EXIT_CODE.ok
}
