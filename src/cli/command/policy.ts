import { Complaint } from '../exit.ts'
import { POLICY } from '../manual/policy.ts'
import { parseLine, type Values } from '../line/parse.ts'
import { showHelp } from '../line/show-help.ts'

/** `dragoman policy`: tries rules out, and says what they mean. */
export async function policyCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseLine('dragoman policy', POLICY.options, args)
  const [verb, ...rest] = positionals
  if (verb === undefined) return void (await showHelp('policy'))
  if (verb === 'check') return (await import('./policy-check.ts')).checkCommand(rest[0], values)
  if (verb === 'explain') return (await import('./policy-explain.ts')).explainCommand(rest.join(' '), values)
  throw new Complaint(`dragoman policy knows check and explain, not “${verb}”`)
}

/** The options of both verbs. */
export type PolicyOptions = Values<typeof POLICY.options>
