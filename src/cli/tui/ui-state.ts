import type { ApprovalRequest } from '../../agent/calls/call-state.ts'
import type { ApprovalMode } from '../../policy/policy.ts'
import { type Conversation, EMPTY_CONVERSATION } from './conversation.ts'
import { type EditorState, EMPTY_EDITOR } from './input/text-editor.ts'
import type { HistorySearch } from './input/history-search.ts'
import { defined } from '../../model/defined.ts'

/** All that the screen shows. Views are functions of this, and of nothing else. */
export interface UiState {
  readonly conversation: Conversation
  readonly editor: EditorState
  /** Questions that wait for an answer, in the order of the calls. */
  readonly approvals: readonly ApprovalRequest[]
  readonly approvalView: ApprovalView
  /** Do keys go to the input although a question waits? If it is not said: while something is being written. */
  readonly isWriting?: boolean
  /** A letter that answers a question, unless another one follows at once: then both are the beginning of a text. */
  readonly heldKey?: string
  readonly menu?: CompletionMenu
  /** What was typed while the model works; it goes out at the next turn. */
  readonly queued: readonly string[]
  /** Since when the model works. */
  readonly runningSince?: number
  readonly status: StatusInfo
  /** The folder that is worked in: paths in it are shown from there. */
  readonly root?: string
  /** How much of the terminal there is. */
  readonly size?: { readonly width: number; readonly rows: number }
  /** What was said before, the latest last; and which of it is in the editor. */
  readonly history: readonly string[]
  readonly historyIndex?: number
  /** What was being written before. */
  readonly draft?: EditorState
  /** The history is being searched. */
  readonly search?: HistorySearch
  /** A line of help below the input, until the next key. */
  readonly hint?: string
  readonly vim?: 'insert' | 'normal'
  /** Vim's operator that waits for a motion. */
  readonly operator?: 'd' | 'c' | 'g'
}

/** How far the person is with the questions. */
export interface ApprovalView {
  /** Which of the questions is looked at. */
  readonly at: number
  /** The first line that is shown of a long one. */
  readonly top: number
  /** How much of each question, by its id, has been on the screen. Nothing is approved before it was there as a whole. */
  readonly shown: Readonly<Record<string, ShownExtent>>
  /** The ids of those whose secrets are shown. */
  readonly revealedIds: readonly string[]
  /** The person writes why not. */
  readonly reasonEditor?: EditorState
  /** The person chooses what to allow from now on. */
  readonly isChoosing?: true
  /** An approval was refused, because not all of the question has been shown. */
  readonly isTooEarly?: true
}

/** The lines of a question that have been on the screen, from the first on without a gap; all of them at last. */
export type ShownExtent = 'whole' | { readonly width: number; readonly all: number; readonly lines: number }

/** Questions of which nothing has been seen. */
export const INITIAL_APPROVAL_VIEW: ApprovalView = { at: 0, top: 0, shown: {}, revealedIds: [] }

/**
 * One more question waits. Calls are judged side by side, so that a later one may be asked about first; the question that is
 * looked at stays the one that keys answer.
 */
export function withAsk(state: UiState, ask: ApprovalRequest): UiState {
  const calls = state.conversation.live.flatMap((block) => (block.kind === 'call' ? [block.call.call.id] : []))
  const place = calls.indexOf(ask.call)
  const after = state.approvals.findIndex(({ call }) => place >= 0 && calls.indexOf(call) > place)
  if (after < 0) return { ...state, approvals: [...state.approvals, ask] }
  const at = state.approvalView.at + (after <= state.approvalView.at ? 1 : 0)
  return { ...state, approvals: state.approvals.toSpliced(after, 0, ask), approvalView: { ...state.approvalView, at } }
}

/** Do keys go to the input? */
export function isInputFocused(state: Pick<UiState, 'approvals' | 'editor' | 'isWriting'>): boolean {
  return state.approvals.length === 0 || (state.isWriting ?? state.editor.text !== '')
}

/** Has a question been on the screen as a whole? */
export function isFullyShown({ shown }: Pick<ApprovalView, 'shown'>, id: string): boolean {
  return shown[id] === 'whole'
}

/** Things to choose from, under the input. */
export interface CompletionMenu {
  readonly items: readonly MenuItem[]
  readonly selected: number
  /** The part of the text that a choice takes the place of. */
  readonly from: number
  readonly to: number
  /** What Enter does: a part of what is said is only put in; a command is carried out, with the choice or as it was typed. */
  readonly enterAction: 'puts' | 'sends' | 'sends-typed'
}

/** A choice. */
export interface MenuItem {
  readonly value: string
  /** Other words for the same. */
  readonly aliases?: readonly string[]
  readonly about?: string
}

/** What stands in the last line. */
export interface StatusInfo {
  readonly model: string
  readonly mode: ApprovalMode
  readonly folder: string
  readonly branch?: string
  /** Tokens of the last request, and how many the model can take. */
  readonly context?: number
  readonly window?: number
  readonly cost?: number
  /** The share of the last request that came from the vendor's cache. */
  readonly cached?: number
  readonly sandbox?: string
}

/** How much of the terminal there is, as far as that is known. */
export function terminalSize({ size }: UiState): { readonly width: number; readonly rows: number } {
  return size ?? { width: 80, rows: 24 }
}

/** The state at the start. */
export function createUiState(
  status: StatusInfo,
  { history = [], vim = false, root }: { history?: readonly string[]; vim?: boolean; root?: string } = {},
): UiState {
  return {
    conversation: EMPTY_CONVERSATION,
    editor: EMPTY_EDITOR,
    approvals: [],
    approvalView: INITIAL_APPROVAL_VIEW,
    queued: [],
    status,
    history,
    ...defined({ root }),
    ...(vim && { vim: 'insert' as const }),
  }
}
