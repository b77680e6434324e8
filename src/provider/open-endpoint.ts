import { createIncrementalBodyWriter } from '../wire/history/incremental-body-writer.ts'
import type { Endpoint } from './endpoint.ts'
import type { HttpClient } from './http/http-client.ts'
import { createModel, getSharedHttpClient } from './http/node-http-client.ts'
import { createTimeouts, MAX_SILENCE_MS } from './http/timeouts.ts'
import { withAdaptation } from './middleware/adaptation/with-adaptation.ts'
import { withRetry } from './middleware/retry.ts'
import { withServerContextWindow } from './middleware/with-server-context-window.ts'
import type { Model } from './model.ts'

/** All options have a default. */
interface OpenOptions {
  /** Sends the requests to the model. */
  readonly httpClient?: () => HttpClient
  /** Asks a local server for its context window. */
  readonly probeClient?: () => HttpClient
  /** Milliseconds without progress, over all attempts. */
  readonly maxSilenceMs?: number
  /** The context window that the user configured; the server is not asked then. */
  readonly window?: number | undefined
  /** Gets the endpoint, and again when it was adapted to the server. */
  readonly onEndpoint?: (endpoint: Endpoint) => void
}

/** A model with everything that a run needs: adaptation to the server, its context window, retries. */
export function openEndpoint(endpoint: Endpoint, options: OpenOptions = {}): Model {
  const { httpClient = getSharedHttpClient, probeClient = httpClient, maxSilenceMs = MAX_SILENCE_MS, window } = options
  const open = (one: Endpoint): Model => {
    options.onEndpoint?.(one)
    return createModel(one, {
      httpClient: httpClient(),
      createBodyWriter: createIncrementalBodyWriter,
      timeouts: createTimeouts(maxSilenceMs),
    })
  }
  const bare =
    window === undefined
      ? withServerContextWindow(withAdaptation(endpoint, open), endpoint, probeClient)
      : withAdaptation({ ...endpoint, profile: { ...endpoint.profile, window } }, open)
  const addRetry = (model: Model): Model => withRetry(model, { total: maxSilenceMs })
  const model = addRetry(bare)
  innerWrappers.set(model, (wrap) => addRetry(wrap(bare)))
  return model
}

const innerWrappers = new WeakMap<Model, (wrap: (inner: Model) => Model) => Model>()

/** Wraps a model inside of its retries, so that a cost limit counts each attempt; as it is if it was not opened here. */
export function wrapInsideRetry(model: Model, wrap: (inner: Model) => Model): Model {
  return innerWrappers.get(model)?.(wrap) ?? wrap(model)
}
