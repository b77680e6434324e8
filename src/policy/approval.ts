import type { Disk } from './disk.ts'
import type { Effect } from './effect.ts'
import { judgeFile } from './judge-file.ts'
import { judgeNet, judgeUnknown } from './judge-other.ts'
import { judgeCommand } from './judge-command.ts'
import type { Places } from './path/place.ts'
import type { ApprovalMode, Policy, Proposal } from './policy.ts'
import { openBook, type PolicyRules, type RuleTiers } from './rule/book.ts'
import { readRule } from './rule/rule.ts'
import { HARMLESS_COMMANDS } from './shell/harmless.ts'
import type { Judged, Judging } from './judging.ts'

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
  /** Keeps a rule for later sessions, when a person says “always” for good. */
  readonly save?: (rule: string) => void
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
  const judging = {
    places: placesOf(options),
    book: openBook({ default: DEFAULT_RULES, ...rules, session }),
    approved: new Set<string>(),
    ...(rejected && { rejected }),
    ...(sandboxed && { sandboxed }),
  }
  return (mode) => policyFor({ ...judging, mode }, options.save)
}

function policyFor(judging: Judging, save: ApprovalOptions['save']): Policy {
  const { book } = judging
  const asked = new Map<string, readonly Judged[]>()

  return {
    async decide(proposal) {
      const once = { ...judging, places: lookingOnce(judging.places) }
      const judged = await Promise.all(proposal.effects.map((effect) => judge(effect, proposal, once)))
      const worst = worstOf(judged)
      if (!worst) return { verdict: 'allow', rule: 'no effects', why: 'It touches nothing.' }
      if (worst.verdict === 'ask') remembered(asked, keyOf(proposal), judged)
      const { always: _always, ...decision } = worst
      const covers = coverOf(judged)
      return { ...decision, ...(worst.verdict === 'ask' && covers !== undefined && { covers }) }
    },
    remember(proposal, scope) {
      const judged = asked.get(keyOf(proposal)) ?? []
      const covers = coverOf(judged)
      if (covers === undefined) return 'This is asked about each time, so nothing was remembered.'
      const always = judged.flatMap((one) => one.always ?? [])
      for (const one of always) {
        if (one.text !== undefined) judging.approved.add(one.text)
        const widened = scope === 'server' ? serverRule(proposal) : undefined
        const rule = one.rule === undefined ? undefined : readRule(widened ?? one.rule, 'allow')
        if (rule && !('problem' in rule)) book.add('session', rule)
        if (scope === 'saved' && rule && !('problem' in rule)) save?.(rule.text)
      }
      const isSaved = scope === 'saved' && save !== undefined && always.every(({ rule }) => rule !== undefined)
      const widened = scope === 'server' ? serverRule(proposal) : undefined
      return `From now on${isSaved ? '' : ' in this session'} without asking: ${widened ?? covers}.`
    },
  }
}

async function judge(effect: Effect, proposal: Proposal, judging: Judging): Promise<Judged> {
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

/** The same places for the length of one decision, in which a path means one thing and is looked up once. */
function lookingOnce(places: Places): Places {
  const { disk } = places
  if (!disk) return places
  const known = new Map<string, string | undefined>()
  const real = (path: string): string | undefined => {
    if (!known.has(path)) known.set(path, disk.real(path))
    return known.get(path)
  }
  return { ...places, disk: { ...disk, real } }
}

function worstOf(judged: readonly Judged[]): Judged | undefined {
  return (['deny', 'ask', 'allow'] as const)
    .map((verdict) => judged.find((one) => one.verdict === verdict))
    .find(Boolean)
}

/** What “always” would cover: all that was asked about, or there is no “always”. */
function coverOf(judged: readonly Judged[]): string | undefined {
  const parts = judged.filter(({ verdict }) => verdict === 'ask').map(({ always }) => always)
  if (parts.length === 0 || parts.some((part) => part === undefined || part.length === 0)) return undefined
  const all = [...new Set(parts.flatMap((part) => part ?? []).map(({ covers }) => covers))]
  const [shown, more] = [all.slice(0, NAMED), Math.max(all.length - NAMED, 0)]
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}

/** So many things that “always” would cover are named; who reads more of them reads none. */
const NAMED = 3

/** Rules know the tools of a server by its name before two underscores. */
function serverRule({ effects }: Proposal): string | undefined {
  const of = effects.map((effect) => (effect.kind === 'unknown' ? effect.of : undefined)).find(Boolean)
  return of && `${of.server}__*`
}

function keyOf({ tool, effects }: Proposal): string {
  return JSON.stringify([tool, effects])
}

const MAX_ASKED = 100

function remembered(asked: Map<string, readonly Judged[]>, key: string, judged: readonly Judged[]): void {
  asked.delete(key)
  asked.set(key, judged)
  const [oldest] = asked.keys()
  if (asked.size > MAX_ASKED && oldest !== undefined) asked.delete(oldest)
}
