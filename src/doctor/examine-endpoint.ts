import type { Fault } from '../model/fault.ts'
import { sumTokens } from '../model/usage.ts'
import {
  systemClock,
  type Capabilities,
  createHttpClient,
  isLoopback,
  toDisplayUrl,
  type Endpoint,
  type Timeouts,
} from '../provider/index.ts'
import { createBudgetLedger } from '../provider/optional-middleware.ts'
import type { Probe, ProbeStatus } from './probes/probe.ts'
import { PROBES, ESSENTIAL_PROBES } from './probes/all-probes.ts'
import { TEXT_REQUEST } from './probes/probe-helpers.ts'
import type { ProbeExchange } from './probe-exchange.ts'
import { type QuirkFinding, detectQuirks } from './quirks/quirk-detectors.ts'
import { type ProbeRunner, type ProbeRunnerOptions, createProbeRunner } from './probe-runner.ts'
import { defined } from '../model/defined.ts'

/** The settings of an examination; all but `newId` have a default. */
export interface ExaminationOptions
  extends Pick<ProbeRunnerOptions, 'newId'>, Partial<Omit<ProbeRunnerOptions, 'newId' | 'target' | 'ledger'>> {
  /** The token budget of the whole examination. */
  readonly maxTokens?: number
  /** How many probes run at the same time. */
  readonly concurrency?: number
  readonly onProbeFinished?: (one: ProbeReport) => void
}

export interface ProbeReport {
  readonly id: number
  readonly title: string
  readonly taught: string
  readonly how: NonNullable<Probe['mode']>
  readonly status: ProbeStatus
  readonly said: string
  /** What the user can do. */
  readonly advice?: string
  readonly seconds: number
  readonly tokens: number
}

export interface ExaminationReport {
  readonly provider: string
  readonly model: string
  readonly wire: string
  readonly url: string
  /** Can tools be used with this endpoint? */
  readonly usable: boolean
  readonly behaviours: readonly ProbeReport[]
  readonly findings: readonly QuirkFinding[]
  /** The profile flags that differ from the known ones. */
  readonly learnt: Capabilities
  readonly tokens: number
  readonly seconds: number
  /** Why the endpoint could not be examined. */
  readonly dead?: Fault
}

/** Runs every probe against an endpoint, and inspects every byte of its responses. */
export async function examineEndpoint(target: Endpoint, options: ExaminationOptions): Promise<ExaminationReport> {
  const clock = options.clock ?? systemClock
  const startedAt = clock.now()
  const ledger = createBudgetLedger({ tokens: options.maxTokens ?? DEFAULT_MAX_TOKENS }, () => undefined)
  const isLocal = target.provider.port !== undefined || isLoopback(new URL(target.baseUrl).hostname)
  const runner = createProbeRunner({
    target,
    httpClient: options.httpClient ?? createHttpClient(process.env),
    clock,
    retryClock: options.retryClock ?? clock,
    timeouts: { ...DEFAULT_TIMEOUTS_MS, ...options.timeouts },
    ledger,
    maxAttempts: options.maxAttempts ?? 3,
    maxResponseTokens: options.maxResponseTokens ?? DEFAULT_MAX_RESPONSE_TOKENS,
    newId: options.newId,
  })
  const findings = new Map<string, QuirkFinding>()
  const probeReports: ProbeReport[] = []

  async function runProbe(probe: Probe): Promise<ProbeExchange[]> {
    const { id, title, failureIds, mode = 'live', advice, expectedQuirks } = probe
    const { context, exchanges, usage } = runner.openContext()
    const probeStartedAt = clock.now()
    const { status, message, capabilities } = await probe.run(context)
    if (capabilities) runner.learnCapabilities(capabilities)
    const quirkOptions = { isFirstExchange: id === 1, ...defined({ expectedQuirks }) }
    for (const finding of exchanges.flatMap((exchange) => detectQuirks(exchange, target.wire, quirkOptions)))
      if (!findings.has(finding.id)) findings.set(finding.id, finding)
    const one: ProbeReport = {
      id,
      title,
      taught: failureIds,
      how: mode,
      status,
      said: message,
      ...(status === 'fails' && { advice }),
      seconds: (clock.now() - probeStartedAt) / 1000,
      tokens: sumTokens(usage()),
    }
    probeReports.push(one)
    options.onProbeFinished?.(one)
    return [...exchanges]
  }

  const report = (dead?: Fault): ExaminationReport => ({
    provider: target.provider.id,
    model: target.model,
    wire: target.wire,
    url: toDisplayUrl(target.baseUrl),
    usable: PROBES.filter(({ isRequired }) => isRequired).every(({ id }) =>
      probeReports.some((one) => one.id === id && (one.status === 'passes' || one.status === 'degraded')),
    ),
    behaviours: probeReports.sort((one, other) => one.id - other.id),
    findings: [...findings.values()],
    learnt: runner.learnedCapabilities,
    tokens: ledger.spent.tokens,
    seconds: (clock.now() - startedAt) / 1000,
    ...defined({ dead }),
  })

  // The other probes use the exchanges of these two.
  const [text, call] = ESSENTIAL_PROBES
  const fault = (await runProbe(text)).at(-1)?.fault
  if (fault && !(await worksWithoutStreaming(runner, fault))) return report(fault)
  await runProbe(call)
  const rest = PROBES.filter((one) => one !== text && one !== call)
  await runConcurrently(rest, options.concurrency ?? (isLocal ? 1 : 4), runProbe)
  if (findings.has('think-in-text') && target.profile.think !== true) runner.learnCapabilities({ think: true })
  return report()
}

/** Enough for all probes, and cheap. */
const DEFAULT_MAX_TOKENS = 80_000

/** Enough for a short response of a model that reasons first. */
const DEFAULT_MAX_RESPONSE_TOKENS = 2000

/** Shorter than in a session: an examination should not take an hour. */
const DEFAULT_TIMEOUTS_MS: Timeouts = { firstByte: 90_000, idle: 45_000, quiet: 60_000, lifetime: 180_000 }

/** If the streams of a server break, its responses are requested whole from here on. */
async function worksWithoutStreaming(runner: ProbeRunner, fault: Fault): Promise<boolean> {
  const isStreamBroken =
    fault.kind === 'decode' || (fault.kind === 'transport' && (fault.code ?? 'ECONNRESET') === 'ECONNRESET')
  if (!isStreamBroken || fault.status !== undefined) return false
  const { context } = runner.openContext()
  const wholeResponse = await context.send({ ...TEXT_REQUEST, params: { stream: false } })
  if (wholeResponse.fault || wholeResponse.text === '') return false
  runner.learnCapabilities({ stream: false })
  return true
}

async function runConcurrently<T>(items: readonly T[], workers: number, work: (item: T) => Promise<unknown>) {
  const queue = items.values()
  const worker = async (): Promise<void> => {
    for (const item of queue) await work(item)
  }
  await Promise.all(Array.from({ length: workers }, worker))
}
