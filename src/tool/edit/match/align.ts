/** Pairs of line numbers of two lists, both ascending. */
export type LinePairs = readonly (readonly [left: number, right: number])[]

/** Pairs lines so that the total weight is highest. A weight of 0 means no pair. */
export function alignByWeight(
  left: readonly string[],
  right: readonly string[],
  weigh: (left: string, right: string) => number,
): LinePairs {
  const width = right.length + 1
  const best = new Float64Array((left.length + 1) * width)
  const weights = new Float64Array((left.length + 1) * width)
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      const at = i * width + j
      const weight = weigh(left[i] ?? '', right[j] ?? '')
      weights[at] = weight
      const skip = Math.max(best[at + width] ?? 0, best[at + 1] ?? 0)
      best[at] = weight > 0 ? Math.max(skip, weight + (best[at + width + 1] ?? 0)) : skip
    }
  }
  const pairs: [number, number][] = []
  let i = 0
  let j = 0
  while (i < left.length && j < right.length) {
    const at = i * width + j
    const weight = weights[at] ?? 0
    if (weight > 0 && best[at] === weight + (best[at + width + 1] ?? 0)) pairs.push([i++, j++])
    else if ((best[at + width] ?? 0) >= (best[at + 1] ?? 0)) i++
    else j++
  }
  return pairs
}
