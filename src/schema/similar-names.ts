import { editDistance } from '../model/edit-distance.ts'

/**
 * Pairs each missing name with the one available name that was meant: the same letters in another case or with other
 * separators, or at most two typing errors. An ambiguous name gets no pair.
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

/** In a short name, two errors are half of the letters: `src` and `dst` are not similar. */
function isWithinEditDistance(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > MAX_EDIT_DISTANCE) return false
  const errors = editDistance(a, b)
  return errors <= MAX_EDIT_DISTANCE && errors < Math.min(a.length, b.length) / 2
}
