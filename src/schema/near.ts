/**
 * Pairs each missing name with the one given name that must have been meant for it: the same letters in another case
 * or with other separators, or else at most two typing errors in a name long enough to bear them. Any doubt, no pair.
 */
export function nearMisses(missing: readonly string[], given: readonly string[]): Map<string, string> {
  const pairs = new Map<string, string>()
  for (const isNear of [sameLetters, fewErrors]) {
    const open = missing.filter((name) => !pairs.has(name))
    const free = given.filter((name) => ![...pairs.values()].includes(name))
    for (const name of open) {
      const near = free.filter((other) => isNear(name, other))
      const [only] = near
      if (only === undefined || near.length > 1) continue
      if (open.filter((other) => isNear(other, only)).length === 1) pairs.set(name, only)
    }
  }
  return pairs
}

const MAX_ERRORS = 2

function sameLetters(a: string, b: string): boolean {
  const letters = (name: string): string => name.replace(/[^\p{L}\p{N}]/gu, '').toLowerCase()
  return letters(a) !== '' && letters(a) === letters(b)
}

/** Half the letters of a short name may differ and it is still within two errors: `src` and `dst` are not near. */
function fewErrors(a: string, b: string): boolean {
  const errors = distance(a, b)
  return errors <= MAX_ERRORS && errors < Math.min(a.length, b.length) / 2
}

/** Levenshtein's distance; anything beyond the limit may come back as any number above it. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > MAX_ERRORS) return MAX_ERRORS + 1
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
