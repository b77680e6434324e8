import type { DiskView } from './disk-view.ts'
import type { Effect } from './effect.ts'
import { checkFileAccess } from './check-file-access.ts'
import { checkNetworkAccess, checkPlanApproval, checkUndeclaredTool } from './check-other-effects.ts'
import { checkCommand } from './check-command.ts'
import type { PathContext } from './path/classify-path.ts'
import type { ApprovalMode, Grant, GrantScope, Policy, Proposal, SessionGrant } from './policy.ts'
import { type RuleSet, createRuleSet, type PolicyRules, type RulesByTier, type RuleTier } from './rules/rule-set.ts'
import { parseRule, type PolicyRule } from './rules/rule.ts'
import { HARMLESS_COMMANDS } from './shell/harmless-command.ts'
import { type EffectDecision, type PolicyContext, createCommandGrantKey } from './policy-context.ts'
import { defined } from '../model/defined.ts'

/** What decides, beside the mode: where the agent works, and everybody's rules. */
export interface ApprovalOptions {
  /** The folders that it may read and change; commands start in the first one. */
  readonly folders: readonly string[]
  /** Folders that it may only read. */
  readonly readFolders?: readonly string[]
  readonly home?: string
  /** Rules that hold for this run, as of the command line: `read_file`, `run_shell_command(git status)`. */
  readonly allowed?: readonly string[]
  readonly rules?: RulesByTier
  /** A look at the disk. Without it links are not seen, and no command is proved harmless. */
  readonly disk?: DiskView
  /** What the shell itself says against a text; without it, what our parser does not understand is refused. */
  readonly rejected?: (text: string) => Promise<string | undefined>
  /** Do commands run in a sandbox? Asked at the first command. */
  readonly sandboxed?: () => Promise<boolean>
  /** Keeps rules for later sessions, of this project or of all. */
  readonly save?: (rules: readonly string[], scope: Exclude<GrantScope, 'session'>) => void
}

/** Rules that hold until somebody sets others. */
export const DEFAULT_POLICY_RULES: PolicyRules = {
  allow: HARMLESS_COMMANDS,
  deny: ['sudo', 'su', 'doas', 'pkexec'],
}

/** The policy for one mode. */
export function approvalPolicy(options: ApprovalOptions & { readonly mode: ApprovalMode }): Policy {
  return approvalPolicies(options)(options.mode)
}

/**
 * The policies for all modes; what a person allowed for good in one holds in the others. Looking is free inside the folders,
 * commands that are proved harmless are too, and what changes something asks or not as the mode and the rules say. Some
 * things ask in every mode, and some never happen. Throws a `RuleError` if a rule is wrong.
 */
export function approvalPolicies(options: ApprovalOptions): (mode: ApprovalMode) => Policy {
  const { rules = {}, allowed = [], rejected, sandboxed } = options
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
  // While a plan is made only what is proved harmless runs: what the person allows may change something.
  const planRuleSet = createRuleSet(withoutAllowRules(tiers))
  const ruleSets = [context.ruleSet, planRuleSet]
  const grantStore: GrantStore = { approved, ruleSets, granted, ...defined({ save: options.save }) }
  return (mode) =>
    createPolicyForMode({ ...context, ruleSet: mode === 'plan' ? planRuleSet : context.ruleSet, mode }, grantStore)
}

/** Where grants are kept. */
interface GrantStore extends Pick<ApprovalOptions, 'save'> {
  readonly approved: Set<string>
  /** The rules of all modes but plan, and those of plan. */
  readonly ruleSets: readonly RuleSet[]
  /** What holds until the session ends. */
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
      // What was allowed for good since the session began stands among the rules of the session as well.
      for (const ruleSet of ruleSets)
        for (const tier of ['session', 'user'] as const) ruleSet.remove(tier, rule, verdict)
    },
  }
}

/** What could be allowed: the grants of the one effect that is asked about, or the first of each, together. */
function listCandidateGrants(decisions: readonly EffectDecision[]): readonly Grant[] {
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

/** The grants that would be kept, each with where: the same call is judged again as if it were granted. */
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

/** The rules of a grant; nothing if one of them cannot be read. */
function parseGrantRules({ rules }: Grant): readonly PolicyRule[] | undefined {
  const read = rules.map((rule) => parseRule(rule, 'allow'))
  return read.some((rule) => 'problem' in rule) ? undefined : (read as readonly PolicyRule[])
}

function commandKeysOf({ effects }: Proposal): string[] {
  return effects.flatMap((effect) =>
    effect.kind === 'exec' ? [createCommandGrantKey(effect.command, effect.folder)] : [],
  )
}

/** What the person and the project forbid and ask about still holds while a plan is made. */
function withoutAllowRules({ default: defaultRules, ...tiers }: RulesByTier): RulesByTier {
  const strictTiers = Object.entries(tiers).map(([tier, rules]) => {
    if (typeof rules !== 'object') return [tier, rules]
    const { allow: _unused, ...rest } = rules
    return [tier, rest]
  })
  return { ...defined({ default: defaultRules }), ...Object.fromEntries(strictTiers) }
}

function checkEffects(proposal: Proposal, context: PolicyContext): Promise<EffectDecision[]> {
  return Promise.all(proposal.effects.map((effect) => checkEffect(effect, proposal, context)))
}

async function checkEffect(effect: Effect, proposal: Proposal, context: PolicyContext): Promise<EffectDecision> {
  if (effect.kind === 'plan') return checkPlanApproval(context)
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

/** The same for the length of one decision: a path means one thing and is looked up once, and the shell is asked once. */
function memoizeContext(context: PolicyContext): PolicyContext {
  const { pathContext, rejected } = context
  const { disk } = pathContext
  return {
    ...context,
    ...(rejected && { rejected: memoize(rejected) }),
    ...(disk && { pathContext: { ...pathContext, disk: memoizeDisk(disk) } }),
  }
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

function findStrictest(decisions: readonly EffectDecision[]): EffectDecision | undefined {
  return (['deny', 'ask', 'allow'] as const)
    .map((verdict) => decisions.find((one) => one.verdict === verdict))
    .find(Boolean)
}
