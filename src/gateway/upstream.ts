import {
  createModel,
  createTimeouts,
  type Endpoint,
  getSharedHttpClient,
  type HttpClient,
  MAX_SILENCE_MS,
  type Model,
  type ResolveError,
  withAdaptation,
  withRetry,
} from '../provider/index.ts'
import { type BudgetLedger, withBudget } from '../provider/optional-middleware.ts'

/** A model that requests are passed on to. */
export interface Upstream {
  readonly name: string
  readonly endpoint: Endpoint
  /** With the budgets of one request, inside of the retries. */
  readonly openModel: (ledgers: readonly BudgetLedger[], key?: string) => Model
}

/** How often a failed request is tried again before the client is told. */
export interface RetrySettings {
  /** Including the first one. */
  readonly attempts: number
  /** The longest wait in milliseconds; a client that is told to wait longer does that itself. */
  readonly longest: number
}

export interface UpstreamOptions {
  readonly resolveModel: (name: string) => Endpoint | ResolveError | Promise<Endpoint | ResolveError>
  readonly httpClient?: HttpClient
  readonly retry?: RetrySettings
  /** Milliseconds without progress. */
  readonly maxSilenceMs?: number
}

const DEFAULT_RETRY: RetrySettings = { attempts: 3, longest: 20_000 }

export type Upstreams = ReturnType<typeof createUpstreams>

/** Resolves each name once, so that what a model has learnt about its endpoint is kept. */
export function createUpstreams(options: UpstreamOptions) {
  const { httpClient = getSharedHttpClient(), retry = DEFAULT_RETRY, maxSilenceMs = MAX_SILENCE_MS } = options
  const known = new Map<string, Promise<Upstream | ResolveError>>()
  const open = (endpoint: Endpoint): Model =>
    withAdaptation(endpoint, (adapted) => createModel(adapted, { httpClient, timeouts: createTimeouts(maxSilenceMs) }))

  async function resolve(name: string): Promise<Upstream | ResolveError> {
    const endpoint = await options.resolveModel(name)
    if ('problem' in endpoint) return endpoint
    const shared = open(endpoint)
    return {
      name: `${endpoint.provider.id}/${endpoint.model}`,
      endpoint,
      openModel(ledgers, key) {
        const model = key === undefined ? shared : open(withKey(endpoint, key))
        return withRetry(ledgers.reduce(withBudget, model), { ...retry, total: maxSilenceMs })
      },
    }
  }

  return {
    httpClient,
    maxSilenceMs,
    async find(name: string): Promise<Upstream | ResolveError> {
      const found = known.get(name) ?? resolve(name)
      known.set(name, found)
      const upstream = await found
      // A key may be set later.
      if ('problem' in upstream) known.delete(name)
      return upstream
    },
  }
}

function withKey(endpoint: Endpoint, key: string): Endpoint {
  return { ...endpoint, credential: { style: endpoint.provider.auth, read: () => key } }
}
