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
  return matchesSegments(segments, patternSegments(pattern))
}

/** A pattern may match from any segment on: `.git/hooks/**` also matches `sub/.git/hooks/pre-commit`. */
export function matchesPathSuffix(segments: readonly string[], pattern: string): boolean {
  const wanted = patternSegments(pattern)
  // Without `**` it has the length of what it matches.
  if (!wanted.includes('**')) return matchesSegments(segments.slice(-wanted.length), wanted)
  return segments.some((_, index) => matchesSegments(segments.slice(index), wanted))
}

const segmentCache = new Map<string, readonly string[]>()

function patternSegments(pattern: string): readonly string[] {
  const segments = segmentCache.get(pattern) ?? toPathSegments(pattern)
  if (segmentCache.size < 1000) segmentCache.set(pattern, segments)
  return segments
}

function matchesSegments(names: readonly string[], pattern: readonly string[]): boolean {
  return matchesWildcards(names, pattern, '**', matchesGlob)
}

export function matchesGlob(name: string, pattern: string): boolean {
  if (!/[*?]/.test(pattern)) return name === pattern
  // Fast path: most patterns have one star, and they are compared with very many names.
  const star = pattern.indexOf('*')
  if (star >= 0 && pattern.indexOf('*', star + 1) < 0 && !pattern.includes('?')) {
    const isLong = name.length >= pattern.length - 1
    return isLong && name.startsWith(pattern.slice(0, star)) && name.endsWith(pattern.slice(star + 1))
  }
  return matchesWildcards(Array.from(name), Array.from(pattern), '*', (one, wanted) => wanted === '?' || one === wanted)
}

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
