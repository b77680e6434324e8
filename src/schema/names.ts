import { shortHash } from './hash.ts'

/** What a vendor allows as the name of a tool. */
export interface NameRule {
  /** Matches every legal name, and no other. */
  readonly pattern: RegExp
  readonly max: number
  /** Matches each character that no name may hold; must be global. */
  readonly illegal: RegExp
  /** Matches what the first character may be, where the rule is stricter there. */
  readonly first?: RegExp
}

/**
 * Gives every name a legal one, all different, so that the map can be read backwards. A legal name stays as it is, and
 * what becomes of another depends on the rest only where two of them would meet.
 */
export function projectNames(names: readonly string[], rule: NameRule): Map<string, string> {
  const originals = [...new Set(names)]
  const kept = new Set(originals.filter((name) => isLegal(name, rule)))
  const wanted = new Map<string, number>()
  for (const name of originals) {
    const wire = cleaned(name, rule)
    wanted.set(wire, (wanted.get(wire) ?? 0) + 1)
  }
  const taken = new Set(kept)
  const out = new Map<string, string>()
  for (const name of originals) {
    const wire = cleaned(name, rule)
    const alone = wanted.get(wire) === 1 && !taken.has(wire)
    const chosen = kept.has(name) || alone ? wire : distinct(name, rule, taken)
    taken.add(chosen)
    out.set(name, chosen)
  }
  return out
}

/** The projection of a whole tool list under one rule. */
export function nameProjector(rule: NameRule): (names: readonly string[]) => Map<string, string> {
  return (names) => projectNames(names, rule)
}

/** A legal name for a tool that is not declared, never one that is taken. */
export function undeclaredName(name: string, rule: NameRule, taken: ReadonlySet<string>): string {
  const wire = cleaned(name, rule)
  return taken.has(wire) ? distinct(name, rule, taken) : wire
}

/** Gemini CLI's rule for names from elsewhere: odd characters become `_`, and over 63 characters the middle goes. */
export function generateValidName(name: string): string {
  const legal = name.replace(/[^A-Za-z0-9_.-]/g, '_')
  return legal.length > 63 ? `${legal.slice(0, 28)}___${legal.slice(-32)}` : legal
}

/** OpenAI, and everything that calls itself compatible. */
export const OPENAI_NAMES: NameRule = { pattern: /^[A-Za-z0-9_-]{1,64}$/, max: 64, illegal: /[^A-Za-z0-9_-]/g }

/** Anthropic's Messages. */
export const ANTHROPIC_NAMES: NameRule = { pattern: /^[A-Za-z0-9_-]{1,128}$/, max: 128, illegal: /[^A-Za-z0-9_-]/g }

/** Gemini: the length is the older limit, which every version of the service accepts. */
export const GEMINI_NAMES: NameRule = {
  pattern: /^[A-Za-z_][A-Za-z0-9_.-]{0,62}$/,
  max: 63,
  illegal: /[^A-Za-z0-9_.-]/g,
  first: /^[A-Za-z_]/,
}

const HASH = 6

function isLegal(name: string, rule: NameRule): boolean {
  return name.length <= rule.max && rule.pattern.test(name)
}

/** The legal name nearest to this one, seen alone; a cut name carries a hash, since others may be cut to the same. */
function cleaned(name: string, rule: NameRule): string {
  if (isLegal(name, rule)) return name
  const legal = withLegalChars(name, rule)
  return legal.length > rule.max ? marked(legal, name, rule, HASH) : legal
}

function withLegalChars(name: string, rule: NameRule): string {
  const legal = name.replace(rule.illegal, '_')
  // A name of which nothing readable is left says nothing to a model, and is likely to meet another such.
  if (!/[A-Za-z0-9]/.test(legal)) return `tool_${shortHash(name, HASH)}`
  return rule.first === undefined || rule.first.test(legal) ? legal : `_${legal}`
}

function distinct(name: string, rule: NameRule, taken: ReadonlySet<string>): string {
  const legal = withLegalChars(name, rule)
  for (let length = HASH; ; length++) {
    const wire = marked(legal, name, rule, length)
    if (!taken.has(wire)) return wire
  }
}

/** Puts a hash of the original at the end, or, where the name is too long, in the place of its middle. */
function marked(legal: string, name: string, rule: NameRule, length: number): string {
  const hash = shortHash(name, length)
  if (legal.length + 1 + length <= rule.max) return `${legal}_${hash}`
  const head = Math.min(28, rule.max - length - 2)
  const tail = Math.max(0, rule.max - head - length - 2)
  return `${legal.slice(0, head)}_${hash}_${tail > 0 ? legal.slice(-tail) : ''}`
}
