import type { TurnEvent, Warning } from './event.ts'
import type { Fault } from './fault.ts'
import type { AssistantPart, AssistantTurn, CallPart, Finish, ModelOrigin } from './turn.ts'
import type { CacheDiagnosis, Usage } from './usage.ts'
import { defined } from './defined.ts'

/** A turn that was built from its events. */
export interface FoldedTurn {
  readonly turn: AssistantTurn
  readonly warnings: readonly Warning[]
  /** The vendor's id of the response. */
  readonly id?: string
  /** Why the vendor could not read the prompt from its cache, if it says so. */
  readonly cacheDiagnosis?: CacheDiagnosis
  /** The attempts that failed before this response, if there were any. */
  readonly attempts?: readonly FailedAttempt[]
}

/** A failed attempt. Its tokens are paid for, but are not part of the turn's own usage. */
interface FailedAttempt {
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

/** A fold in progress, for showing a turn while it is received. */
export interface TurnFold {
  push(event: TurnEvent): void
  end(): FoldedTurn
}

/** Builds a turn from its events, one by one. */
export function createTurnFold(origin: ModelOrigin): TurnFold {
  const warnings: Warning[] = []
  const attempts: FailedAttempt[] = []
  let parts: (AssistantPart | undefined)[] = []
  let finish: Finish | undefined
  let usage: Usage | undefined
  let cacheDiagnosis: CacheDiagnosis | undefined
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
      switch (event.type) {
        case 'open':
          if (event.anew) discardAttempt(event.fault)
          id ??= event.id
          currentOrigin = event.origin ?? currentOrigin
          model = event.model ?? event.origin?.model ?? model
          break
        case 'part-close':
          parts[event.index] = event.part
          break
        case 'usage':
          usage = event.usage
          cacheDiagnosis = event.cacheDiagnosis ?? cacheDiagnosis
          break
        case 'warn':
          warnings.push(event.warning)
          break
        case 'finish':
          finish ??= {
            reason: event.reason,
            ...defined({ raw: event.raw, fault: event.fault, native: event.native }),
          }
          break
        case 'part-open':
        case 'part-delta':
        case 'wait':
          break
        default:
          event satisfies never
      }
    },
    end() {
      const turn: AssistantTurn = {
        role: 'assistant',
        origin: { ...currentOrigin, model },
        parts: parts.filter((part) => part !== undefined),
        finish: finish ?? { reason: 'fault', fault: { kind: 'transport', message: 'The response broke off.' } },
        ...defined({ usage }),
      }
      return { turn, warnings, ...defined({ id, cacheDiagnosis }), ...(attempts.length > 0 && { attempts }) }
    },
  }
}

/** A call that must not run, and why. */
export interface RejectedCall {
  readonly call: CallPart
  readonly reason: string
}

/** Splits the calls of a turn: a call may run only if it closed, its input is an object, and its turn ended normally. */
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
  length: 'The response was cut off at its length limit.',
  filter: 'The response was stopped by a content filter.',
  'malformed-call': 'The vendor marked the call as malformed.',
  aborted: 'The response was cancelled.',
  fault: 'The response broke off with an error.',
}
