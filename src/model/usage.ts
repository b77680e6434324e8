import { isObject } from './json.ts'

/** The tokens of one turn. The counts do not overlap: their sum is the total. */
export interface Usage {
  /** Neither read from nor written to a cache. */
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** Without reasoning. */
  readonly output: number
  readonly reasoning: number
}

/** Why the vendor could not read the prompt from its cache, as it says. */
export interface CacheDiagnosis {
  /** The vendor's own label, such as `tools_changed`. */
  readonly reason: string
  /** The tokens that could have been read from the cache. */
  readonly missedTokens?: number
}

/** The counts as a vendor reports them. */
export interface UsageReport {
  readonly input?: unknown
  readonly cacheRead?: unknown
  readonly cacheWrite?: unknown
  readonly output?: unknown
  readonly reasoning?: unknown
  /** Does the vendor's `input` count cached tokens too? */
  readonly inputIncludesCache: boolean
  /** Does the vendor's `output` count reasoning tokens too? Some endpoints of the same wire do not; their total shows it. */
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

/** Reads a usage from a log; undefined if there is none. */
export function parseUsage(json: unknown): Usage | undefined {
  return isObject(json) ? mapUsage((bucket) => toTokenCount(json[bucket])) : undefined
}

function toTokenCount(value: unknown): number {
  const number = typeof value === 'string' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) && number > 0 ? Math.round(number) : 0
}

export const NO_USAGE: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }

export function addUsage(one: Usage, other: Usage): Usage {
  return mapUsage((bucket) => one[bucket] + other[bucket])
}

function mapUsage(count: (bucket: keyof Usage) => number): Usage {
  return {
    input: count('input'),
    cacheRead: count('cacheRead'),
    cacheWrite: count('cacheWrite'),
    output: count('output'),
    reasoning: count('reasoning'),
  }
}
