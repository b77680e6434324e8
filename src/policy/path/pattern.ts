/**
 * A path as steps between slashes, each as a forgiving disk reads it: case does not count, nor do the spellings by which
 * some disks hide a name. A backslash may be a slash too, on some systems.
 */
export function stepsIn(path: string): string[] {
  return path
    .split(/[/\\]/)
    .filter((step) => step !== '' && step !== '.')
    .map(folded)
}

/** Does a path match a pattern? `*` and `?` stand for characters of one step, `**` for any number of steps, also none. */
export function matchesPath(steps: readonly string[], pattern: string): boolean {
  return matches(steps, patternSteps(pattern))
}

/** Does a path match a pattern from some step on? So `.git/hooks/**` also matches `sub/.git/hooks/pre-commit`. */
export function matchesSomewhere(steps: readonly string[], pattern: string): boolean {
  const wanted = patternSteps(pattern)
  return steps.some((_, at) => matches(steps.slice(at), wanted))
}

const known = new Map<string, readonly string[]>()

function patternSteps(pattern: string): readonly string[] {
  const steps = known.get(pattern) ?? stepsIn(pattern)
  if (known.size < 1000) known.set(pattern, steps)
  return steps
}

function matches(names: readonly string[], pattern: readonly string[]): boolean {
  const [first, ...rest] = pattern
  if (first === undefined) return names.length === 0
  if (first === '**') {
    return rest.length === 0 || Array.from({ length: names.length + 1 }).some((_, at) => matches(names.slice(at), rest))
  }
  const [name, ...others] = names
  return name !== undefined && isLike(name, first) && matches(others, rest)
}

/** Does a name match `*` and `?`? */
export function isLike(name: string, pattern: string): boolean {
  if (!/[*?]/.test(pattern)) return name === pattern
  const matcher = matchers.get(pattern) ?? matcherOf(pattern)
  if (matchers.size < 1000) matchers.set(pattern, matcher)
  return matcher.test(name)
}

const matchers = new Map<string, RegExp>()

function matcherOf(pattern: string): RegExp {
  const source = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`^${source.replace(/\*+/g, '[^]*').replace(/\?/g, '[^]')}$`, 'u')
}

/** A name as a forgiving disk reads it: without case, blanks and dots at its end, streams, and the short form of `.git`. */
function folded(step: string): string {
  const name = step
    .normalize('NFC')
    .toLowerCase()
    .replace(/:.*$/s, '')
    .replace(/(?<=[^. ])[. ]+$/, '')
  return /^git~\d$/.test(name) ? '.git' : name
}
