import type { Disk } from './disk.ts'
import type { Effect } from './effect.ts'
import { judgeFile } from './judge-file.ts'
import { judgeNet, judgePlan, judgeUnknown } from './judge-other.ts'
import { judgeCommand } from './judge-command.ts'
import type { Places } from './path/place.ts'
import type { ApprovalMode, Grant, GrantScope, Policy, Proposal, SessionGrant } from './policy.ts'
import { type Book, openBook, type PolicyRules, type RuleTiers, type Tier } from './rule/book.ts'
import { readRule, type Rule } from './rule/rule.ts'
import { HARMLESS_COMMANDS } from './shell/harmless.ts'
import { type Judged, type Judging, textKey } from './judging.ts'

/** What decides, beside the mode: where the agent works, and everybody's rules. */
export interface ApprovalOptions {
  /** The folders that it may read and change; commands start in the first one. */
  readonly folders: readonly string[]
  /** Folders that it may only read. */
  readonly readFolders?: readonly string[]
  readonly home?: string
  /** Rules that hold for this run, as of the command line: `read_file`, `run_shell_command(git status)`. */
  readonly allowed?: readonly string[]
  readonly rules?: RuleTiers
  /** A look at the disk. Without it links are not seen, and no command is proved harmless. */
  readonly disk?: Disk
  /** What the shell itself says against a text; without it, what our parser does not understand is refused. */
  readonly rejected?: (text: string) => Promise<string | undefined>
  /** Do commands run in a sandbox? Asked at the first command. */
  readonly sandboxed?: () => Promise<boolean>
  /** Keeps rules for later sessions, of this project or of all. */
  readonly save?: (rules: readonly string[], scope: Exclude<GrantScope, 'session'>) => void
}

