import type { TurnEvent } from '../model/event.ts'
import type { ModelRequest } from '../model/request.ts'
import type { Turn, WireId } from '../model/turn.ts'
import { addUsage, NO_USAGE } from '../model/usage.ts'
import {
  type Clock,
  mergeCapabilities,
  type Capabilities,
  createModel,
  type Endpoint,
  type HttpClient,
  type Timeouts,
  withAdaptation,
  withRetry,
} from '../provider/index.ts'
import { withBudget, type BudgetLedger } from '../provider/optional-middleware.ts'
import { type ProbeExchange, sendProbeRequest } from './probe-exchange.ts'
import { createFixedResponseClient, createRecordingClient, type ResponseTrace } from './recording-client.ts'
import { defined } from '../model/defined.ts'

/** The part of a request that differs between probes. */
export interface ProbeRequest extends Partial<ModelRequest> {
  readonly turns: readonly Turn[]
  /** Sees each event as it comes, and may abort the response. */
  readonly onEvent?: (event: TurnEvent, stop: () => void) => void
}

/** A response that is replayed instead of requested. */
export type FixedResponse = Parameters<typeof createFixedResponseClient>[0]

/** What a probe can do. */
export interface ProbeContext {
  readonly wire: WireId
  readonly capabilities: Capabilities
  send(probeRequest: ProbeRequest): Promise<ProbeExchange>
  /** An exchange that several probes use; it is sent once. */
  sendShared(probeRequest: ProbeRequest): Promise<ProbeExchange>
  /** Sends a request with other flags. If `isBetter`, the flags are kept, and the exchange replaces the shared one. */
  retryWithCapabilities(
    probeRequest: ProbeRequest,
    capabilities: Capabilities,
    isBetter: (exchange: ProbeExchange) => boolean,
  ): Promise<ProbeExchange | undefined>
  /** Decodes a response that did not come over the network, as the response to this exchange's request. */
  replayResponse(exchange: ProbeExchange, answer: FixedResponse): Promise<ProbeExchange>
}

export interface ProbeRunnerOptions {
  readonly target: Endpoint
  readonly httpClient: HttpClient
  readonly clock: Clock
  /** For the waits between attempts, if it differs from `clock`. */
  readonly retryClock: Clock
  readonly timeouts: Partial<Timeouts>
  readonly ledger: BudgetLedger
  /** Including the first attempt. */
  readonly maxAttempts: number
  /** The token limit of one response. */
  readonly maxResponseTokens: number
  /** A new id of letters and digits on each call. */
  readonly newId: () => string
}

export type ProbeRunner = ReturnType<typeof createProbeRunner>

/** One endpoint, and what was learned about it. */
export function createProbeRunner(options: ProbeRunnerOptions) {
  let learnedCapabilities: Capabilities = {}
  const sharedExchanges = new Map<ProbeRequest, Promise<ProbeExchange>>()
  const currentTarget = (): Endpoint => ({
    ...options.target,
    profile: {
      ...mergeCapabilities(options.target.profile, learnedCapabilities),
      signer: options.target.profile.signer,
    },
  })

  function sendRequest(
    probeRequest: ProbeRequest,
    httpClient: HttpClient,
    withRetries: boolean,
    capabilities: Capabilities = {},
  ): Promise<ProbeExchange> {
    const { onEvent, ...rest } = probeRequest
    const current = currentTarget()
    const target = { ...current, profile: { ...current.profile, ...capabilities } }
    const isUnstreamed = target.profile.stream === false || rest.params?.stream === false
    const request: ModelRequest = {
      model: target.model,
      system: SYSTEM_PROMPT,
      tools: [],
      ...rest,
      params: {
        ...rest.params,
        maxTokens: Math.min(rest.params?.maxTokens ?? options.maxResponseTokens, options.maxResponseTokens),
        ...(isUnstreamed && { stream: false }),
      },
    }
    const traces: (() => ResponseTrace)[] = []
    const recordingClient = createRecordingClient(httpClient, (trace) => traces.push(trace))
    const createModelFor = (to: Endpoint) =>
      createModel(to, { httpClient: recordingClient, clock: options.clock, timeouts: options.timeouts })
    const retry = { clock: options.retryClock, attempts: options.maxAttempts, total: MAX_RETRY_WAIT_MS }
    const createBudgetedModel = (to: Endpoint) => withBudget(createModelFor(to), options.ledger)
    const model = withRetries
      ? withRetry(withAdaptation(target, createBudgetedModel, learnCapabilities), retry)
      : createModelFor(target)
    const getTraces = () => traces.map((trace) => trace())
    return sendProbeRequest(model, request, { key: options.newId(), traces: getTraces, ...defined({ onEvent }) })
  }

  function learnCapabilities(capabilities: Capabilities): void {
    learnedCapabilities = mergeCapabilities(learnedCapabilities, capabilities)
  }

  return {
    get learnedCapabilities(): Capabilities {
      return learnedCapabilities
    },
    learnCapabilities,
    /** A context for one probe, and the exchanges that were made in it. */
    openContext() {
      const exchanges: ProbeExchange[] = []
      const recordExchange = async (exchange: Promise<ProbeExchange>): Promise<ProbeExchange> => {
        const finished = await exchange
        exchanges.push(finished)
        return finished
      }
      const context: ProbeContext = {
        wire: options.target.wire,
        get capabilities() {
          return currentTarget().profile
        },
        send: (probeRequest) => recordExchange(sendRequest(probeRequest, options.httpClient, true)),
        sendShared(probeRequest) {
          const exchange = sharedExchanges.get(probeRequest) ?? context.send(probeRequest)
          sharedExchanges.set(probeRequest, exchange)
          return exchange
        },
        async retryWithCapabilities(probeRequest, capabilities, isBetter) {
          const exchange = await recordExchange(sendRequest(probeRequest, options.httpClient, true, capabilities))
          if (!isBetter(exchange)) return undefined
          learnCapabilities(capabilities)
          sharedExchanges.set(probeRequest, Promise.resolve(exchange))
          return exchange
        },
        // Nothing is sent, so nothing is recorded or counted.
        replayResponse: (exchange, answer) => sendRequest(exchange.request, createFixedResponseClient(answer), false),
      }
      return { context, exchanges, usage: () => exchanges.map(({ usage }) => usage).reduce(addUsage, NO_USAGE) }
    },
  }
}

const SYSTEM_PROMPT = 'You are being tested. Do exactly what you are asked, in as few words as possible.'

/** The total wait for servers that ask for one. */
const MAX_RETRY_WAIT_MS = 20_000
