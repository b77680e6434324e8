import { UserError } from '../../user-error.ts'
import { POLICY_COMMAND } from './spec.ts'
import { parseCommandLine, type OptionValues } from '../../args/parse.ts'
import { printHelp } from '../../args/print-help.ts'

/** `dragoman policy`: tries rules out, and says what they mean. */
export async function runPolicyCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseCommandLine('dragoman policy', POLICY_COMMAND.options, args)
  const [subcommand, ...rest] = positionals
  if (subcommand === undefined) return void (await printHelp('policy'))
  if (subcommand === 'check') return (await import('./check.ts')).runPolicyCheck(rest[0], values)
  if (subcommand === 'explain') return (await import('./explain.ts')).runPolicyExplain(rest.join(' '), values)
  throw new UserError(`dragoman policy knows check and explain, not “${subcommand}”`)
}

/** The options of both verbs. */
export type PolicyCommandOptions = OptionValues<typeof POLICY_COMMAND.options>
