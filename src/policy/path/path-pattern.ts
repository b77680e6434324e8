/**
 * A path as steps between slashes, each as a forgiving disk reads it: case does not count, nor do the spellings by which
 * some disks hide a name. A backslash may be a slash too, on some systems.
 */
export function toPathSegments(path: string): string[] {
  return path
    .split(/[/\\]/)
    .filter((segment) => segment !== '' && segment !== '.')
    .map(foldSegment)
}

/** Does a path match a pattern? `*` and `?` stand for characters of one step, `**` for any number of steps, also none. */
export function matchesPathPattern(segments: readonly string[], pattern: string): boolean {
  return matchesSegments(segments, patternSegments(pattern))
}

/** Does a path match a pattern from some step on? So `.git/hooks/**` also matches `sub/.git/hooks/pre-commit`. */
export function matchesPathSuffix(segments: readonly string[], pattern: string): boolean {
  const wanted = patternSegments(pattern)
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

/** Does a name match `*` and `?`? */
export function matchesGlob(name: string, pattern: string): boolean {
  if (!/[*?]/.test(pattern)) return name === pattern
  // Most patterns have one star, and very many names are compared with them.
  const star = pattern.indexOf('*')
  if (star >= 0 && pattern.indexOf('*', star + 1) < 0 && !pattern.includes('?')) {
    const isLong = name.length >= pattern.length - 1
    return isLong && name.startsWith(pattern.slice(0, star)) && name.endsWith(pattern.slice(star + 1))
  }
  return matchesWildcards(Array.from(name), Array.from(pattern), '*', (one, wanted) => wanted === '?' || one === wanted)
}

/**
 * Does a row match a pattern in which a sign stands for any number of items? Only the last such sign is ever tried again with
 * one item more, so that a pattern which somebody made to be slow is not.
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

/** A name as a forgiving disk reads it: without case, blanks and dots at its end, streams, and the short form of `.git`. */
function foldSegment(segment: string): string {
  const name = segment
    .normalize('NFC')
    .toLowerCase()
    .replace(/:.*$/s, '')
    .replace(/(?<=[^. ])[. ]+$/, '')
  return /^git~\d$/.test(name) ? '.git' : name
}
