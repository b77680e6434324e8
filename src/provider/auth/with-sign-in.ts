import type { TurnEvent } from '../../model/event.ts'
import { WIRE_ENDPOINTS } from '../../wire/endpoint.ts'
import type { Model } from '../model.ts'
import type { Endpoint } from '../endpoint.ts'
import type { HttpClient } from '../http/http-client.ts'
import { createAttempt, deriveAttemptKey, wrapModel } from '../middleware/wrap-model.ts'
import type { CodeAssistAccount } from './code-assist-onboarding.ts'
import { defined } from '../../model/defined.ts'
import { getErrorMessage } from '../../model/error-message.ts'

/** Renews a rejected token once, and onboards the user before the first request where that is needed. */
export function withSignIn(endpoint: Endpoint, inner: Model, httpClient: HttpClient): Model {
  const renewing = endpoint.credential?.renew ? withTokenRenewal(inner, endpoint.credential.renew) : inner
  return WIRE_ENDPOINTS[endpoint.wire].needsProject && endpoint.project === undefined
    ? withOnboarding(endpoint, renewing, httpClient)
    : renewing
}

/** Sends the request again with a new token if the first was rejected; at that point nothing has been streamed. */
function withTokenRenewal(inner: Model, renew: () => void): Model {
  return wrapModel(inner, async function* (request, options): AsyncGenerator<TurnEvent> {
    const reportedWarnings = new Set<string>()
    for (let tries = 0; ; tries++) {
      const attempt = createAttempt(reportedWarnings)
      const turnKey = deriveAttemptKey(options.turnKey, 's', tries)
      for await (const event of inner.stream(request, { ...options, turnKey }))
        if (attempt.isForwarded(event)) yield event
      const finish = attempt.getFinish()
      if (tries > 0 || finish.fault?.status !== 401 || options.signal?.aborted) {
        yield finish
        return
      }
      renew()
    }
  })
}

/** Asks Code Assist which project is billed before the first request. */
function withOnboarding(endpoint: Endpoint, inner: Model, httpClient: HttpClient): Model {
  let account: CodeAssistAccount | undefined
  return wrapModel(inner, async function* (request, options): AsyncGenerator<TurnEvent> {
    if (!account) {
      try {
        const { onboardCodeAssist } = await import('./code-assist-onboarding.ts')
        account = await onboardCodeAssist(endpoint, { httpClient, ...defined({ signal: options.signal }) })
      } catch (error) {
        if (options.signal?.aborted) {
          yield { type: 'finish', reason: 'aborted' }
          return
        }
        const message = `The sign-in to ${endpoint.provider.id} failed: ${getErrorMessage(error)}`
        yield { type: 'finish', reason: 'fault', fault: { kind: 'auth', message } }
        return
      }
    }
    const { project } = account
    yield* inner.stream(project === undefined ? request : { ...request, project }, options)
  })
}
