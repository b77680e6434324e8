import { defined } from '../model/defined.ts'
import type { Effect } from './effect.ts'
import { createCommandGrantKey, decideByRule, denyInPlanMode, type PolicyContext } from './policy-context.ts'
import { findContainingFolder } from './path/classify-path.ts'
import type { Decision, Grant } from './policy.ts'
import { coversTool, SHELL_TOOL_NAME } from './rules/rule.ts'
import { checkShellCommand, type ShellDecision } from './shell/check-shell-command.ts'

/** Checks a command: dangers that apply in every mode, then the rules, then the mode. */
export async function checkCommand(
  { command, folder }: Effect & { readonly kind: 'exec' },
  tool: string,
  context: PolicyContext,
): Promise<Decision> {
  const { mode, pathContext, ruleSet } = context
  const toolRule = ruleSet.findToolRule((rule) => coversTool(rule, tool))?.rule
  if (toolRule?.verdict === 'deny') return decideByRule(toolRule)
  const shellDecision = await checkShellCommand(command, folder, context)
  const { verdict, rule, why, programs } = shellDecision
  const inside = findContainingFolder(folder, pathContext.folders, pathContext.disk) !== undefined
  const isHarmless = shellDecision.isHarmless && inside && pathContext.disk !== undefined
  const withDetails = (decision: Decision): Decision => ({
    ...decision,
    programs,
    ...defined({ needsNetwork: shellDecision.needsNetwork, hiddenChanges: shellDecision.hiddenChanges }),
    ...(decision.verdict === 'allow' && shellDecision.gitHelpers && { gitHelpers: shellDecision.gitHelpers }),
    ...(isHarmless && { isHarmless }),
  })

  // In plan mode only commands that are proved harmless run.
  if (mode === 'plan' && verdict !== 'deny' && (verdict === 'ask' || !inside || !pathContext.disk))
    return denyInPlanMode()
  if (shellDecision.isFinal) return withDetails({ verdict, rule, why })
  if (toolRule) return withDetails(decideByRule(toolRule))
  if (mode === 'yolo') return withDetails({ verdict: 'allow', rule: 'mode yolo', why: 'Everything is allowed.' })
  if (context.approved.has(createCommandGrantKey(command, folder))) {
    const reason = 'The user allowed this very command for this session.'
    return withDetails({ verdict: 'allow', rule: 'an earlier “always”', why: reason })
  }
  if (verdict === 'allow' && inside && pathContext.disk) return withDetails({ verdict, rule, why })
  const because = verdict === 'allow' ? `It runs in ${folder}, which is outside the workspace.` : why
  const grants = listCommandGrants(command, shellDecision)
  return withDetails({ verdict: 'ask', rule: verdict === 'allow' ? `mode ${mode}` : rule, why: because, grants })
}

/** The grants that can be offered: the subcommand with any arguments, and exactly this command. */
function listCommandGrants(command: string, { always, subcommands }: ShellDecision): Grant[] {
  const subcommandGrant = subcommands && {
    breadth: 'subcommand' as const,
    rules: subcommands.map((words) => `${SHELL_TOOL_NAME}(${words} *)`),
    covers: `${subcommands.map((words) => `“${words}”`).join(' and ')} with any further arguments that start nothing else`,
  }
  const covers = always
    ? `exactly ${always.map((rule) => `“${rule.replace(/^\w+\(=/, '').slice(0, -1)}”`).join(' and ')}`
    : `exactly the command “${shortenCommand(command)}”`
  return [...(subcommandGrant ? [subcommandGrant] : []), { breadth: 'exact', rules: always ?? [], covers }]
}

function shortenCommand(command: string): string {
  const line = command.trim().replace(/\s*\n\s*/g, ' ⏎ ')
  return line.length <= MAX_SHOWN_CHARS ? line : `${line.slice(0, MAX_SHOWN_CHARS - 40)} … ${line.slice(-40)}`
}

const MAX_SHOWN_CHARS = 160
