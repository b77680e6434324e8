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
  return matchesRun(names, pattern, '**', isLike)
}

/** Does a name match `*` and `?`? */
export function isLike(name: string, pattern: string): boolean {
  if (!/[*?]/.test(pattern)) return name === pattern
  // Most patterns have one star, and very many names are compared with them.
  const star = pattern.indexOf('*')
  if (star >= 0 && pattern.indexOf('*', star + 1) < 0 && !pattern.includes('?')) {
    const isLong = name.length >= pattern.length - 1
    return isLong && name.startsWith(pattern.slice(0, star)) && name.endsWith(pattern.slice(star + 1))
  }
  return matchesRun(Array.from(name), Array.from(pattern), '*', (one, wanted) => wanted === '?' || one === wanted)
}

/**
 * Does a row match a pattern in which a sign stands for any number of items? Only the last such sign is ever tried again with
 * one item more, so that a pattern which somebody made to be slow is not.
 */
function matchesRun(
  row: readonly string[],
  pattern: readonly string[],
  any: string,
  isItem: (item: string, wanted: string) => boolean,
): boolean {
  let [at, wanted] = [0, 0]
  let again: { at: number; wanted: number } | undefined
  while (at < row.length) {
    const sign = pattern[wanted]
    if (sign === any) {
      again = { at, wanted: ++wanted }
      continue
    }
    if (sign !== undefined && isItem(row[at] ?? '', sign)) {
      at++
      wanted++
      continue
    }
    if (!again) return false
    again = { at: again.at + 1, wanted: again.wanted }
    ;({ at, wanted } = again)
  }
  while (pattern[wanted] === any) wanted++
  return wanted === pattern.length
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
