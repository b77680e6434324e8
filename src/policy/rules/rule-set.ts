import { findStrictest, type Verdict } from '../policy.ts'
import { coversHost, coversPath, matchesCommandWords, parseRule, type PolicyRule } from './rule.ts'
import { splitRuleWords } from './rule-words.ts'
import { getErrorMessage } from '../../model/error-message.ts'

/** A rule of the user, optionally with examples that are checked when it is loaded. */
type RuleText =
  | string
  | { readonly rule: string; readonly matches?: readonly string[]; readonly spares?: readonly string[] }

/** Rules as written in a settings file. */
export interface PolicyRules {
  readonly allow?: readonly RuleText[]
  readonly ask?: readonly RuleText[]
  readonly deny?: readonly RuleText[]
  /** More patterns of files that need approval to be written. */
  readonly protectedWrites?: readonly string[]
  /** More patterns of files that need approval to be read. */
  readonly secretFiles?: readonly string[]
}

/** In ascending priority. */
export type RuleTier = (typeof RULE_TIERS)[number]

const RULE_TIERS = ['default', 'project', 'user', 'session', 'admin'] as const

export type RulesByTier = Readonly<Partial<Record<RuleTier, PolicyRules>>> & {
  /** Until the user trusts the folder, a project's rules can only restrict. */
  readonly trusted?: boolean
}

export interface RuleMatch {
  readonly rule: PolicyRule
  readonly tier: RuleTier
}

export interface RuleSet {
  /** Returns the strictest matching rule of the highest tier that has one. The built-in rules are about commands only. */
  findToolRule(matches: (rule: PolicyRule) => boolean): RuleMatch | undefined
  /** The same among all rules. */
  findCommandRule(matches: (rule: PolicyRule) => boolean): RuleMatch | undefined
  add(tier: RuleTier, rule: PolicyRule): void
  remove(tier: RuleTier, text: string, verdict: Verdict): void
  /** Returns a copy with more rules. */
  with(tier: RuleTier, rules: readonly PolicyRule[]): RuleSet
}

/**
 * Throws a `RuleError` at the first invalid rule or example. In an untrusted project invalid rules are ignored, so
 * that its files cannot stop the run.
 */
export function createRuleSet(tiers: RulesByTier): RuleSet {
  const parsedRules = new Map<RuleTier, PolicyRule[]>()
  for (const tier of RULE_TIERS) {
    const rules = tiers[tier] ?? {}
    const isUntrusted = tier === 'project' && tiers.trusted !== true
    if (tier !== 'default') parsedRules.set(tier, parseRules(tier, isUntrusted ? dropInvalidRules(rules).rules : rules))
  }
  return buildRuleSet(parsedRules, tiers)
}

function buildRuleSet(parsedRules: Map<RuleTier, PolicyRule[]>, tiers: RulesByTier): RuleSet {
  const trusted = tiers.trusted === true

  /** The built-in rules are many, so they are parsed at the first command. */
  function rulesIn(tier: RuleTier): PolicyRule[] {
    const cachedRules = parsedRules.get(tier) ?? parseRules(tier, tiers[tier] ?? {})
    parsedRules.set(tier, cachedRules)
    return cachedRules
  }

  function inTier(tier: RuleTier, matches: (rule: PolicyRule) => boolean): RuleMatch | undefined {
    const rule = findStrictest(rulesIn(tier).filter(matches))
    return rule && { rule, tier }
  }

  function findUserRule(matches: (rule: PolicyRule) => boolean): RuleMatch | undefined {
    return inTier('admin', matches) ?? inTier('session', matches) ?? inTier('user', matches)
  }

  function findProjectRule(matches: (rule: PolicyRule) => boolean): RuleMatch | undefined {
    return inTier('project', (rule) => matches(rule) && (trusted || rule.verdict !== 'allow'))
  }

  return {
    findToolRule: (matches) => findUserRule(matches) ?? findProjectRule(matches),
    findCommandRule(matches) {
      const userMatch = findUserRule(matches)
      if (userMatch) return userMatch
      const defaultMatch = inTier('default', matches)
      const projectMatch = findProjectRule(matches)
      if (!projectMatch || trusted) return projectMatch ?? defaultMatch
      return defaultMatch?.rule.verdict === 'deny' ? defaultMatch : projectMatch
    },
    add(tier, rule) {
      rulesIn(tier).push(rule)
    },
    remove(tier, text, verdict) {
      parsedRules.set(
        tier,
        rulesIn(tier).filter((rule) => rule.text !== text || rule.verdict !== verdict),
      )
    },
    with(tier, rules) {
      return buildRuleSet(new Map([...parsedRules, [tier, [...rulesIn(tier), ...rules]]]), tiers)
    },
  }
}

export class RuleError extends Error {}

/** Returns the valid rules, and an error message for each of the others. */
export function dropInvalidRules(rules: PolicyRules): {
  readonly rules: PolicyRules
  readonly problems: readonly string[]
} {
  const problems: string[] = []
  const validRules = (['allow', 'ask', 'deny'] as const).flatMap((verdict) => {
    const validSources = (rules[verdict] ?? []).filter((source) => {
      try {
        return parseRules('project', { [verdict]: [source] }).length > 0
      } catch (error) {
        problems.push(getErrorMessage(error))
        return false
      }
    })
    return validSources.length > 0 ? [[verdict, validSources] as const] : []
  })
  const { allow: _allow, ask: _ask, deny: _deny, ...rest } = rules
  return { rules: { ...rest, ...Object.fromEntries(validRules) }, problems }
}

function parseRules(tier: RuleTier, rules: PolicyRules): PolicyRule[] {
  return (['allow', 'ask', 'deny'] as const).flatMap((verdict) =>
    (rules[verdict] ?? []).map((source) => {
      const text = typeof source === 'string' ? source : source.rule
      const rule = parseRule(text, verdict, tier === 'default' ? 'command' : 'tool-or-command')
      if ('problem' in rule) throw new RuleError(`${rule.problem} (${verdict}, ${tier})`)
      if (typeof source !== 'string') checkExamples(rule, source.matches ?? [], source.spares ?? [])
      return rule
    }),
  )
}

function checkExamples(rule: PolicyRule, matches: readonly string[], spares: readonly string[]): void {
  const missed = matches.find((example) => !matchesExample(rule, example))
  if (missed !== undefined) throw new RuleError(`the rule “${rule.text}” does not match its example “${missed}”`)
  const caught = spares.find((example) => matchesExample(rule, example))
  if (caught !== undefined) throw new RuleError(`the rule “${rule.text}” matches “${caught}”, which it should not`)
}

/** An example is what the brackets of the rule contain: a command, a path in the workspace, or a host. */
function matchesExample(rule: PolicyRule, example: string): boolean {
  if (rule.words) return matchesCommandWords(rule, splitRuleWords(example) ?? [])
  const { tool = '', argument } = rule
  if (argument === undefined) return tool === example
  const path = example.startsWith('/') ? example : `/w/${example}`
  return coversHost(rule, tool, example) || coversPath(rule, tool, path, { folder: '/w' })
}
