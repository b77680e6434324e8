/** One thing to be timed, given what it needs. */
export interface BenchmarkCase {
  readonly name: string
  readonly run: () => unknown
}

/** What was measured: the median processor time of each contender in milliseconds, and how two of them compare. */
export interface Measurement {
  readonly medianTimes: readonly number[]
  /** The median of the ratios of each round: a busy moment of the machine hits both sides of a round, and cancels out. */
  ratio(of: number, to: number): number
}

/** Times the contenders, who take turns. It counts processor time, so that other work on the machine does not count. */
export function measureCpuTime(contenders: readonly BenchmarkCase[], rounds = 25): Measurement {
  const times = contenders.map((): number[] => [])
  for (let warm = 0; warm < 3; warm++) for (const { run } of contenders) run()
  for (let round = 0; round < rounds; round++) {
    for (const [at, { run }] of contenders.entries()) {
      const before = process.cpuUsage()
      run()
      const { user, system } = process.cpuUsage(before)
      times[at]?.push((user + system) / 1000)
    }
  }
  return {
    medianTimes: times.map(median),
    ratio: (of, to) => median((times[of] ?? []).map((time, round) => time / (times[to]?.[round] ?? Number.NaN))),
  }
}

/** The value in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
