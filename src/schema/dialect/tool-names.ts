import { base36Hash } from '../hash.ts'

export interface ToolNameRule {
  readonly pattern: RegExp
  readonly maxLength: number
  readonly illegalChars: RegExp
  /** For the first character, if its rule is stricter. */
  readonly firstChar?: RegExp
}

/**
 * Maps names to legal ones, all different, so that the map is reversible. Legal names stay; how another name is changed
 * depends on the rest only in a collision.
 */
export function toLegalToolNames(names: readonly string[], rule: ToolNameRule): Map<string, string> {
  const originals = [...new Set(names)]
  const unchanged = new Set(originals.filter((name) => isLegalName(name, rule)))
  const nameCounts = new Map<string, number>()
  for (const name of originals) {
    const wireName = toLegalName(name, rule)
    nameCounts.set(wireName, (nameCounts.get(wireName) ?? 0) + 1)
  }
  const taken = new Set(unchanged)
  const out = new Map<string, string>()
  for (const name of originals) {
    const wireName = toLegalName(name, rule)
    const isUnique = nameCounts.get(wireName) === 1 && !taken.has(wireName)
    const legalName = unchanged.has(name) || isUnique ? wireName : makeUniqueName(name, rule, taken)
    taken.add(legalName)
    out.set(name, legalName)
  }
  return out
}

export function toUndeclaredName(name: string, rule: ToolNameRule, taken: ReadonlySet<string>): string {
  const wireName = toLegalName(name, rule)
  return taken.has(wireName) ? makeUniqueName(name, rule, taken) : wireName
}

/** Gemini CLI's rule: odd characters become `_`, and over 63 characters the middle is cut. */
export function generateValidName(name: string): string {
  const legal = name.replace(/[^A-Za-z0-9_.-]/g, '_')
  return legal.length > 63 ? `${legal.slice(0, 28)}___${legal.slice(-32)}` : legal
}

/** OpenAI and compatible services. */
export const OPENAI_TOOL_NAME_RULE: ToolNameRule = {
  pattern: /^[A-Za-z0-9_-]{1,64}$/,
  maxLength: 64,
  illegalChars: /[^A-Za-z0-9_-]/g,
}

export const ANTHROPIC_TOOL_NAME_RULE: ToolNameRule = {
  pattern: /^[A-Za-z0-9_-]{1,128}$/,
  maxLength: 128,
  illegalChars: /[^A-Za-z0-9_-]/g,
}

/** The older length limit, which every version of the service accepts. */
export const GEMINI_TOOL_NAME_RULE: ToolNameRule = {
  pattern: /^[A-Za-z_][A-Za-z0-9_.-]{0,62}$/,
  maxLength: 63,
  illegalChars: /[^A-Za-z0-9_.-]/g,
  firstChar: /^[A-Za-z_]/,
}

const HASH_LENGTH = 6

function isLegalName(name: string, rule: ToolNameRule): boolean {
  return name.length <= rule.maxLength && rule.pattern.test(name)
}

/** A shortened name gets a hash, since others may be shortened to the same. */
function toLegalName(name: string, rule: ToolNameRule): string {
  if (isLegalName(name, rule)) return name
  const legal = replaceIllegalChars(name, rule)
  return legal.length > rule.maxLength ? insertHash(legal, name, rule, HASH_LENGTH) : legal
}

function replaceIllegalChars(name: string, rule: ToolNameRule): string {
  const legal = name.replace(rule.illegalChars, '_')
  // A name without any letter or digit says nothing to a model, and is likely to collide.
  if (!/[A-Za-z0-9]/.test(legal)) return `tool_${base36Hash(name, HASH_LENGTH)}`
  return rule.firstChar === undefined || rule.firstChar.test(legal) ? legal : `_${legal}`
}

function makeUniqueName(name: string, rule: ToolNameRule, taken: ReadonlySet<string>): string {
  const legal = replaceIllegalChars(name, rule)
  for (let length = HASH_LENGTH; ; length++) {
    const wireName = insertHash(legal, name, rule, length)
    if (!taken.has(wireName)) return wireName
  }
}

/** At the end, or in place of the middle if the name is too long. */
function insertHash(legal: string, name: string, rule: ToolNameRule, length: number): string {
  const hash = base36Hash(name, length)
  if (legal.length + 1 + length <= rule.maxLength) return `${legal}_${hash}`
  const head = Math.min(28, rule.maxLength - length - 2)
  const tail = Math.max(0, rule.maxLength - head - length - 2)
  return `${legal.slice(0, head)}_${hash}_${tail > 0 ? legal.slice(-tail) : ''}`
}
