import { APPROVAL_MODES } from '../../../policy/policy.ts'
import { userConfig } from '../../config/read.ts'
import type { PolicyConfig } from '../../config/schema.ts'
import { visible } from '../../output/visible.ts'
import { tilde } from '../../own/places.ts'
import { line, type Line } from '../term/line.ts'
import type { Desk } from './slash.ts'

/** `/permissions`: the mode, the rules of the settings, and how to change them. */
export function showPermissions({ front, settings }: Desk): void {
  const { mode } = front.state.status
  const rules = Object.entries(settings.policies).flatMap(([tier, policy]) => rowsOf(tier, policy))
  front.print([
    [],
    line(`Mode ${mode}: ${APPROVAL_MODES[mode]}.`, 'strong'),
    ...(rules.length === 0 ? [line('There are no rules in your settings.')] : rules),
  ])
  front.say(
    `/mode changes the mode; rules stand under “policy” in ${tilde(userConfig())}; dragoman policy explain says what holds for a call.`,
  )
}

const TIERS: Readonly<Record<string, string>> = { admin: 'this machine', user: 'you', project: 'this project' }

function rowsOf(tier: string, policy: PolicyConfig): Line[] {
  return (['allow', 'ask', 'deny'] as const).flatMap((verdict) =>
    (policy[verdict] ?? []).map((rule): Line => [
      { text: `  ${verdict.padEnd(6)}`, tone: verdict === 'allow' ? 'good' : verdict === 'deny' ? 'bad' : 'warn' },
      { text: visible(typeof rule === 'string' ? rule : rule.rule) },
      { text: `  (${TIERS[tier] ?? tier})`, tone: 'quiet' },
    ]),
  )
}
