/**
 * Splits a path, and normalizes each segment as lenient file systems do: case, trailing dots and similar spellings are
 * ignored. A backslash counts as a slash.
 */
export function toPathSegments(path: string): string[] {
  return path
    .split(/[/\\]/)
    .filter((segment) => segment !== '' && segment !== '.')
    .map(foldSegment)
}

/** `*` and `?` match characters of one segment, `**` matches any number of segments, including none. */
export function matchesPathPattern(segments: readonly string[], pattern: string): boolean {
  return matchesSegments(segments, compilePattern(pattern).segments)
}

/** A pattern may match from any segment on: `.git/hooks/**` also matches `sub/.git/hooks/pre-commit`. */
export function matchesPathSuffix(segments: readonly string[], pattern: string): boolean {
  const { segments: wanted, isAnyDepth, isKey } = compilePattern(pattern)
  // Without `**` it has the length of what it matches.
  if (!isAnyDepth) return isKey(segments.at(-1) ?? '') && matchesSegments(segments.slice(-wanted.length), wanted)
  return segments.some((name, index) => isKey(name) && matchesSegments(segments.slice(index), wanted))
}

/** Compiled once, because the same patterns are compared with very many paths. */
interface CompiledPattern {
  readonly segments: readonly string[]
  readonly isAnyDepth: boolean
  /** Tests the segment that most paths do not have: the first, or the last if there is no `**`. */
  readonly isKey: (name: string) => boolean
}

const compilePattern = memoize((pattern): CompiledPattern => {
  const segments = toPathSegments(pattern)
  const isAnyDepth = segments.includes('**')
  const key = segments.at(isAnyDepth ? 0 : -1)
  const isKey = key === undefined || key === '**' ? () => true : compileGlob(key)
  return { segments, isAnyDepth, isKey }
})

function matchesSegments(names: readonly string[], pattern: readonly string[]): boolean {
  return matchesWildcards(names, pattern, '**', matchesGlob)
}

export function matchesGlob(name: string, pattern: string): boolean {
  return compileGlob(pattern)(name)
}

const compileGlob = memoize((pattern): ((name: string) => boolean) => {
  if (!/[*?]/.test(pattern)) return (name) => name === pattern
  const star = pattern.indexOf('*')
  if (star >= 0 && pattern.indexOf('*', star + 1) < 0 && !pattern.includes('?')) {
    // Most patterns have one star.
    const [start, end] = [pattern.slice(0, star), pattern.slice(star + 1)]
    return (name) => name.length >= pattern.length - 1 && name.startsWith(start) && name.endsWith(end)
  }
  const characters = Array.from(pattern)
  return (name) =>
    matchesWildcards(Array.from(name), characters, '*', (one, wanted) => wanted === '?' || one === wanted)
})

function memoize<Value extends object>(compile: (pattern: string) => Value): (pattern: string) => Value {
  const known = new Map<string, Value>()
  return (pattern) => {
    const compiled = known.get(pattern) ?? compile(pattern)
    if (known.size < MAX_MEMOIZED) known.set(pattern, compiled)
    return compiled
  }
}

const MAX_MEMOIZED = 1000

/**
 * Matches a pattern in which `any` stands for any number of items. Only the last wildcard is retried, so no pattern
 * can take exponential time.
 */
function matchesWildcards(
  items: readonly string[],
  pattern: readonly string[],
  any: string,
  isItem: (item: string, wanted: string) => boolean,
): boolean {
  let [index, wanted] = [0, 0]
  let retry: { at: number; wanted: number } | undefined
  while (index < items.length) {
    const token = pattern[wanted]
    if (token === any) {
      retry = { at: index, wanted: ++wanted }
      continue
    }
    if (token !== undefined && isItem(items[index] ?? '', token)) {
      index++
      wanted++
      continue
    }
    if (!retry) return false
    retry = { at: retry.at + 1, wanted: retry.wanted }
    ;({ at: index, wanted } = retry)
  }
  while (pattern[wanted] === any) wanted++
  return wanted === pattern.length
}

/** Removes case, trailing spaces and dots, alternate data streams, and the short name of `.git`. */
function foldSegment(segment: string): string {
  const name = segment
    .normalize('NFC')
    .toLowerCase()
    .replace(/:.*$/s, '')
    .replace(/(?<=[^. ])[. ]+$/, '')
  return /^git~\d$/.test(name) ? '.git' : name
}
