import type { Verdict } from '../policy.ts'
import { coversHost, coversPath, coversWords, readRule, type Rule, SHELL } from './rule.ts'
import { wordsIn } from './words.ts'

/** A rule as a person writes it: its text, or with examples that are checked when it is loaded. */
export type RuleText =
  | string
  | { readonly rule: string; readonly matches?: readonly string[]; readonly spares?: readonly string[] }

/** Rules as they stand in a file. */
export interface PolicyRules {
  readonly allow?: readonly RuleText[]
  readonly ask?: readonly RuleText[]
  readonly deny?: readonly RuleText[]
  /** Patterns of files that nothing may write without a person, beside the usual ones. */
  readonly protectedWrites?: readonly string[]
  /** Patterns of files that nothing may read without a person, beside the usual ones. */
  readonly secretFiles?: readonly string[]
}

/** Whose rules they are. The later in this list, the more they weigh. */
export type Tier = (typeof TIERS)[number]

const TIERS = ['default', 'project', 'user', 'session', 'admin'] as const

/** Everybody's rules. */
export type RuleTiers = Readonly<Partial<Record<Tier, PolicyRules>>> & {
  /** A project's rules can only tighten until the person trusts its folder. */
  readonly trusted?: boolean
}

/** What the rules say about something. */
export interface Ruling {
  readonly rule: Rule
  readonly tier: Tier
}

/** The rules, ready to be asked. */
export interface Book {
  /** The rule that decides among those that match: of the weightiest tier that has one, the strictest. */
  find(matches: (rule: Rule) => boolean): Ruling | undefined
  add(tier: Tier, rule: Rule): void
  /** Takes out the rules of a tier that say this. */
  remove(tier: Tier, text: string, verdict: Verdict): void
  /** The same rules and some more, to see what these would change. */
  with(tier: Tier, rules: readonly Rule[]): Book
}

/**
 * Opens the rules. Throws a sentence about the first one that is wrong, or whose example is. Of a project that nobody trusts
 * the wrong ones are left out: a stranger's file must not stop the run.
 */
export function openBook(tiers: RuleTiers): Book {
  const pages = new Map<Tier, Rule[]>()
  for (const tier of TIERS) {
    const rules = tiers[tier] ?? {}
    const isForeign = tier === 'project' && tiers.trusted !== true
    if (tier !== 'default') pages.set(tier, rulesOf(tier, isForeign ? soundRules(rules).rules : rules))
  }
  return bookOf(pages, tiers)
}

function bookOf(pages: Map<Tier, Rule[]>, tiers: RuleTiers): Book {
  const trusted = tiers.trusted === true

  /** Our own rules are many and right; they are read when the first command is judged. */
  function rulesIn(tier: Tier): Rule[] {
    const known = pages.get(tier) ?? rulesOf(tier, tiers[tier] ?? {})
    pages.set(tier, known)
    return known
  }

  function inTier(tier: Tier, matches: (rule: Rule) => boolean): Ruling | undefined {
    const found = rulesIn(tier).filter(matches)
    const rule = found.find(({ verdict }) => verdict === strictest(found.map((one) => one.verdict)))
    return rule && { rule, tier }
  }

  return {
    find(matches) {
      for (const tier of ['admin', 'session', 'user'] as const) {
        const ruling = inTier(tier, matches)
        if (ruling) return ruling
      }
      const usual = inTier('default', matches)
      const project = inTier('project', (rule) => matches(rule) && (trusted || rule.verdict !== 'allow'))
      if (!project || trusted) return project ?? usual
      return usual?.rule.verdict === 'deny' ? usual : project
    },
    add(tier, rule) {
      rulesIn(tier).push(rule)
    },
    remove(tier, text, verdict) {
      pages.set(
        tier,
        rulesIn(tier).filter((rule) => rule.text !== text || rule.verdict !== verdict),
      )
    },
    with(tier, rules) {
      return bookOf(new Map([...pages, [tier, [...rulesIn(tier), ...rules]]]), tiers)
    },
  }
}

const ORDER: readonly Verdict[] = ['deny', 'ask', 'allow']

/** The strictest of some verdicts. */
export function strictest(verdicts: readonly Verdict[]): Verdict {
  return ORDER.find((verdict) => verdicts.includes(verdict)) ?? 'allow'
}

/** Something is wrong with a rule; the sentence says what. */
export class RuleProblem extends Error {}

/** The rules that are right, and a sentence about each of the others. */
export function soundRules(rules: PolicyRules): { readonly rules: PolicyRules; readonly problems: readonly string[] } {
  const problems: string[] = []
  const sound = (['allow', 'ask', 'deny'] as const).flatMap((verdict) => {
    const right = (rules[verdict] ?? []).filter((given) => {
      try {
        return rulesOf('project', { [verdict]: [given] }).length > 0
      } catch (error) {
        problems.push(error instanceof Error ? error.message : String(error))
        return false
      }
    })
    return right.length > 0 ? [[verdict, right] as const] : []
  })
  const { allow: _allow, ask: _ask, deny: _deny, ...rest } = rules
  return { rules: { ...rest, ...Object.fromEntries(sound) }, problems }
}

function rulesOf(tier: Tier, rules: PolicyRules): Rule[] {
  return (['allow', 'ask', 'deny'] as const).flatMap((verdict) =>
    (rules[verdict] ?? []).map((given) => {
      const text = typeof given === 'string' ? given : given.rule
      const rule = readRule(text, verdict)
      if ('problem' in rule) throw new RuleProblem(`${rule.problem} (${verdict}, ${tier})`)
      if (typeof given !== 'string') checkExamples(rule, given.matches ?? [], given.spares ?? [])
      return rule
    }),
  )
}

function checkExamples(rule: Rule, matches: readonly string[], spares: readonly string[]): void {
  const missed = matches.find((example) => !isExampleOf(rule, example))
  if (missed !== undefined) throw new RuleProblem(`the rule “${rule.text}” does not match its example “${missed}”`)
  const caught = spares.find((example) => isExampleOf(rule, example))
  if (caught !== undefined) throw new RuleProblem(`the rule “${rule.text}” matches “${caught}”, which it should not`)
}

/** Examples are what the brackets are about: a command, a path in the workspace, a host. */
function isExampleOf(rule: Rule, example: string): boolean {
  if (rule.tool === SHELL && rule.words) return coversWords(rule, wordsIn(example) ?? [])
  if (rule.host !== undefined) return coversHost(rule, example)
  if (rule.path !== undefined)
    return coversPath(rule, example.startsWith('/') ? example : `/w/${example}`, '/w', undefined)
  return rule.tool === example
}
