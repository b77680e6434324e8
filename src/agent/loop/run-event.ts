import type { TurnEvent } from '../../model/event.ts'
import type { Fault } from '../../model/fault.ts'
import type { Usage } from '../../model/usage.ts'
import type { Entry } from '../../session/log/entry.ts'
import type { ApprovalRequest, CallState, ApprovalReply } from '../calls/call-state.ts'

/** What happens while an agent works. Every front end is a fold over these; there is no other way to watch it. */
export type RunEvent =
  | {
      readonly type: 'run-open'
      readonly session: string
      readonly prompt: string
      readonly model: string
      readonly provider: string
    }
  /** An event of the model's turn. */
  | { readonly type: 'turn'; readonly event: TurnEvent }
  /** A call is in a new state. */
  | { readonly type: 'call'; readonly call: CallState }
  /** What a running tool shows of itself, at most once a second. */
  | { readonly type: 'progress'; readonly call: string; readonly text: string }
  | { readonly type: 'ask'; readonly ask: ApprovalRequest }
  | { readonly type: 'reply'; readonly reply: ApprovalReply }
  /** An entry was added to the log. */
  | { readonly type: 'entry'; readonly entry: Entry }
  /** What was used so far. */
  | { readonly type: 'budget'; readonly usage: Usage; readonly cost?: number; readonly turns: number }
  | {
      readonly type: 'compact'
      /** About how many tokens the history has, without system prompt and tools. */
      readonly beforeTokens: number
      readonly afterTokens: number
      readonly done: boolean
    }
  /** Something that the person should know. */
  | { readonly type: 'notice'; readonly text: string }
  | {
      readonly type: 'run-close'
      readonly reason: CloseReason
      readonly text: string
      readonly fault?: Fault
      /** The plan that plan mode ended with, where nobody is there to approve it. */
      readonly plan?: string
    }

/**
 * Why a run ended; `unsaved` means that the log could not be written, `length` that the vendor cut the last answer off,
 * `filter` that it withheld it or the rest of it.
 */
export type CloseReason =
  | 'done'
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
