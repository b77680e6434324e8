import type { TurnEvent } from '../../model/event.ts'
import type { Fault } from '../../model/fault.ts'
import type { Usage } from '../../model/usage.ts'
import type { Entry } from '../../session/log/entry.ts'
import type { ApprovalRequest, CallState, ApprovalReply } from '../calls/call-state.ts'

/** What happens during a run. Every front end is a fold over these events. */
export type RunEvent =
  | {
      readonly type: 'run-open'
      readonly session: string
      readonly prompt: string
      readonly model: string
      readonly provider: string
    }
  /** An event of the model's turn. A new attempt after a failure is an `open` event with `anew`. */
  | { readonly type: 'turn'; readonly event: TurnEvent }
  /** A call is in a new state. */
  | { readonly type: 'call'; readonly call: CallState }
  /** Progress of a running tool, at most once a second. */
  | { readonly type: 'progress'; readonly call: string; readonly text: string }
  | { readonly type: 'ask'; readonly ask: ApprovalRequest }
  | { readonly type: 'reply'; readonly reply: ApprovalReply }
  | { readonly type: 'entry'; readonly entry: Entry }
  /** The usage of the run so far. */
  | { readonly type: 'budget'; readonly usage: Usage; readonly cost?: number; readonly turns: number }
  | {
      readonly type: 'compact'
      /** Estimated tokens of the history, without system prompt and tools. */
      readonly beforeTokens: number
      readonly afterTokens: number
      readonly done: boolean
      /** Why it was not done: the request for the summary failed. Without it, a summary would save nothing. */
      readonly fault?: Fault
    }
  /** The answer of a run with an output schema: what there is of it so far, not validated; at the end the valid value. */
  | { readonly type: 'output'; readonly value: unknown; readonly isPartial: boolean }
  /** A message to the user. */
  | { readonly type: 'notice'; readonly text: string }
  /** An event of an agent that runs as a tool of this one; `call` is the id of the call, `session` that of its session. */
  | {
      readonly type: 'subagent'
      readonly call: string
      readonly name: string
      readonly session: string
      readonly event: RunEvent
    }
  /** From the next request on, another agent has the conversation. */
  | { readonly type: 'handoff'; readonly to: string }
  | {
      readonly type: 'run-close'
      readonly reason: CloseReason
      readonly text: string
      readonly session: string
      /** The number of requests to the model, their usage, and their cost in US dollars if the prices are known. */
      readonly turns: number
      readonly usage: Usage
      readonly cost?: number
      readonly fault?: Fault
      /** The valid answer of a run with an output schema. */
      readonly output?: unknown
      /** The plan of plan mode, if there is no user to approve it. */
      readonly plan?: string
    }

/**
 * Why a run ended. `awaiting-approval`: calls wait for an answer of the user; the run can be resumed. `unsaved`: the log could not be written.
 * `taken-over`: another process has the session, or may have it. `length`: the last response reached the length limit. `filter`:
 * the vendor withheld it or the rest of it. `output-lost`: the reader of the output is gone.
 */
export type CloseReason =
  | 'done'
  | 'awaiting-approval'
  | 'turn-limit'
  | 'time-limit'
  | 'cost-limit'
  | 'loop'
  | 'cancelled'
  | 'output-lost'
  | 'length'
  | 'filter'
  | 'fault'
  | 'unsaved'
  | 'taken-over'
