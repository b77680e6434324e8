import type { Effect } from './effect.ts'
import { decideByRule, denyInPlanMode, type PolicyContext } from './policy-context.ts'
import { classifyPath, findContainingFolder, isAccessible } from './path/classify-path.ts'
import type { ApprovedFile } from '../model/security/approved-file.ts'
import type { Decision, Grant } from './policy.ts'
import type { RuleMatch } from './rules/rule-set.ts'
import { coversPath } from './rules/rule.ts'

/** Checks file access: by the real path, then by the rules, then by the mode. */
export function checkFileAccess(
  effect: Effect & { readonly path: string },
  tool: string,
  context: PolicyContext,
): Decision {
  const { mode, pathContext, ruleSet } = context
  const isWrite = effect.kind === 'write'
  if (isWrite && mode === 'plan') return denyInPlanMode()
  const need = isWrite ? 'write' : 'read'
  const { kind, path, why, rule } = classifyPath(effect.path, need, pathContext)
  if (kind === 'reject') return { verdict: 'deny', rule, why }
  const folder = findContainingFolder(path, pathContext.folders, pathContext.disk)
  const ruleMatch = ruleSet.findToolRule((one) => coversPath(one, tool, path, { folder, home: pathContext.home }))
  const isOutside = !isAccessible(path, need, pathContext)
  // Writes are bound to the checked path inside the workspace too: a symbolic link may be put there meanwhile.
  const isPathBound = pathContext.disk !== undefined && (isOutside || isWrite)
  const access: readonly ApprovedFile[] = [{ requestedPath: effect.path, realPath: path, need, isOutside }]
  const withAccess = (decision: Decision): Decision => ({ ...decision, ...(isPathBound && { access }) })

  if (ruleMatch?.rule.verdict === 'deny') return withAccess(decideByRule(ruleMatch.rule))
  // Writing these needs approval each time, because their content can change the rules.
  const isToolOwned = effect.kind === 'write' && effect.isToolOwned === true
  if (!isToolOwned && (kind === 'protected' || kind === 'instructions'))
    return withAccess({ verdict: 'ask', rule, why })
  const grants = [...(kind === 'in' && isWrite ? [toolGrant(tool)] : []), ...pathGrants(tool, path)]
  if (kind === 'secret' && !isExplicitPathRule(ruleMatch)) return withAccess({ verdict: 'ask', rule, why, grants })
  if (ruleMatch) return withAccess(decideByRule(ruleMatch.rule))

  const isInside = kind === 'in'
  const allow = (by: string, because: string) => withAccess({ verdict: 'allow', rule: by, why: because })
  if (!isWrite && isInside) return allow('reading inside the workspace', 'It only reads.')
  if (mode === 'yolo') return allow('mode yolo', 'Everything is allowed.')
  if (isWrite && isInside && mode === 'auto_edit')
    return allow('mode auto_edit', 'Edits inside the workspace are allowed.')
  const reason = `It ${isWrite ? 'changes' : 'reads'} ${path}${isInside ? '' : ', which is outside the workspace'}.`
  const decision = withAccess({ verdict: 'ask', rule: `mode ${mode}`, why: reason, grants })
  return isInside && path === effect.path ? { ...decision, isRoutine: true } : decision
}

/** Secrets are read without approval only if a rule of the user names their path, not just a folder. */
function isExplicitPathRule(ruleMatch: RuleMatch | undefined): boolean {
  const { verdict, argument } = ruleMatch?.rule ?? {}
  if (verdict !== 'allow' || argument === undefined || /\*\*|(?:^|\/)\*$/.test(argument)) return false
  return ruleMatch?.tier !== 'default' && ruleMatch?.tier !== 'project'
}

function toolGrant(tool: string): Grant {
  return { breadth: 'tool', rules: [`${tool}(**)`], covers: `${tool} in the workspace, but for protected files` }
}

/** A path that would be parsed as a pattern gets no grant: the rule would allow more than this file. */
function pathGrants(tool: string, path: string): readonly Grant[] {
  if (/[*?[\]{}()\\!]/.test(path)) return []
  return [{ breadth: 'path', rules: [`${tool}(${path})`], covers: `${tool} of ${path}` }]
}
