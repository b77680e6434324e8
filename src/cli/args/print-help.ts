import { EXIT_CODE } from '../user-error.ts'

/** Prints the help of a command, or of all; its text is loaded only for that. */
export async function printHelp(command?: string, verb?: string): Promise<number> {
  process.stdout.write((await import('./help.ts')).formatHelp(command, verb))
  return EXIT_CODE.ok
}
