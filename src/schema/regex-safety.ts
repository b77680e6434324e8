import { tryOrUndefined } from '../model/try-or-undefined.ts'

/**
 * Checks a pattern of unknown origin: it must compile, and must not take exponential time. `source` is for a regular
 * expression with the `u` flag.
 */
export function checkRegexSafety(pattern: string): { source: string } | { problem: string } {
  const source = [pattern, removeLegacyEscapes(pattern)].find(isValidRegExp)
  if (source === undefined) return { problem: 'is not a valid regular expression' }
  if (source.length > MAX_PATTERN_CHARS) return { problem: 'is too long to be checked' }
  return mayBacktrackExponentially(source)
    ? { problem: 'may need exponential time to match, and is not checked' }
    : { source }
}

/** Is the pattern anchored at both ends, and made only of literals, classes, plain groups and small repeats? */
export function isSimplePattern(pattern: string, maxRepeat: number): boolean {
  if (!pattern.startsWith('^') || !/(?<!\\)\$$/.test(pattern) || !isValidRegExp(pattern)) return false
  const inner = pattern.slice(1, -1)
  let repeatedBefore = false
  let groups = 0
  for (let at = 0; at < inner.length;) {
    SIMPLE_TOKEN.lastIndex = at
    const token = SIMPLE_TOKEN.exec(inner)
    if (token === null) return false
    const repeated = /^[*+?{]/.test(token[0])
    if (repeated && repeatedBefore) return false
    if (Number(token[1] ?? 0) > maxRepeat || Number(token[2] ?? 0) > maxRepeat) return false
    repeatedBefore = repeated
    if (token[0] === '(') groups++
    if (token[0] === ')') groups--
    // Outside a group, each alternative would be anchored at one end only.
    if (token[0] === '|' && groups === 0) return false
    at += token[0].length
  }
  return true
}

/** An escaped character, a class, a repeat, a plain group, an alternative, or a literal character. */
const SIMPLE_TOKEN =
  /\\[^A-Za-z0-9]|\[\^?(?:[^\\[\]]|\\[^A-Za-z0-9])+\]|[*+?]|\{(\d+)(?:,(\d*))?\}|\((?!\?)|[^\\[\](){}^$*+?]|\)/y

const MAX_PATTERN_CHARS = 2000

function isValidRegExp(source: string): boolean {
  return tryOrUndefined(() => new RegExp(source, 'u') instanceof RegExp) ?? false
}

/** Patterns of other languages escape more than the `u` flag allows; such an escape means the character itself. */
function removeLegacyEscapes(pattern: string): string {
  let out = ''
  let inClass = false
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern.charAt(i)
    if (char === '\\') {
      const next = pattern.charAt(++i)
      const isNeedless = /[^A-Za-z0-9^$\\.*+?()[\]{}|/]/.test(next) && !(inClass && next === '-')
      out += isNeedless ? next : `\\${next}`
      continue
    }
    if (char === '[') inClass = true
    if (char === ']') inClass = false
    const nearClass = /\\[wdsWDS]$/.test(out) || /^\\[wdsWDS]/.test(pattern.slice(i + 1))
    out += char === '-' && inClass && nearClass ? '\\-' : char
  }
  return out.replaceAll('(?P<', '(?<')
}

/**
 * Matching takes exponential time where a repeated group can match the same text in two ways: with a repeat inside it,
 * or with alternatives that may start alike. Some harmless patterns are found, too.
 */
function mayBacktrackExponentially(source: string): boolean {
  const simplified = source
    .replace(/\\./gsu, WILDCARD)
    .replace(/\[[^\]]*\]/g, WILDCARD)
    .replace(/\(\?(?:[:=!]|<[^>]*>|<[=!])/g, '(')
  const open: PatternGroup[] = []
  for (let i = 0; i < simplified.length; i++) {
    const char = simplified.charAt(i)
    const inner = char === ')' ? open.pop() : undefined
    const enclosing = open.at(-1)
    if (char === '|') enclosing?.starts.push(simplified.charAt(i + 1))
    if (char === '(') open.push({ repeats: false, starts: [simplified.charAt(i + 1)] })
    const repeated = isRepeated(simplified.slice(i + 1, i + 16))
    if (inner !== undefined && repeated && (inner.repeats || mayStartAlike(inner.starts))) return true
    if (enclosing !== undefined && char !== '(' && (repeated || inner?.repeats === true)) enclosing.repeats = true
  }
  return false
}

/** Stands for any class or escape. */
const WILDCARD = '\u0001'

interface PatternGroup {
  repeats: boolean
  /** The first character of each alternative. */
  starts: string[]
}

function isRepeated(after: string): boolean {
  const found = /^(?:[*+]|\{(\d+),(\d*)\})/.exec(after)
  return found !== null && (found[1] === undefined || found[2] === '' || Number(found[2]) > MAX_NESTED_REPEAT)
}

function mayStartAlike(starts: readonly string[]): boolean {
  const hasWildcardStart = starts.some((start) => start === WILDCARD || start === '.' || start === '(' || start === '')
  return starts.length > 1 && (hasWildcardStart || new Set(starts).size < starts.length)
}

const MAX_NESTED_REPEAT = 10
