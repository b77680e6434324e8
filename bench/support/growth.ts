import { median } from './measure.ts'
import type { BenchmarkRow } from './report.ts'

/** A piece of work whose size can be chosen. */
export interface GrowthCase {
  readonly label: string
  /** The sizes ×1, ×4 and ×16. */
  readonly sizes: readonly [number, number, number]
  /** Makes ready what the work of a size needs; only the work is measured. */
  readonly prepare: (size: number) => Work | Promise<Work>
  /** `step`: one step beside so much that is there already, which must not cost more for it. Otherwise the size is that of the work. */
  readonly grows?: 'work' | 'step'
  /** For work that is done in part by other processes. */
  readonly isWallTime?: true
  readonly rounds?: number
  readonly maxRatio?: number
}

type Work = () => unknown

/** How much more than in proportion work may cost at sixteen times the size. Twice the size at twice the price for each would give 16. */
const MAX_RATIO = 1.5
const ROUNDS = 3
/** Short work is repeated until it takes this long. */
const MIN_MS = 50

/** The cost at three sizes, in turns. The ratio is 1 for linear work, and 16 for quadratic work. */
export async function measureGrowth(growthCase: GrowthCase): Promise<BenchmarkRow> {
  const { label, sizes, prepare, grows = 'work', rounds = ROUNDS, maxRatio = MAX_RATIO, isWallTime } = growthCase
  const clock = isWallTime ? () => performance.now() : getProcessorTime
  const works: Work[] = []
  for (const size of sizes) works.push(await prepare(size))
  const times = sizes.map((): number[] => [])
  for (let round = -1; round < rounds; round++) {
    for (const [at, work] of works.entries()) {
      const begun = clock()
      let [repeats, ms] = [0, 0]
      for (; ms < MIN_MS && repeats < MAX_REPEATS; ms = clock() - begun) {
        await work()
        repeats++
      }
      if (round >= 0) times[at]?.push(ms / repeats)
    }
  }
  const [first = [], , last = []] = times
  return {
    label: `${label}: ${sizes.map((size) => size.toLocaleString('en')).join(', ')}`,
    figures: times.map((one) => formatMs(median(one))).join(', '),
    // By round, because the speed of a machine changes.
    ratio:
      median(last.map((ms, round) => ms / (first[round] ?? Number.NaN))) / (grows === 'step' ? 1 : sizes[2] / sizes[0]),
    maxRatio,
  }
}

const MAX_REPEATS = 50

/** Of this process, in milliseconds: other work on the machine does not count. */
export function getProcessorTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

function formatMs(ms: number): string {
  return `${ms.toFixed(ms < 1 ? 3 : ms < 100 ? 1 : 0)} ms`
}
