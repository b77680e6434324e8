import { POLICY_COMMAND } from './spec.ts'
import { findSubcommand, parseCommandLine, type OptionValues } from '../../args/parse-command-line.ts'
import { printHelp } from '../../args/print-help.ts'

export async function runPolicyCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseCommandLine('dragoman policy', POLICY_COMMAND.options, args)
  const [subcommand, ...rest] = positionals
  if (subcommand === undefined) return void (await printHelp('policy'))
  return findSubcommand('dragoman policy', POLICY_SUBCOMMANDS, subcommand)(rest, values)
}

const POLICY_SUBCOMMANDS: Readonly<
  Record<keyof typeof POLICY_COMMAND.subcommands, (rest: string[], values: PolicyCommandOptions) => Promise<void>>
> = {
  check: async ([file], values) => (await import('./check.ts')).runPolicyCheck(file, values),
  explain: async (rest, values) => (await import('./explain.ts')).runPolicyExplain(rest.join(' '), values),
}

export type PolicyCommandOptions = OptionValues<typeof POLICY_COMMAND.options>
