import type { ApprovalReply, ApprovalRequest } from '../../../agent/calls/call-state.ts'
import type { SandboxAccess } from '../../../model/security/sandbox-access.ts'
import { isFullyShown, type UiState } from '../ui-state.ts'
import type { KeyEvent } from '../term/key-parser.ts'
import { listApprovalAnswers, listGrantChoices } from '../view/approval-answers.ts'
import { hasHiddenSecrets, layoutShownApproval } from '../view/approval.ts'
import { toEditorEdit, type NamedKey } from './edit-keys.ts'
import { type EditorEdit, applyEditorEdit, EMPTY_EDITOR } from './text-editor.ts'
import type { KeyResult } from './handle-key.ts'

/** A letter is an answer if no other follows in this time; otherwise it is the beginning of a text. */
export const KEY_HOLD_MS = 200

/** Handles a key while an approval waits. A key that does not answer it goes to the input through `typeText`. */
export function handleApprovalKey(state: UiState, key: KeyEvent, typeText: (state: UiState) => KeyResult): KeyResult {
  const { approvalView } = state
  const ask = findSelectedApproval(state)
  if (!ask || key.type === 'report') return { state }
  if (approvalView.reasonEditor) return handleReasonKey(state, key, ask)
  if (key.type === 'paste') return typeText(insertHeldKey(state))
  if (key.type === 'text') return handleLetter(state, key.text, ask, typeText)
  const { state: now, actions = [] } = applyHeldKey(state)
  // The held answer is given first.
  if (actions.length > 0) return { state: now, actions }
  const { isChoosing, isTooEarly: _unused, ...rest } = now.approvalView
  const look = (at: number): KeyResult => ({ state: { ...now, approvalView: { ...rest, at, top: 0 } } })
  if (key.name === 'escape')
    return isChoosing
      ? { state: { ...now, approvalView: rest } }
      : { state: now, actions: [createAnswer(ask, 'cancel')] }
  if (key.name === 'left') return look((approvalView.at + now.approvals.length - 1) % now.approvals.length)
  if (key.name === 'right' || key.name === 'tab') return look((approvalView.at + 1) % now.approvals.length)
  return { state: scrollApproval(now, key.name) }
}

function scrollApproval(state: UiState, key: NamedKey['name']): UiState {
  const { isTooEarly: _unused, ...asking } = state.approvalView
  return { ...state, approvalView: { ...asking, top: scrollPosition(state, key) } }
}

const PAGER_KEYS: Readonly<Record<string, NamedKey['name']>> = { ' ': 'page-down', b: 'page-up', g: 'home', G: 'end' }

/** Gives the answer of a held letter, when no other letter has followed. */
export function applyHeldKey(state: UiState): KeyResult {
  const { heldKey, ...rest } = state
  const ask = findSelectedApproval(state)
  return heldKey === undefined || !ask ? { state: rest } : answerWithKey(rest, heldKey, ask)
}

function findSelectedApproval({ approvals, approvalView }: UiState): ApprovalRequest | undefined {
  return approvals[approvalView.at] ?? approvals[0]
}

/** Several letters at once are a text, and so is a letter that is no answer. */
function handleLetter(
  state: UiState,
  text: string,
  ask: ApprovalRequest,
  typeText: (state: UiState) => KeyResult,
): KeyResult {
  const { approvals, approvalView, heldKey } = state
  const look = { hasSecrets: hasHiddenSecrets(ask, approvalView) }
  // A letter that was typed before the request was shown does not answer it.
  const isSeen = approvalView.shown[ask.id] !== undefined
  const isAnswer = isSeen && listApprovalAnswers(ask, approvals, approvalView, look).some(({ key }) => key === text)
  const isPager = Object.hasOwn(PAGER_KEYS, text) && layoutShownApproval(state).last > 0
  if (heldKey === undefined && (isAnswer || isPager)) return { state: { ...state, heldKey: text } }
  return typeText(insertHeldKey(state))
}

function insertHeldKey({ heldKey, ...state }: UiState): UiState {
  if (heldKey === undefined) return state
  const { isChoosing: _unused, ...asking } = state.approvalView
  return { ...state, approvalView: asking, editor: applyEditorEdit(state.editor, { do: 'insert', text: heldKey }) }
}

