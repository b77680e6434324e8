import type { Effect } from './effect.ts'
import { denyInPlanMode, type EffectDecision, type PolicyContext } from './policy-context.ts'
import { findContainingFolder, classifyPath } from './path/classify-path.ts'
import type { ApprovedFile } from '../model/security/approved-file.ts'
import type { Grant } from './policy.ts'
import type { RuleMatch } from './rules/rule-set.ts'
import { coversPath } from './rules/rule.ts'
import { defined } from '../model/defined.ts'

/** Checks file access: by the real path, then by the rules, then by the mode. */
export function checkFileAccess(
  effect: Effect & { readonly path: string },
  tool: string,
  context: PolicyContext,
): EffectDecision {
  const { mode, pathContext, ruleSet } = context
  const isWrite = effect.kind === 'write'
  if (isWrite && mode === 'plan') return denyInPlanMode()
  const need = isWrite ? 'write' : 'read'
  const { kind, path, why, rule } = classifyPath(effect.path, need, pathContext)
  if (kind === 'reject') return { verdict: 'deny', rule, why }
  const folder = findContainingFolder(path, pathContext.folders, pathContext.disk)
  const ruleMatch = ruleSet.find((one) => coversPath(one, tool, path, { folder, home: pathContext.home }))
  const inside = findContainingFolder(
    path,
    isWrite ? pathContext.folders : [...pathContext.folders, ...(pathContext.readFolders ?? [])],
    pathContext.disk,
  )
  const isOutside = inside === undefined
  // Writes are bound to the checked path inside the workspace too: a symbolic link may be put there meanwhile.
  const isPathBound = pathContext.disk !== undefined && (isOutside || isWrite)
  const access: readonly ApprovedFile[] = isPathBound
    ? [{ requestedPath: effect.path, realPath: path, need, isOutside }]
    : []
  const toDecision = (
    verdict: EffectDecision['verdict'],
    by: string,
    because: string,
    grants?: readonly Grant[],
  ): EffectDecision => ({
    verdict,
    rule: by,
    why: because,
    ...defined({ grants }),
    ...(access.length > 0 && { access }),
  })

  if (ruleMatch?.rule.verdict === 'deny')
    return toDecision('deny', ruleMatch.rule.text, `The rule “${ruleMatch.rule.text}” denies it.`)
  // Writing these needs approval each time, because their content can change the rules.
  const isToolOwned = effect.kind === 'write' && effect.isToolOwned === true
  if (!isToolOwned && (kind === 'protected' || kind === 'instructions')) return toDecision('ask', rule, why)
  const grants = [...(kind === 'in' && isWrite ? [toolGrant(tool)] : []), ...pathGrants(tool, path)]
  if (kind === 'secret' && !isExplicitPathRule(ruleMatch)) return toDecision('ask', rule, why, grants)
  if (ruleMatch?.rule.verdict === 'ask')
    return toDecision('ask', ruleMatch.rule.text, `The rule “${ruleMatch.rule.text}” asks about it.`)
  if (ruleMatch) return toDecision('allow', ruleMatch.rule.text, `The rule “${ruleMatch.rule.text}” allows it.`)

  const isInside = kind === 'in'
  if (!isWrite && isInside) return toDecision('allow', 'reading inside the workspace', 'It only reads.')
  if (mode === 'yolo') return toDecision('allow', 'mode yolo', 'Everything is allowed.')
  if (isWrite && isInside && mode === 'auto_edit')
    return toDecision('allow', 'mode auto_edit', 'Edits inside the workspace are allowed.')
  const what = isWrite ? 'changes' : 'reads'
  const decision = toDecision(
    'ask',
    `mode ${mode}`,
    isInside ? `It ${what} ${path}.` : `It ${what} ${path}, which is outside the workspace.`,
    grants,
  )
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
