import type { TurnEvent } from '../../model/event.ts'
import { ENDPOINTS } from '../../wire/endpoint.ts'
import type { ModelPort } from '../port.ts'
import type { Target } from '../target.ts'
import type { Post } from '../transport.ts'
import { keyOf, passOn, wrapped } from '../wrap/wrapped.ts'
import type { Entrance } from './code-assist.ts'

/**
 * A port that sees to its own sign-in: a token that is refused is fetched anew, once; and where the endpoint must be
 * entered before it answers, that is done before the first request.
 */
export function signedIn(target: Target, inner: ModelPort, post: Post): ModelPort {
  const renewing = target.key?.renew ? renewed(inner, target.key.renew) : inner
  return ENDPOINTS[target.wire].needsProject && target.project === undefined
    ? entered(target, renewing, post)
    : renewing
}

/** Asks once more, with a fresh token, if the first was refused. Nothing has been said yet when that happens. */
function renewed(inner: ModelPort, renew: () => void): ModelPort {
  return wrapped(inner, async function* (request, sending): AsyncGenerator<TurnEvent> {
    const told = new Set<string>()
    const finish = yield* passOn(inner.ask(request, sending), told)
    if (finish.fault?.status !== 401 || sending.signal?.aborted) {
      yield finish
      return
    }
    renew()
    yield yield* passOn(inner.ask(request, { ...sending, key: keyOf(sending.key, 's', 1) }), told)
  })
}

/** Asks Code Assist first which project pays. */
function entered(target: Target, inner: ModelPort, post: Post): ModelPort {
  let entrance: Entrance | undefined
  return wrapped(inner, async function* (request, sending): AsyncGenerator<TurnEvent> {
    if (!entrance) {
      try {
        const { enter } = await import('./code-assist.ts')
        entrance = await enter(target, { post, ...(sending.signal && { signal: sending.signal }) })
      } catch (error) {
        if (sending.signal?.aborted) {
          yield { type: 'finish', reason: 'aborted' }
          return
        }
        const message = `The sign-in to ${target.row.id} failed: ${error instanceof Error ? error.message : String(error)}`
        yield { type: 'finish', reason: 'fault', fault: { kind: 'auth', message } }
        return
      }
    }
    const { project } = entrance
    yield* inner.ask(project === undefined ? request : { ...request, project }, sending)
  })
}
