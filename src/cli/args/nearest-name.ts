/** The name that a mistyped word was probably meant for; undefined if two names are equally near. */
export function findNearestName(word: string, names: readonly string[]): string | undefined {
  const [first, second] = listNearestNames(word, names)
  return second === undefined ? first : undefined
}

/** The names with the fewest typing errors: at most two, and fewer than half of the letters. */
export function listNearestNames(word: string, names: readonly string[]): string[] {
  const near = names
    .map((name) => ({ name, errors: typingErrors(word.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, errors }) => errors <= 2 && errors < Math.min(word.length, name.length) / 2)
  const fewest = Math.min(...near.map(({ errors }) => errors))
  return near.flatMap(({ name, errors }) => (errors === fewest ? [name] : []))
}

/** The Damerau–Levenshtein distance: letters that are missing, extra, different, or swapped. */
function typingErrors(a: string, b: string): number {
  let [before, row]: number[][] = [[], Array.from({ length: b.length + 1 }, (_unused, at) => at)]
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const other = a[i - 1] === b[j - 1] ? 0 : 1
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwap ? (before?.[j - 2] ?? 0) + 1 : Infinity
      next.push(Math.min((row?.[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row?.[j - 1] ?? 0) + other, swapped))
    }
    ;[before, row] = [row, next]
  }
  return row?.[b.length] ?? 0
}