function answerWithKey(state: UiState, letter: string, ask: ApprovalRequest): KeyResult {
  const { isChoosing, isTooEarly: _unused, ...asking } = state.approvalView
  const withoutChoosing: UiState = { ...state, approvalView: asking }
  const page = PAGER_KEYS[letter]
  if (page !== undefined) return { state: scrollApproval(state, page) }
  const { details } = ask
  if (details.kind === 'question') {
    if (letter === 'w')
      return { state: { ...withoutChoosing, approvalView: { ...asking, reasonEditor: EMPTY_EDITOR } } }
    const option = details.options[Number(letter) - 1]
    if (!isFullyShown(asking, ask.id)) return markTooEarly(state)
    const words = option?.label
    return words === undefined ? { state } : { state, actions: [{ ...createAnswer(ask, 'proceed-once'), words }] }
  }
  if (letter === 'n') return { state: { ...withoutChoosing, approvalView: { ...asking, reasonEditor: EMPTY_EDITOR } } }
  if (letter === 'e') return { state: withoutChoosing, actions: [{ do: 'modify', ask: ask.id }] }
  if (letter === 'v')
    return {
      state: { ...withoutChoosing, approvalView: { ...asking, top: 0, revealedIds: [...asking.revealedIds, ask.id] } },
    }
  if (letter === 'A') return approveAllEdits(withoutChoosing, ask)
  const isPlan = ask.details.kind === 'plan'
  if (letter === 'a' && !isPlan) return { state: { ...withoutChoosing, approvalView: { ...asking, isChoosing: true } } }
  // A request can be approved only after it was shown in full.
  if (!isFullyShown(asking, ask.id)) return markTooEarly(state)
  if (isPlan)
    return { state: withoutChoosing, actions: [createAnswer(ask, letter === 'a' ? 'proceed-always' : 'proceed-once')] }
  const access = ACCESS_BY_KEY[letter]
  if (access) return { state: withoutChoosing, actions: [{ ...createAnswer(ask, 'proceed-once'), access }] }
  if (!isChoosing) return { state: withoutChoosing, actions: [createAnswer(ask, 'proceed-once')] }
  const choice = listGrantChoices(ask)[Number(letter) - 1]
  return choice
    ? { state: withoutChoosing, actions: [{ ...createAnswer(ask, 'proceed-always'), ...choice }] }
    : { state }
}

/** Letters that give a command more access than the sandbox, once. */
const ACCESS_BY_KEY: Readonly<Record<string, SandboxAccess>> = { o: 'outside', w: 'network' }

function markTooEarly(state: UiState): KeyResult {
  return { state: { ...state, approvalView: { ...state.approvalView, isTooEarly: true } } }
}

function createAnswer({ id }: ApprovalRequest, outcome: ApprovalReply['outcome']) {
  return { do: 'answer', ask: id, outcome } as const
}

/** The first line that is shown after a key; pages overlap by a line. */
/** After a jump over lines, a page down leads back to the first line that was not seen: only so can all of it be read. */
function scrollPosition(state: UiState, name: NamedKey['name']): number {
  const { ask, room, last } = layoutShownApproval(state)
  const extent = ask && state.approvalView.shown[ask.id]
  if (name === 'page-down' && typeof extent === 'object' && Math.min(state.approvalView.top, last) > extent.lines)
    return Math.min(extent.lines, last)
  const page = Math.max(room - 1, 1)
  const steps: Readonly<Record<string, number>> = {
    'page-down': page,
    'page-up': -page,
    down: 1,
    up: -1,
    home: -Infinity,
    end: Infinity,
  }
  return Math.max(Math.min(Math.min(state.approvalView.top, last) + (steps[name] ?? 0), last), 0)
}

/** Approves all edits, after each was shown in full. */
function approveAllEdits(state: UiState, current: ApprovalRequest): KeyResult {
  const { approvals, approvalView } = state
  const edits = approvals.filter(({ details }) => details.kind === 'edit')
  if (edits.length < 2) return { state }
  const isUnseen = ({ id }: ApprovalRequest): boolean => !isFullyShown(approvalView, id)
  if (current.details.kind === 'edit' && isUnseen(current)) return markTooEarly(state)
  const next = edits.find(isUnseen)
  if (next) return { state: { ...state, approvalView: { ...approvalView, at: approvals.indexOf(next), top: 0 } } }
  return { state, actions: edits.map((one) => createAnswer(one, 'proceed-once')) }
}

function handleReasonKey(state: UiState, key: Exclude<KeyEvent, { type: 'report' }>, ask: ApprovalRequest): KeyResult {
  const { reasonEditor = EMPTY_EDITOR, ...asking } = state.approvalView
  if (key.type === 'key' && key.name === 'escape') return { state: { ...state, approvalView: asking } }
  if (key.type === 'key' && key.name === 'enter') {
    const words = reasonEditor.text.trim()
    const outcome = ask.details.kind === 'question' && words !== '' ? 'proceed-once' : 'cancel'
    const action = { ...createAnswer(ask, outcome), ...(words !== '' && { words }) }
    return { state: { ...state, approvalView: asking }, actions: [action] }
  }
  const change: EditorEdit | undefined = key.type === 'key' ? toEditorEdit(key) : { do: 'insert', text: key.text }
  return change
    ? { state: { ...state, approvalView: { ...asking, reasonEditor: applyEditorEdit(reasonEditor, change) } } }
    : { state }
}
