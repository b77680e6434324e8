import type { Fault } from './fault.ts'
import type { AssistantPart, Continuation, Finish, ModelOrigin, NativeData } from './turn.ts'
import type { CacheDiagnosis, Usage } from './usage.ts'

/**
 * The events of one model turn. `index` numbers the parts in the order in which they first appear; several may be open at
 * once. Deltas are only for display: the part is the one that `part-close` carries.
 */
export type TurnEvent =
  | {
      readonly type: 'open'
      readonly id?: string
      readonly model?: string
      /** The model that responds, if it is not the one that was asked first. */
      readonly origin?: ModelOrigin
      /** The response so far is void and is requested again: discard what was shown of it. Nothing of it has run (T108). */
      readonly anew?: true
      /** The number of the new attempt; the first one was 1. */
      readonly attempt?: number
      /** Milliseconds until the new attempt begins. */
      readonly wait?: number
      /** What ended the previous attempt. */
      readonly fault?: Fault
    }
  | {
      readonly type: 'part-open'
      readonly index: number
      readonly kind: AssistantPart['kind']
      /** Of a call, if they are known already. */
      readonly id?: string
      readonly name?: string
      /** Of a text with which the model refuses. */
      readonly refusal?: true
      /** As far as it is known already, for writing the response again; the part itself has all of it. */
      readonly native?: NativeData
    }
  | {
      readonly type: 'part-delta'
      readonly index: number
      /** The kind of its part. */
      readonly kind: AssistantPart['kind']
      readonly text: string
    }
  | { readonly type: 'part-close'; readonly index: number; readonly part: AssistantPart }
  /** Nothing has arrived for `waited` ms; the limit is `limit` ms. Sent again as the wait grows. */
  | {
      readonly type: 'wait'
      readonly host: string
      /** `answer`: nothing has arrived yet. `rest`: the response has started and does not continue. */
      readonly stage: 'answer' | 'rest'
      readonly waited: number
      readonly limit: number
    }
  | { readonly type: 'usage'; readonly usage: Usage; readonly cacheDiagnosis?: CacheDiagnosis }
  | { readonly type: 'warn'; readonly warning: Warning }
  | ({ readonly type: 'finish'; readonly continuation?: Continuation } & Finish)

/** An irregularity that was handled. Whenever data is dropped, there is a warning. */
export interface Warning {
  /** A fixed identifier, for tests and statistics. */
  readonly code: string
  readonly message: string
  /** The dialects of calls that a model wrote as text (docs/text-calls.md). */
  readonly dialects?: readonly string[]
}
