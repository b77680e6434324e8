import type { TurnEvent, Warning } from './event.ts'
import type { Fault } from './fault.ts'
import type { AssistantPart, AssistantTurn, CallPart, Finish, ModelOrigin } from './turn.ts'
import type { Usage } from './usage.ts'
import { defined } from './defined.ts'

/** A turn, with what was noticed while it came in. */
export interface FoldedTurn {
  readonly turn: AssistantTurn
  readonly warnings: readonly Warning[]
  /** The vendor's id of the response. */
  readonly id?: string
  /** The attempts that failed before this answer, if there were any. */
  readonly attempts?: readonly FailedAttempt[]
}

/** An attempt that came to nothing. What it used is paid for, but is no part of the turn's own usage. */
export interface FailedAttempt {
  /** Who made it. */
  readonly origin: ModelOrigin
  readonly fault?: Fault
  readonly usage?: Usage
}

/** Folds the events of one model turn into the turn. It is the only accumulator; every front end uses it. */
export function fold(events: Iterable<TurnEvent>, origin: ModelOrigin): FoldedTurn {
  const folder = createTurnFold(origin)
  for (const event of events) folder.push(event)
  return folder.end()
}

/** A fold in progress, for those who show a turn while it comes in. */
export interface TurnFold {
  push(event: TurnEvent): void
  end(): FoldedTurn
}

/** Starts a fold that events are pushed into one by one. */
export function createTurnFold(origin: ModelOrigin): TurnFold {
  const warnings: Warning[] = []
  const attempts: FailedAttempt[] = []
  let parts: (AssistantPart | undefined)[] = []
  let finish: Finish | undefined
  let usage: Usage | undefined
  let id: string | undefined
  let currentOrigin = origin
  let model = origin.model

  function discardAttempt(fault: Fault | undefined): void {
    attempts.push({ origin: currentOrigin, ...defined({ fault, usage }) })
    parts = []
    usage = undefined
    id = undefined
    model = currentOrigin.model
  }

  return {
    push(event) {
      if (event.type === 'part-close') parts[event.index] = event.part
      else if (event.type === 'usage') usage = event.usage
      else if (event.type === 'warn') warnings.push(event.warning)
      else if (event.type === 'open') {
        if (event.anew) discardAttempt(event.fault)
        id ??= event.id
        currentOrigin = event.origin ?? currentOrigin
        model = event.model ?? event.origin?.model ?? model
      } else if (event.type === 'finish') finish ??= toFinish(event)
    },
    end() {
      const turn: AssistantTurn = {
        role: 'assistant',
        origin: { ...currentOrigin, model },
        parts: parts.filter((part) => part !== undefined),
        finish: finish ?? { reason: 'fault', fault: { kind: 'transport', message: 'The answer broke off.' } },
        ...defined({ usage }),
      }
      return { turn, warnings, ...defined({ id }), ...(attempts.length > 0 && { attempts }) }
    },
  }
}

/** A call that must not run, and why. */
export interface RejectedCall {
  readonly call: CallPart
  readonly reason: string
}

/** Parts the calls of a turn into those that may run and those that must not: a call runs only if it closed, is an object, and its turn ended well. */
export function splitRunnableCalls(turn: AssistantTurn): { calls: CallPart[]; rejected: RejectedCall[] } {
  const calls: CallPart[] = []
  const rejected: RejectedCall[] = []
  const rejectionReason = REJECTION_REASONS[turn.finish.reason]
  for (const part of turn.parts) {
    if (part.kind !== 'call') continue
    if (part.flaw) rejected.push({ call: part, reason: part.flaw.message })
    else if (rejectionReason !== undefined) rejected.push({ call: part, reason: rejectionReason })
    else if (part.input === undefined) rejected.push({ call: part, reason: 'The arguments could not be read.' })
    else calls.push(part)
  }
  return { calls, rejected }
}

const REJECTION_REASONS: Record<Finish['reason'], string | undefined> = {
  stop: undefined,
  calls: undefined,
  length: 'The answer was cut off at its length limit.',
  filter: 'The answer was stopped by a content filter.',
  'malformed-call': 'The vendor marked the call as malformed.',
  aborted: 'The answer was cancelled.',
  fault: 'The answer broke off with an error.',
}

function toFinish(event: Finish): Finish {
  return {
    reason: event.reason,
    ...defined({ raw: event.raw, fault: event.fault }),
  }
}
