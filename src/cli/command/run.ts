import { isatty } from 'node:tty'
import { readArgs, type RunArgs } from '../line/args.ts'
import { EXIT } from '../exit.ts'
import { showHelp } from '../line/show-help.ts'

/** `dragoman [options] [prompt]`: works on a prompt; with nothing to do and no model, takes the tour. */
export async function runCommand(argv: readonly string[], keepCompiled: () => void): Promise<number> {
  const args = readArgs(argv)
  if (args.help) return showHelp()
  if (args.version) {
    process.stdout.write(`${(await import('../version.ts')).version}\n`)
    return EXIT.ok
  }
  if (!isForPerson(args) && (argv.length === 0 || (argv.length === 1 && args.yes))) return nothingAsked(args.yes)
  // A run has needed what the next run will need.
  process.once('exit', keepCompiled)
  return isForPerson(args)
    ? (await import('../tui/app.ts')).interactive(args)
    : (await import('../headless.ts')).headless(args)
}

/** A terminal on both sides, and no wish for one answer: a conversation. */
function isForPerson(args: RunArgs): boolean {
  // `process.stdin` is not touched: that would make a later read of a pipe give up where it should wait.
  return isatty(0) && isatty(1) && !args.once && args.format === 'text'
}

/** Without a prompt: the tour if there is no model to talk to. */
async function nothingAsked(yes: boolean): Promise<number> {
  const { configuredModel } = await import('../setup/model.ts')
  const model = await configuredModel()
  if (model === undefined) return (await import('./tour.ts')).tourCommand(yes ? ['--yes'] : [])
  await showHelp()
  process.stdout.write(`\nThe model is ${model}. Try: dragoman -p "what is in this folder?"\n`)
  return EXIT.ok
}
