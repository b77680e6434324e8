import type { Fault } from './fault.ts'
import type { AssistantPart, Finish, ModelOrigin } from './turn.ts'
import type { Usage } from './usage.ts'

/**
 * The events of one model turn. `index` numbers the parts of the turn in the order in which they were first seen; parts
 * may be open side by side. A delta is for showing; what counts is the part that `part-close` carries.
 */
export type TurnEvent =
  | {
      readonly type: 'open'
      readonly id?: string
      readonly model?: string
      /** Who answers, where it is not the model that was asked first. */
      readonly origin?: ModelOrigin
      /** The answer so far is void and is asked for again: drop what was shown of it. Nothing of it has run (T108). */
      readonly anew?: true
      /** The number of the new attempt; the first one was 1. */
      readonly attempt?: number
      /** Milliseconds until the new attempt begins. */
      readonly wait?: number
      /** What ended the attempt before. */
      readonly fault?: Fault
    }
  | {
      readonly type: 'part-open'
      readonly index: number
      readonly kind: AssistantPart['kind']
      /** Of a call, where they are known already. */
      readonly id?: string
      readonly name?: string
    }
  | { readonly type: 'part-delta'; readonly index: number; readonly text: string }
  | { readonly type: 'part-close'; readonly index: number; readonly part: AssistantPart }
  /** Nothing has come for `waited` ms, of which at most `limit` are waited for; it is told again as the wait grows. */
  | {
      readonly type: 'wait'
      readonly host: string
      /** Nothing has come yet, or the answer has begun and does not go on. */
      readonly stage: 'answer' | 'rest'
      readonly waited: number
      readonly limit: number
    }
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'warn'; readonly warning: Warning }
  | ({ readonly type: 'finish' } & Finish)

/** Something odd that was handled. Every byte that is dropped leaves one of these. */
export interface Warning {
  /** A short fixed word, for tests and statistics. */
  readonly code: string
  readonly message: string
}
