import type { ApprovalRequest } from '../../agent/calls/call-state.ts'
import type { ApprovalMode } from '../../policy/policy.ts'
import { type LiveConversation, EMPTY_LIVE_CONVERSATION } from './conversation-state.ts'
import { type EditorState, EMPTY_EDITOR } from './input/text-editor.ts'
import type { InputHistorySearch } from './input/history-search.ts'
import type { VimState } from './input/vim-keys.ts'
import { defined } from '../../model/defined.ts'

/** All that the screen shows. Views are pure functions of it. */
export interface UiState {
  readonly conversation: LiveConversation
  readonly editor: EditorState
  /** Approval requests that wait, in the order of their calls. */
  readonly approvals: readonly ApprovalRequest[]
  readonly approvalView: ApprovalViewState
  /** Do keys go to the input although an approval waits? By default they do while the input has text. */
  readonly isWriting?: boolean
  /** A letter that answers an approval, unless another one follows at once: then both are the beginning of a text. */
  readonly heldKey?: string
  readonly menu?: CompletionMenu
  /** Messages that were typed while the model works; they are sent at the next turn. */
  readonly queued: readonly string[]
  /** When the run began; absent if none is running. */
  readonly runningSince?: number
  readonly status: StatusInfo
  /** The workspace; paths in it are shown relative to it. */
  readonly root?: string
  readonly size?: TerminalSize
  /** Earlier messages, the latest last, and the index of the one that is in the editor. */
  readonly history: readonly string[]
  readonly historyIndex?: number
  /** What was in the editor before a message of the history. */
  readonly draft?: EditorState
  readonly search?: InputHistorySearch
  readonly hint?: InputHint
  readonly vim?: 'insert' | 'normal' | 'visual'
  readonly vimState?: VimState
}

/** A line of help below the input, until the next key. */
export type InputHint = 'leave' | 'attach-image' | 'rewind' | 'clear' | 'background'

type TerminalSize = Readonly<Record<'width' | 'rows', number>>

export interface ApprovalViewState {
  /** The index of the request that is shown. */
  readonly at: number
  /** The first line that is shown of a long one. */
  readonly top: number
  /** How much of each request, by its id, has been on the screen. It can be approved only after it was shown in full. */
  readonly shown: Readonly<Record<string, ShownExtent>>
  /** The ids of the requests whose secrets are shown. */
  readonly revealedIds: readonly string[]
  /** The user writes the reason of a denial. */
  readonly reasonEditor?: EditorState
  /** The user chooses a grant. */
  readonly isChoosing?: true
  /** The user tried to approve before the request was shown in full. */
  readonly isTooEarly?: true
}

/** The lines of a request that have been on the screen, from the first one on without a gap. */
export type ShownExtent = 'whole' | { readonly width: number; readonly all: number; readonly lines: number }

export const INITIAL_APPROVAL_VIEW_STATE: ApprovalViewState = { at: 0, top: 0, shown: {}, revealedIds: [] }

/**
 * Adds an approval request. Calls are checked in parallel, so the request of a later call may come first; the request
 * that is shown stays the one that keys answer.
 */
export function addApprovalRequest(state: UiState, ask: ApprovalRequest): UiState {
  const calls = state.conversation.live.flatMap((block) => (block.kind === 'call' ? [block.call.call.id] : []))
  const callIndex = calls.indexOf(ask.call)
  const after = state.approvals.findIndex(({ call }) => callIndex >= 0 && calls.indexOf(call) > callIndex)
  if (after < 0) return { ...state, approvals: [...state.approvals, ask] }
  const at = state.approvalView.at + (after <= state.approvalView.at ? 1 : 0)
  return { ...state, approvals: state.approvals.toSpliced(after, 0, ask), approvalView: { ...state.approvalView, at } }
}

export function removeApprovalRequest(state: UiState, id: string): UiState {
  const removed = state.approvals.findIndex((ask) => ask.id === id)
  const { at: selected } = state.approvalView
  if (removed < 0) return state
  const approvals = state.approvals.toSpliced(removed, 1)
  // An answer that is being given to another request stays with it.
  if (removed !== selected && approvals.length > 0)
    return {
      ...state,
      approvals,
      approvalView: { ...state.approvalView, at: removed < selected ? selected - 1 : selected },
    }
  const { reasonEditor: _reason, isChoosing: _choosing, isTooEarly: _early, ...view } = state.approvalView
  const { heldKey: _held, isWriting, ...rest } = state
  const at = Math.min(selected, Math.max(approvals.length - 1, 0))
  return {
    ...rest,
    approvals,
    approvalView: { ...view, at, top: 0 },
    // A user who left the input to answer goes on with the next request.
    ...(approvals.length > 0 && isWriting === false && { isWriting }),
  }
}

export function isInputFocused(state: Pick<UiState, 'approvals' | 'editor' | 'isWriting'>): boolean {
  return state.approvals.length === 0 || (state.isWriting ?? state.editor.text !== '')
}

export function isFullyShown({ shown }: Pick<ApprovalViewState, 'shown'>, id: string): boolean {
  return shown[id] === 'whole'
}

export interface CompletionMenu {
  readonly items: readonly MenuItem[]
  readonly selected: number
  /** The part of the text that the selected item replaces. */
  readonly from: number
  readonly to: number
  /** What Enter does: insert the item, or submit the text, with the item or as it was typed. */
  readonly enterAction: 'insert' | 'submit' | 'submit-typed'
}

export interface MenuItem {
  readonly value: string
  readonly aliases?: readonly string[]
  readonly about?: string
}

export interface StatusInfo {
  readonly model: string
  readonly mode: ApprovalMode
  readonly folder: string
  readonly branch?: string
  /** Tokens of the last request, and of the context window. */
  readonly context?: number
  readonly window?: number
  readonly cost?: number
  /** The share of the last request that was read from the prompt cache. */
  readonly cached?: number
  readonly sandbox?: string
  /** The output of the user's own command, in place of all of this. */
  readonly custom?: string
}

export function getTerminalSize({ size }: UiState): TerminalSize {
  return size ?? { width: 80, rows: 24 }
}

export function createUiState(
  status: StatusInfo,
  { history = [], vim = false, root }: { history?: readonly string[]; vim?: boolean; root?: string } = {},
): UiState {
  return {
    conversation: EMPTY_LIVE_CONVERSATION,
    editor: EMPTY_EDITOR,
    approvals: [],
    approvalView: INITIAL_APPROVAL_VIEW_STATE,
    queued: [],
    status,
    history,
    ...defined({ root }),
    ...(vim && { vim: 'insert' as const }),
  }
}
