import type { DiskView } from './disk-view.ts'
import type { Effect } from './effect.ts'
import { prepareShellCheck } from './shell/check-shell-command.ts'
import { checkFileAccess } from './check-file-access.ts'
import { checkNetworkAccess, checkPlanApproval, checkUndeclaredTool } from './check-other-effects.ts'
import { checkCommand } from './check-command.ts'
import type { PathContext } from './path/classify-path.ts'
import { findStrictest, type Decision } from './policy.ts'
import type { ApprovalMode, Grant, GrantScope, Policy, Proposal, SessionGrant } from './policy.ts'
import { type RuleSet, createRuleSet, type RulesByTier, type RuleTier } from './rules/rule-set.ts'
import { DEFAULT_POLICY_RULES } from './rules/default-rules.ts'
import { parseRule, type PolicyRule } from './rules/rule.ts'
import { type PolicyContext, createCommandGrantKey } from './policy-context.ts'
import { defined } from '../model/defined.ts'

/** The options of `approvalPolicy`. */
export interface ApprovalOptions {
  /** Folders that may be read and changed. Commands start in the first one. */
  readonly folders: readonly string[]
  readonly readFolders?: readonly string[]
  readonly home?: string
  /** Rules that apply to this run only, as of the command line: `read_file`, `run_shell_command(git status)`. */
  readonly allowed?: readonly string[]
  readonly rules?: RulesByTier
  /** Without it, symbolic links are not resolved and no command is proved harmless. */
  readonly disk?: DiskView
  /** Returns bash's syntax error, if any. Without it, text that our parser cannot parse is denied. */
  readonly rejected?: (text: string) => Promise<string | undefined>
  /** Do commands run in a sandbox? Called at the first command. */
  readonly sandboxed?: () => Promise<boolean>
  /** Saves rules for later sessions. */
  readonly save?: (rules: readonly string[], scope: Exclude<GrantScope, 'session'>) => void
}

/** The permission rules of the command, for one approval mode. Throws a `RuleError` if a rule is wrong. */
export function approvalPolicy(options: ApprovalOptions & { readonly mode: ApprovalMode }): Policy {
  return approvalPolicies(options)(options.mode)
}

/**
 * Returns a function that creates the policy for a mode; grants apply to all modes. Reading inside the workspace and
 * commands that are proved harmless need no approval; changes depend on the mode and the rules. Some effects ask in
 * every mode, some are always denied. Throws a `RuleError` if a rule is invalid.
 */
export function approvalPolicies(options: ApprovalOptions): (mode: ApprovalMode) => Policy {
  const { rules = {}, allowed = [], sandboxed } = options
  const rejected = options.rejected && rememberAccepted(options.rejected)
  const session = { ...rules.session, allow: [...(rules.session?.allow ?? []), ...allowed] }
  const tiers = { default: DEFAULT_POLICY_RULES, ...rules, session }
  const approved = new Set<string>()
  const context = {
    pathContext: createPathContext(options),
    ruleSet: createRuleSet(tiers),
    approved,
    ...defined({ rejected, sandboxed }),
  }
  const granted = allowed.map((rule): SessionGrant => ({ rules: [rule], covers: rule, commandKeys: [] }))
  // In plan mode only commands that are proved harmless run: the user's allow rules may permit changes.
  const planRuleSet = createRuleSet(withoutAllowRules(tiers))
  const ruleSets = [context.ruleSet, planRuleSet]
  const grantStore: GrantStore = { approved, ruleSets, granted, ...defined({ save: options.save }) }
  return (mode) =>
    createPolicyForMode({ ...context, ruleSet: mode === 'plan' ? planRuleSet : context.ruleSet, mode }, grantStore)
}

interface GrantStore extends Pick<ApprovalOptions, 'save'> {
  readonly approved: Set<string>
  /** The rules for all modes except plan, then those for plan. */
  readonly ruleSets: readonly RuleSet[]
  readonly granted: SessionGrant[]
}

