import type { TurnEvent } from '../model/event.ts'
import { createTurnFold } from '../model/fold.ts'
import type { ModelRequest } from '../model/request.ts'
import type { AssistantPart, AssistantTurn, Continuation, ModelOrigin } from '../model/turn.ts'
import { addUsage, NO_USAGE, type Usage } from '../model/usage.ts'

export type ResponseJoiner = ReturnType<typeof createResponseJoiner>

/**
 * Makes one response out of several: a vendor may stop before the end, and continue in the response to the next request
 * (T135, T193).
 */
export function createResponseJoiner(request: ModelRequest, origin: ModelOrigin) {
  let sent = request
  let count = 0
  let parts: readonly AssistantPart[] = []
  let usage: Usage | undefined
  let fold = createTurnFold(origin)

  /** Continues the numbers of the parts and the counts of the tokens. */
  function toJoined(event: TurnEvent): TurnEvent | undefined {
    switch (event.type) {
      case 'open':
        return undefined
      case 'part-open':
      case 'part-delta':
      case 'part-close':
        return { ...event, index: event.index + parts.length }
      case 'usage':
        return { ...event, usage: addUsage(usage ?? NO_USAGE, event.usage) }
      case 'finish':
      case 'warn':
      case 'wait':
        return event
      default:
        return event satisfies never
    }
  }

  return {
    /** The event as it is in the whole response, if it is in it. */
    join(event: TurnEvent): TurnEvent | undefined {
      if (event.type === 'finish') return toLastEvent(event, parts)
      const joined = count === 0 ? event : toJoined(event)
      if (joined) fold.push(joined)
      return joined
    },
    /** The request for the rest of the response; undefined if there is no more, or if the vendor does not get on. */
    continue({ continuation, ...finish }: FinishEvent): ModelRequest | undefined {
      if (!continuation) return undefined
      fold.push(finish)
      const { turn } = fold.end()
      const next = count < MAX_CONTINUATIONS ? continueRequest(request, turn, continuation) : undefined
      const hasProgress = turn.parts.length > parts.length || next?.continuation !== sent.continuation
      if (!next || !hasProgress) return undefined
      fold = createTurnFold(origin)
      for (const [index, part] of turn.parts.entries()) fold.push({ type: 'part-close', index, part })
      count++
      sent = next
      ;({ parts, usage } = turn)
      return next
    },
    get count(): number {
      return count
    },
  }
}

type FinishEvent = Extract<TurnEvent, { type: 'finish' }>

/** The end, if nothing follows: calls may be in an earlier response, and what could be continued is cut off. */
function toLastEvent({ continuation, ...finish }: FinishEvent, parts: readonly AssistantPart[]): FinishEvent {
  if (finish.reason !== 'stop') return finish
  return parts.some(isCall) ? { ...finish, reason: 'calls' } : { ...finish, ...(continuation && { reason: 'length' }) }
}

/** More than any response needs; it keeps a broken server from going on for ever. */
const MAX_CONTINUATIONS = 100

/** Undefined if the response must first get the results of its calls. */
function continueRequest(
  request: ModelRequest,
  turn: AssistantTurn,
  continuation: Continuation,
): ModelRequest | undefined {
  switch (continuation.kind) {
    case 'token':
      return { ...request, continuation: continuation.token }
    case 'resend':
      return turn.parts.some(isCall) ? undefined : { ...request, turns: [...request.turns, turn] }
    default:
      return continuation satisfies never
  }
}

function isCall({ kind }: AssistantPart): boolean {
  return kind === 'call'
}
