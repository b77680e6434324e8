/**
 * Pairs each missing name with the one given name that must have been meant for it: the same letters in another case
 * or with other separators, or else at most two typing errors in a name long enough to bear them. Any doubt, no pair.
 */
export function matchSimilarNames(missing: readonly string[], available: readonly string[]): Map<string, string> {
  const pairs = new Map<string, string>()
  for (const isSimilar of [hasSameLetters, isWithinEditDistance]) {
    const unmatched = missing.filter((name) => !pairs.has(name))
    const unused = available.filter((name) => ![...pairs.values()].includes(name))
    for (const name of unmatched) {
      const candidates = unused.filter((other) => isSimilar(name, other))
      const [only] = candidates
      if (only === undefined || candidates.length > 1) continue
      if (unmatched.filter((other) => isSimilar(other, only)).length === 1) pairs.set(name, only)
    }
  }
  return pairs
}

const MAX_EDIT_DISTANCE = 2

function hasSameLetters(a: string, b: string): boolean {
  const letters = (name: string): string => name.replace(/[^\p{L}\p{N}]/gu, '').toLowerCase()
  return letters(a) !== '' && letters(a) === letters(b)
}

/** Half the letters of a short name may differ and it is still within two errors: `src` and `dst` are not near. */
function isWithinEditDistance(a: string, b: string): boolean {
  const errors = editDistance(a, b)
  return errors <= MAX_EDIT_DISTANCE && errors < Math.min(a.length, b.length) / 2
}

/** Levenshtein's distance; anything beyond the limit may come back as any number above it. */
function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > MAX_EDIT_DISTANCE) return MAX_EDIT_DISTANCE + 1
  let row = Array.from({ length: b.length + 1 }, (_unused, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same))
    }
    row = next
  }
  return row[b.length] ?? 0
}