function createPolicyForMode(context: PolicyContext, { approved, ruleSets, granted, save }: GrantStore): Policy {
  return {
    async decide(proposal) {
      const decisions = await checkEffects(proposal, memoizeContext(context))
      const worst = findStrictest(decisions)
      if (!worst) return { verdict: 'allow', rule: 'no effects', why: 'It has no effects.' }
      const { grants: _candidates, access: _own, ...decision } = worst
      const access = decisions.flatMap((one) => one.access ?? [])
      return { ...decision, ...(access.length > 0 && { access }) }
    },
    async prepare(proposal) {
      for (const effect of proposal.effects)
        if (effect.kind === 'exec') await prepareShellCheck(effect.command, effect.folder, context)
    },
    async offers(proposal) {
      const memoizedContext = memoizeContext(context)
      const decisions = await checkEffects(proposal, memoizedContext)
      return findStrictest(decisions)?.verdict === 'ask'
        ? selectLastingGrants(listCandidateGrants(decisions), proposal, memoizedContext, save)
        : []
    },
    remember(proposal, grant, scope) {
      const texts = grant.rules.length === 0 ? commandKeysOf(proposal) : []
      for (const key of texts) approved.add(key)
      for (const rule of parseGrantRules(grant) ?? [])
        for (const ruleSet of new Set([ruleSets[0], context.ruleSet])) ruleSet?.add('session', rule)
      if (scope === 'session' || grant.rules.length === 0) {
        granted.push({ rules: grant.rules, covers: grant.covers, commandKeys: texts })
        return `Allowed in this session: ${grant.covers}.`
      }
      save?.(grant.rules, scope)
      return `Allowed ${scope === 'project' ? 'in this project' : 'everywhere'}: ${grant.covers}.`
    },
    sessionGrants: () => granted,
    revoke(grant) {
      const at = granted.indexOf(grant)
      if (at >= 0) granted.splice(at, 1)
      for (const key of grant.commandKeys) approved.delete(key)
      for (const rule of grant.rules) for (const ruleSet of ruleSets) ruleSet.remove('session', rule, 'allow')
    },
    forget(rule, verdict) {
      // Rules saved since the session began were added to the session tier as well.
      for (const ruleSet of ruleSets)
        for (const tier of ['session', 'user'] as const) ruleSet.remove(tier, rule, verdict)
    },
  }
}

/** The grants of the single effect that needs approval, or the first grant of each such effect, combined. */
function listCandidateGrants(decisions: readonly Decision[]): readonly Grant[] {
  const askedGrants = decisions.filter(({ verdict }) => verdict === 'ask').map(({ grants = [] }) => grants)
  if (askedGrants.length <= 1) return askedGrants[0] ?? []
  const firsts = askedGrants.map(([first]) => first)
  const [first] = firsts
  if (!first || firsts.some((one) => one === undefined || (one.rules.length === 0) !== (first.rules.length === 0)))
    return []
  const all = firsts.filter((one) => one !== undefined)
  const rules = [...new Set(all.flatMap((one) => one.rules))]
  return [{ breadth: first.breadth, rules, covers: [...new Set(all.map(({ covers }) => covers))].join('; ') }]
}

/**
 * Checks the call again as if each grant had been given, and returns the grants that would allow it, with their
 * scopes.
 */
async function selectLastingGrants(
  grants: readonly Grant[],
  proposal: Proposal,
  context: PolicyContext,
  save: ApprovalOptions['save'],
): Promise<readonly Grant[]> {
  const lastingGrants: Grant[] = []
  for (const { scopes: _given, ...grant } of grants) {
    const rules = parseGrantRules(grant)
    if (!rules) continue
    const approved = rules.length === 0 ? new Set([...context.approved, ...commandKeysOf(proposal)]) : context.approved
    const holds = async (tier: RuleTier): Promise<boolean> => {
      const granted = { ...context, approved, ruleSet: context.ruleSet.with(tier, rules) }
      return (await checkEffects(proposal, granted)).every(({ verdict }) => verdict === 'allow')
    }
    const isPersistent = save !== undefined && rules.length > 0 && (await holds('user'))
    if (await holds('session'))
      lastingGrants.push({ ...grant, scopes: ['session', ...(isPersistent ? PERSISTENT_SCOPES : [])] })
  }
  return lastingGrants
}

