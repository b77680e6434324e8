/** One thing to be timed, given what it needs. */
export interface Contender {
  readonly name: string
  readonly run: () => unknown
}

/** The median time of each contender in milliseconds. They take turns, so that a busy moment of the machine hits all of them. */
export function measure(contenders: readonly Contender[], rounds = 15): number[] {
  const times = contenders.map((): number[] => [])
  for (const { run } of contenders) run()
  for (let round = 0; round < rounds; round++) {
    for (const [at, { run }] of contenders.entries()) {
      const before = process.hrtime.bigint()
      run()
      times[at]?.push(Number(process.hrtime.bigint() - before) / 1e6)
    }
  }
  return times.map(median)
}

/** The value in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