/** Rules that hold until somebody sets others. */
export const DEFAULT_RULES: PolicyRules = {
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
 * things ask in every mode, and some never happen. Throws a `RuleProblem` if a rule is wrong.
 */
export function approvalPolicies(options: ApprovalOptions): (mode: ApprovalMode) => Policy {
  const { rules = {}, allowed = [], rejected, sandboxed } = options
  const session = { ...rules.session, allow: [...(rules.session?.allow ?? []), ...allowed] }
  const tiers = { default: DEFAULT_RULES, ...rules, session }
  const approved = new Set<string>()
  const judging = {
    places: placesOf(options),
    book: openBook(tiers),
    approved,
    ...(rejected && { rejected }),
    ...(sandboxed && { sandboxed }),
  }
  const granted = allowed.map((rule): SessionGrant => ({ rules: [rule], covers: rule, texts: [] }))
  // While a plan is made only what is proved harmless runs: what the person allows may change something.
  const plan = openBook(withoutAllowed(tiers))
  const books = [judging.book, plan]
  const keep: Keep = { approved, books, granted, ...(options.save && { save: options.save }) }
  return (mode) => policyFor({ ...judging, book: mode === 'plan' ? plan : judging.book, mode }, keep)
}

/** Where grants are kept. */
interface Keep extends Pick<ApprovalOptions, 'save'> {
  readonly approved: Set<string>
  /** The rules of all modes but plan, and those of plan. */
  readonly books: readonly Book[]
  /** What holds until the session ends. */
  readonly granted: SessionGrant[]
}

function policyFor(judging: Judging, { approved, books, granted, save }: Keep): Policy {
  return {
    async decide(proposal) {
      const judged = await judgeAll(proposal, lookingOnce(judging))
      const worst = worstOf(judged)
      if (!worst) return { verdict: 'allow', rule: 'no effects', why: 'It touches nothing.' }
      const { grants: _candidates, access: _own, ...decision } = worst
      const access = judged.flatMap((one) => one.access ?? [])
      return { ...decision, ...(access.length > 0 && { access }) }
    },
    async offers(proposal) {
      const once = lookingOnce(judging)
      const judged = await judgeAll(proposal, once)
      return worstOf(judged)?.verdict === 'ask' ? keptGrants(candidates(judged), proposal, once, save) : []
    },
    remember(proposal, grant, scope) {
      const texts = grant.rules.length === 0 ? textKeys(proposal) : []
      for (const key of texts) approved.add(key)
      for (const rule of rulesOf(grant) ?? [])
        for (const book of new Set([books[0], judging.book])) book?.add('session', rule)
      if (scope === 'session' || grant.rules.length === 0) {
        granted.push({ rules: grant.rules, covers: grant.covers, texts })
        return `Allowed in this session: ${grant.covers}.`
      }
      save?.(grant.rules, scope)
      return `Allowed ${scope === 'project' ? 'in this project' : 'everywhere'}: ${grant.covers}.`
    },
    sessionGrants: () => granted,
    revoke(grant) {
      const at = granted.indexOf(grant)
      if (at >= 0) granted.splice(at, 1)
      for (const key of grant.texts) approved.delete(key)
      for (const rule of grant.rules) for (const book of books) book.remove('session', rule, 'allow')
    },
    forget(rule, verdict) {
      // What was allowed for good since the session began stands among the rules of the session as well.
      for (const book of books) for (const tier of ['session', 'user'] as const) book.remove(tier, rule, verdict)
    },
  }
}

/** What could be allowed: the grants of the one effect that is asked about, or the first of each, together. */
function candidates(judged: readonly Judged[]): readonly Grant[] {
  const asked = judged.filter(({ verdict }) => verdict === 'ask').map(({ grants = [] }) => grants)
  if (asked.length <= 1) return asked[0] ?? []
  const firsts = asked.map(([first]) => first)
  const [first] = firsts
  if (!first || firsts.some((one) => one === undefined || (one.rules.length === 0) !== (first.rules.length === 0)))
    return []
  const all = firsts.filter((one) => one !== undefined)
  const rules = [...new Set(all.flatMap((one) => one.rules))]
  return [{ breadth: first.breadth, rules, covers: [...new Set(all.map(({ covers }) => covers))].join('; ') }]
}

/** The grants that would be kept, each with where: the same call is judged again as if it were granted. */
async function keptGrants(
  grants: readonly Grant[],
  proposal: Proposal,
  judging: Judging,
  save: ApprovalOptions['save'],
): Promise<readonly Grant[]> {
  const kept: Grant[] = []
  for (const { scopes: _given, ...grant } of grants) {
    const rules = rulesOf(grant)
    if (!rules) continue
    const approved = rules.length === 0 ? new Set([...judging.approved, ...textKeys(proposal)]) : judging.approved
    const holds = async (tier: Tier): Promise<boolean> => {
      const granted = { ...judging, approved, book: judging.book.with(tier, rules) }
      return (await judgeAll(proposal, granted)).every(({ verdict }) => verdict === 'allow')
    }
    const forGood = save !== undefined && rules.length > 0 && (await holds('user'))
    if (await holds('session')) kept.push({ ...grant, scopes: ['session', ...(forGood ? FOR_GOOD : [])] })
  }
  return kept
}

const FOR_GOOD: readonly GrantScope[] = ['project', 'user']

/** The rules of a grant; nothing if one of them cannot be read. */
function rulesOf({ rules }: Grant): readonly Rule[] | undefined {
  const read = rules.map((rule) => readRule(rule, 'allow'))
  return read.some((rule) => 'problem' in rule) ? undefined : (read as readonly Rule[])
}

function textKeys({ effects }: Proposal): string[] {
  return effects.flatMap((effect) => (effect.kind === 'exec' ? [textKey(effect.command, effect.folder)] : []))
}

/** What the person and the project forbid and ask about still holds while a plan is made. */
function withoutAllowed({ default: usual, ...tiers }: RuleTiers): RuleTiers {
  const strict = Object.entries(tiers).map(([tier, rules]) => {
    if (typeof rules !== 'object') return [tier, rules]
    const { allow: _unused, ...rest } = rules
    return [tier, rest]
  })
  return { ...(usual && { default: usual }), ...Object.fromEntries(strict) }
}

function judgeAll(proposal: Proposal, judging: Judging): Promise<Judged[]> {
  return Promise.all(proposal.effects.map((effect) => judge(effect, proposal, judging)))
}

async function judge(effect: Effect, proposal: Proposal, judging: Judging): Promise<Judged> {
  if (effect.kind === 'plan') return judgePlan(judging)
  if (effect.kind === 'exec') return judgeCommand(effect, proposal.tool, judging)
  if (effect.kind === 'read' || effect.kind === 'write') return judgeFile(effect, proposal.tool, judging)
  return effect.kind === 'net' ? judgeNet(effect, proposal.tool, judging) : judgeUnknown(effect, proposal.tool, judging)
}

function placesOf({ folders, readFolders, home, disk, rules }: ApprovalOptions): Places {
  const all = [rules?.default, rules?.project, rules?.user, rules?.session, rules?.admin]
  return {
    folders,
    ...(readFolders && { readFolders }),
    ...(home !== undefined && { home }),
    ...(disk && { disk }),
    protectedWrites: all.flatMap((tier) => tier?.protectedWrites ?? []),
    secretFiles: all.flatMap((tier) => tier?.secretFiles ?? []),
  }
}

/** The same for the length of one decision: a path means one thing and is looked up once, and the shell is asked once. */
function lookingOnce(judging: Judging): Judging {
  const { places, rejected } = judging
  const { disk } = places
  return {
    ...judging,
    ...(rejected && { rejected: memoized(rejected) }),
    ...(disk && { places: { ...places, disk: memoizedDisk(disk) } }),
  }
}

function memoizedDisk(disk: Disk): Disk {
  return {
    ...disk,
    real: memoized((path) => disk.real(path)),
    kind: memoized((path) => disk.kind(path)),
    has: memoized((path) => disk.has(path)),
    list: memoized((path) => disk.list(path)),
    program: memoized((name) => disk.program(name)),
  }
}

function memoized<Value>(find: (key: string) => Value): (key: string) => Value {
  const known = new Map<string, { readonly value: Value }>()
  return (key) => {
    const found = known.get(key) ?? { value: find(key) }
    known.set(key, found)
    return found.value
  }
}

function worstOf(judged: readonly Judged[]): Judged | undefined {
  return (['deny', 'ask', 'allow'] as const)
    .map((verdict) => judged.find((one) => one.verdict === verdict))
    .find(Boolean)
}