const PERSISTENT_SCOPES: readonly GrantScope[] = ['project', 'user']

/** Returns undefined if a rule is invalid. */
function parseGrantRules({ rules }: Grant): readonly PolicyRule[] | undefined {
  const read = rules.map((rule) => parseRule(rule, 'allow'))
  return read.some((rule) => 'problem' in rule) ? undefined : (read as readonly PolicyRule[])
}

function commandKeysOf({ effects }: Proposal): string[] {
  return effects.flatMap((effect) =>
    effect.kind === 'exec' ? [createCommandGrantKey(effect.command, effect.folder)] : [],
  )
}

/** Deny and ask rules still apply in plan mode. */
function withoutAllowRules({ default: defaultRules, trusted, ...tiers }: RulesByTier): RulesByTier {
  const strictTiers = Object.entries(tiers).map(([tier, rules]) => [tier, { ...rules, allow: [] }])
  return { ...Object.fromEntries(strictTiers), ...defined({ default: defaultRules, trusted }) }
}

function checkEffects(proposal: Proposal, context: PolicyContext): Promise<Decision[]> {
  return Promise.all(proposal.effects.map((effect) => checkEffect(effect, proposal, context)))
}

async function checkEffect(effect: Effect, proposal: Proposal, context: PolicyContext): Promise<Decision> {
  if (effect.kind === 'plan') return checkPlanApproval(context)
  // In every mode: only the user can answer.
  if (effect.kind === 'question') return { verdict: 'ask', rule: 'question', why: 'Your answer goes to the model.' }
  if (effect.kind === 'exec') return checkCommand(effect, proposal.tool, context)
  if (effect.kind === 'read' || effect.kind === 'write') return checkFileAccess(effect, proposal.tool, context)
  return effect.kind === 'net'
    ? checkNetworkAccess(effect, proposal.tool, context)
    : checkUndeclaredTool(effect, proposal.tool, context)
}

function createPathContext({ folders, readFolders, home, disk, rules }: ApprovalOptions): PathContext {
  const all = [rules?.default, rules?.project, rules?.user, rules?.session, rules?.admin]
  return {
    folders,
    ...defined({ readFolders, home, disk }),
    protectedWrites: all.flatMap((tier) => tier?.protectedWrites ?? []),
    secretFiles: all.flatMap((tier) => tier?.secretFiles ?? []),
  }
}

/** Caches lookups for one decision, so that a path is resolved once. */
function memoizeContext(context: PolicyContext): PolicyContext {
  const { pathContext } = context
  const { disk } = pathContext
  return disk ? { ...context, pathContext: { ...pathContext, disk: memoizeDisk(disk) } } : context
}

function memoizeDisk(disk: DiskView): DiskView {
  return {
    ...disk,
    realPath: memoize((path) => disk.realPath(path)),
    kind: memoize((path) => disk.kind(path)),
    exists: memoize((path) => disk.exists(path)),
    list: memoize((path) => disk.list(path)),
    findProgram: memoize((name) => disk.findProgram(name)),
  }
}

function memoize<Value>(find: (key: string) => Value): (key: string) => Value {
  const cache = new Map<string, { readonly value: Value }>()
  return (key) => {
    const found = cache.get(key) ?? { value: find(key) }
    cache.set(key, found)
    return found.value
  }
}

type SyntaxCheck = NonNullable<ApprovalOptions['rejected']>

/** Bash is asked before the decision, and often more than once. What it accepts it accepts again; a refusal may have other causes. */
function rememberAccepted(check: SyntaxCheck): SyntaxCheck {
  const asked = new Map<string, ReturnType<SyntaxCheck>>()
  return (text) => {
    const known = asked.get(text)
    if (known) return known
    const [oldest] = asked.keys()
    if (asked.size >= MAX_ASKED_TEXTS && oldest !== undefined) asked.delete(oldest)
    const problem = check(text)
    asked.set(text, problem)
    const forget = (): void => void asked.delete(text)
    problem.then((found) => found !== undefined && forget(), forget)
    return problem
  }
}

const MAX_ASKED_TEXTS = 32
