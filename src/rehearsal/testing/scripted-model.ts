import { lazy } from '../../model/lazy.ts'
import type { ModelRequest } from '../../model/request.ts'
import type { ModelOrigin } from '../../model/turn.ts'
import { createModel, type Endpoint, type Model, resolveModel } from '../../provider/index.ts'
import type { RehearsalState } from '../handle-request.ts'
import type { RecordedRequest, RehearsalFailure } from '../request/recorded-request.ts'
import { createRehearsalState } from '../server.ts'
import { assertScriptDone, type ScriptInput, toScript } from './assert-done.ts'
import { createInMemoryClient } from './in-memory-client.ts'

/** The options of `scriptedModel`. */
export interface ScriptedModelOptions {
  /**
   * What the model says it is. The default is the wire `openai-chat`, and a provider and a model that nobody knows. With the
   * names of a real model, a run has its prices and its peculiarities.
   */
  readonly origin?: Partial<ModelOrigin>
}

/** A request to a scripted model, also as the agent made it. */
export interface ScriptedModelRequest extends RecordedRequest {
  /** The request before it was encoded. */
  readonly request: ModelRequest
}

/** A model that plays a script. */
export interface ScriptedModel extends Model {
  /** What was sent, oldest first. */
  readonly requests: readonly ScriptedModelRequest[]
  /** Requests that did not meet `expect`, that came after the last step, or that the vendor would reject. */
  readonly failures: readonly RehearsalFailure[]
  /** Throws an AssertionError if a request failed or a step was not used. */
  assertDone(): void
}

/**
 * A model that plays a script in this process, without a server: `scriptedModel([{ call: [{ name, args }] }, { say: 'Done.' }])`.
 * Requests and responses are encoded and decoded as those of a real model, so an agent gets the same events.
 *
 * Each request gets the next step, whatever its history is. A step with `when` answers any request that meets it. If a script
 * has `start`, the step follows from the history instead, as on the server. The model does not retry: wrap it in `withRetry`
 * for that.
 */
export function scriptedModel(steps: ScriptInput, options: ScriptedModelOptions = {}): ScriptedModel {
  const script = toScript(steps)
  const origin: ModelOrigin = { provider: 'scripted', wire: 'openai-chat', model: 'script', ...options.origin }
  const endpoint = resolveEndpoint(origin)
  const requests: ScriptedModelRequest[] = []
  const failures: RehearsalFailure[] = []
  const counts: RehearsalState['counters']['steps'] = new Map()
  const loadState = lazy(async (): Promise<RehearsalState> => {
    const state = await createRehearsalState({ scripts: { script }, fallbackScript: 'script', isStrict: true })
    const counters = { ...state.counters, steps: counts, ...(script.start === undefined && { nextPosition: 0 }) }
    return { ...state, failures, counters }
  })

  return {
    origin,
    requests,
    failures,
    stream(request, requestOptions) {
      const snapshot = { ...request, turns: [...request.turns] }
      const httpClient = createInMemoryClient(loadState, (recorded) => {
        requests.push({ ...recorded, request: snapshot })
      })
      return createModel(endpoint, { httpClient }).stream(request, requestOptions)
    },
    assertDone: () => assertScriptDone(script, counts, failures),
  }
}

/** Nothing is sent to this address. */
function resolveEndpoint({ provider, wire, model }: ModelOrigin): Endpoint {
  const definition = { id: provider, wire, url: 'http://127.0.0.1', auth: 'none', keys: [] } as const
  const endpoint = resolveModel(`${provider}/${model}`, { GOOGLE_CLOUD_PROJECT: 'scripted' }, [definition])
  if ('problem' in endpoint) throw new Error(endpoint.problem)
  return endpoint
}
