/** Tokens of one turn in buckets that never overlap: their sum is the whole, and nobody downstream subtracts. */
export interface Usage {
  /** Read fresh, neither from nor into a cache. */
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** Written, reasoning not counted. */
  readonly output: number
  readonly reasoning: number
}

/** The counts as a vendor gives them, before anyone has decided what includes what. */
export interface UsageReport {
  readonly input?: unknown
  readonly cacheRead?: unknown
  readonly cacheWrite?: unknown
  readonly output?: unknown
  readonly reasoning?: unknown
  /** Does the vendor's `input` count cached tokens too? */
  readonly inputHoldsCache: boolean
  /** Does the vendor's `output` count reasoning tokens too? Some who speak the same wire count them apart; their total shows it. */
  readonly outputHoldsReasoning: boolean
  readonly total?: unknown
}

/** Makes buckets that do not overlap out of whatever a vendor reported: NaN, null, negative and contradictory counts included (T116). */
export function usageFrom(report: UsageReport): Usage {
  const cacheRead = count(report.cacheRead)
  const cacheWrite = count(report.cacheWrite)
  const reasoning = count(report.reasoning)
  const input = count(report.input)
  const output = count(report.output)
  const apart = reasoning > output || (reasoning > 0 && count(report.total) === input + output + reasoning)
  return {
    input: report.inputHoldsCache ? Math.max(0, input - cacheRead - cacheWrite) : input,
    cacheRead,
    cacheWrite,
    output: report.outputHoldsReasoning && !apart ? output - reasoning : output,
    reasoning,
  }
}

/** A usage that was written down; undefined where there is none. */
export function usageIn(json: unknown): Usage | undefined {
  if (typeof json !== 'object' || json === null) return undefined
  const { input, cacheRead, cacheWrite, output, reasoning } = json as Record<string, unknown>
  return {
    input: count(input),
    cacheRead: count(cacheRead),
    cacheWrite: count(cacheWrite),
    output: count(output),
    reasoning: count(reasoning),
  }
}

function count(value: unknown): number {
  const number = typeof value === 'string' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) && number > 0 ? Math.round(number) : 0
}

/** Nothing used. */
export const NO_USAGE: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }

/** Two usages together. */
export function addUsage(one: Usage, other: Usage): Usage {
  return {
    input: one.input + other.input,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
    output: one.output + other.output,
    reasoning: one.reasoning + other.reasoning,
  }
}
