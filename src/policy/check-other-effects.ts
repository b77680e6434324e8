import type { Effect, McpToolIdentity } from './effect.ts'
import { decideByRule, denyInPlanMode, type PolicyContext } from './policy-context.ts'
import type { Decision, Grant } from './policy.ts'
import { coversHost, coversTool, formatToolRule, type PolicyRule } from './rules/rule.ts'

export function checkNetworkAccess(
  effect: Effect & { readonly kind: 'net' },
  tool: string,
  context: PolicyContext,
): Decision {
  const appliesTo = (rule: PolicyRule) => coversHost(rule, tool, effect.host)
  const host = `${tool}(${effect.host})`
  return checkByRules(appliesTo, context, `It reaches ${effect.host} over the network.`, [
    // If the model chose the URL, the grant covers the host; if the tool did, it covers the tool.
    effect.urls ? { breadth: 'host', rules: [host], covers: `${tool} from ${effect.host}` } : toolGrant(tool),
  ])
}

export function checkPlanApproval({ mode }: PolicyContext): Decision {
  if (mode === 'plan') return { verdict: 'ask', rule: 'mode plan', why: 'It is carried out when you approve it.' }
  return { verdict: 'deny', rule: `mode ${mode}`, why: 'Plan mode is not on, so there is no plan to approve.' }
}

export function checkUndeclaredTool(
  effect: Effect & { readonly kind: 'unknown' },
  tool: string,
  context: PolicyContext,
): Decision {
  if (context.mode === 'plan') return denyInPlanMode()
  if (effect.mcpTool) return checkMcpTool(effect.mcpTool, tool, context)
  const appliesTo = (rule: PolicyRule) => coversTool(rule, tool)
  return checkByRules(appliesTo, context, 'The tool does not declare what it does.', [toolGrant(tool)])
}

function toolGrant(tool: string): Grant {
  return { breadth: 'tool', rules: [formatToolRule(tool)], covers: `${tool}, whatever its arguments` }
}

function checkMcpTool(mcpTool: McpToolIdentity, tool: string, context: PolicyContext): Decision {
  const name = `${mcpTool.server}__${mcpTool.tool}`
  // A server chooses the names of its tools, so an allow rule must contain the name of the server.
  const appliesTo = (rule: PolicyRule) => coversTool(rule, name) || (rule.verdict !== 'allow' && coversTool(rule, tool))
  const grants = mcpToolGrants(mcpTool, name)
  const decision = checkByRules(appliesTo, context, `Only the MCP server ${mcpTool.server} says what it does.`, grants)
  if (decision.verdict === 'ask' && decision.grants && mcpTool.trusted) {
    return { verdict: 'allow', rule: `server ${mcpTool.server}`, why: `The server ${mcpTool.server} is trusted.` }
  }
  if (!mcpTool.changed || decision.verdict === 'deny') return decision
  const why = 'The tool has changed since you allowed it: check the changes.'
  return { verdict: 'ask', rule: 'changed tool', why }
}

/** A name that would be parsed as a pattern gets no grant: the rule would allow more than this tool. */
function mcpToolGrants({ server, tool }: McpToolIdentity, name: string): readonly Grant[] {
  const whole = `all tools of the server ${server}, whatever their arguments`
  return [
    ...(/^[\w.-]+$/.test(tool)
      ? [{ breadth: 'tool', rules: [name], covers: `${tool} of the server ${server}, whatever its arguments` } as const]
      : []),
    { breadth: 'server', rules: [`${server}__*`], covers: whole },
  ]
}

function checkByRules(
  appliesTo: (rule: PolicyRule) => boolean,
  { mode, ruleSet }: PolicyContext,
  why: string,
  grants: readonly Grant[],
): Decision {
  const found = ruleSet.findToolRule(appliesTo)?.rule
  if (found) return decideByRule(found)
  if (mode === 'yolo') return { verdict: 'allow', rule: 'mode yolo', why: 'Everything is allowed.' }
  return { verdict: 'ask', rule: `mode ${mode}`, why, grants }
}
