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
  readonly inputIncludesCache: boolean
  /** Does the vendor's `output` count reasoning tokens too? Some who speak the same wire count them apart; their total shows it. */
  readonly outputIncludesReasoning: boolean
  readonly total?: unknown
}

export function sumTokens({ input, cacheRead, cacheWrite, output, reasoning }: Usage): number {
  return input + cacheRead + cacheWrite + output + reasoning
}

/** Makes buckets that do not overlap out of whatever a vendor reported: NaN, null, negative and contradictory counts included (T116). */
export function normalizeUsage(report: UsageReport): Usage {
  const cacheRead = toTokenCount(report.cacheRead)
  const cacheWrite = toTokenCount(report.cacheWrite)
  const reasoning = toTokenCount(report.reasoning)
  const input = toTokenCount(report.input)
  const output = toTokenCount(report.output)
  const isReasoningSeparate =
    reasoning > output || (reasoning > 0 && toTokenCount(report.total) === input + output + reasoning)
  return {
    input: report.inputIncludesCache ? Math.max(0, input - cacheRead - cacheWrite) : input,
    cacheRead,
    cacheWrite,
    output: report.outputIncludesReasoning && !isReasoningSeparate ? output - reasoning : output,
    reasoning,
  }
}

/** A usage that was written down; undefined where there is none. */
export function parseUsage(json: unknown): Usage | undefined {
  if (typeof json !== 'object' || json === null) return undefined
  const { input, cacheRead, cacheWrite, output, reasoning } = json as Record<string, unknown>
  return {
    input: toTokenCount(input),
    cacheRead: toTokenCount(cacheRead),
    cacheWrite: toTokenCount(cacheWrite),
    output: toTokenCount(output),
    reasoning: toTokenCount(reasoning),
  }
}

function toTokenCount(value: unknown): number {
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
