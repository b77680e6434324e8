import { EXIT } from '../exit.ts'

/** Prints the help of a command, or of all; its text is loaded only for that. */
export async function showHelp(command?: string, verb?: string): Promise<number> {
  process.stdout.write((await import('./help.ts')).helpFor(command, verb))
  return EXIT.ok
}
