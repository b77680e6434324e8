import type { ApprovalReply } from '../../../agent/calls/call-state.ts'
import { isInputFocused, type CompletionMenu, getTerminalSize, type UiState } from '../ui-state.ts'
import type { KeyEvent } from '../term/key-parser.ts'
import { displayWidth } from '../term/display-width.ts'
import { countInputColumns } from '../view/input-box.ts'
import { toEditorEdit } from './edit-keys.ts'
import { type EditorEdit, applyEditorEdit, EMPTY_EDITOR, expandPastes } from './text-editor.ts'
import { findOffsetAtColumn, findRowIndex, layoutRows } from './text-rows.ts'
import { handleApprovalKey } from './approval-keys.ts'
import { handleSearchKey, startHistorySearch } from './history-search.ts'
import { handleVimKey } from './vim-keys.ts'

/** What a key asks of the program, besides changing the state. */
export type UiAction =
  | { readonly do: 'submit'; readonly text: string }
  | ({ readonly do: 'answer' } & ApprovalReply)
  | { readonly do: 'modify'; readonly ask: string }
  /** A text was pasted into the input; if it is the path of an image that was dropped on the terminal, that is attached. */
  | { readonly do: 'attach-dropped'; readonly text: string }
  | { readonly do: 'rewind' }
  | { readonly do: 'stop' | 'quit' | 'suspend' | 'redraw' | 'details' }
  | { readonly do: 'complete' | 'editor' | 'next-mode' | 'paste-image' }

export interface KeyResult {
  readonly state: UiState
  readonly actions?: readonly UiAction[]
}

export function handleKey(before: UiState, key: KeyEvent): KeyResult {
  const { hint: _unused, ...state } = before
  if (key.type === 'report') return { state: before }
  const control = key.type === 'key' && key.ctrl && key.name
  if (control === 'c') return handleInterrupt(before)
  if (control === 'z') return { state, actions: [{ do: 'suspend' }] }
  if (control === 'l') return { state, actions: [{ do: 'redraw' }] }
  if (control === 'o') return { state, actions: [{ do: 'details' }] }
  if (state.approvals.length === 0) return handleSecondEscape(before, key) ?? handleTypingKey(state, key)
  if (!isInputFocused(state))
    return handleApprovalKey(state, key, (next) => handleTypingKey({ ...next, isWriting: true }, key))
  // Keys go to the input until Escape leads to the approval; the draft stays.
  const leavesInput = key.type === 'key' && key.name === 'escape' && !state.menu
  return leavesInput ? { state: { ...state, isWriting: false } } : handleTypingKey({ ...state, isWriting: true }, key)
}

function handleTypingKey(before: UiState, key: Exclude<KeyEvent, { type: 'report' }>): KeyResult {
  const searchState = before.search && handleSearchKey(before, key)
  if (searchState) return { state: searchState }
  const { search: _over, ...state } = before
  return handleMenuKey(state, key) ?? (state.vim && handleVimKey(state, key)) ?? handleInputKey(state, key)
}

/** Esc twice clears the input; if it is empty, it leads back to an earlier message. */
function handleSecondEscape({ hint, ...state }: UiState, key: KeyEvent): KeyResult | undefined {
  if (key.type !== 'key' || key.name !== 'escape' || state.menu || state.search) return undefined
  if (hint === 'rewind') return { state, actions: [{ do: 'rewind' }] }
  return hint === 'clear' ? { state: editInput(state, { do: 'set', text: '' }).state } : undefined
}

/** Control-C clears the input, then stops the model, then asks to be pressed again to exit. */
function handleInterrupt(state: UiState): KeyResult {
  if (state.approvals.length > 0) return stopRun(state)
  if (state.search) {
    const { search, ...rest } = state
    return { state: { ...rest, editor: search.draft } }
  }
  // Undo restores it.
  if (state.editor.text !== '') return { state: editInput(state, { do: 'set', text: '' }).state }
  if (state.runningSince !== undefined) return stopRun(state)
  if (state.hint === 'leave') return { state, actions: [{ do: 'quit' }] }
  return { state: { ...state, hint: 'leave' } }
}

function handleInputKey(state: UiState, key: Exclude<KeyEvent, { type: 'report' }>): KeyResult {
  if (key.type === 'text') return editInput(state, { do: 'insert', text: key.text }, true)
  if (key.type === 'paste')
    return key.text === '' ? { state, actions: [{ do: 'paste-image' }] } : handlePaste(state, key.text)
  if (key.name === 'enter' && !key.alt && !key.shift && !key.ctrl) return submitInput(state)
  const newLine = (key.name === 'enter' && (key.alt ?? key.shift ?? key.ctrl)) || (key.ctrl && key.name === 'j')
  if (newLine) return editInput(state, { do: 'insert', text: '\n' })
  if (key.name === 'escape')
    return state.runningSince === undefined
      ? { state: { ...state, hint: state.editor.text === '' ? 'rewind' : 'clear' } }
      : stopRun(state)
  if (key.name === 'tab') return { state, actions: [{ do: key.shift ? 'next-mode' : 'complete' }] }
  if (key.name === 'up' || key.name === 'down') return moveVertically(state, key.name)
  if (key.ctrl && key.name === 'd')
    return state.editor.text === ''
      ? { state, actions: [{ do: 'quit' }] }
      : editInput(state, { do: 'remove', to: 'right' })
  if (key.ctrl && (key.name === 'x' || key.name === 'g')) return { state, actions: [{ do: 'editor' }] }
  if (key.ctrl && key.name === 'r') return { state: startHistorySearch(state) }
  if (key.ctrl && key.name === 'v') return { state, actions: [{ do: 'paste-image' }] }
  // In Claude Code it moves a command to the background; in a text it moves the cursor.
  if (key.ctrl && key.name === 'b' && state.editor.text === '' && state.runningSince !== undefined)
    return { state: { ...state, hint: 'background' } }
  const change = toEditorEdit(key)
  return change ? editInput(state, change, change.do !== 'move') : { state }
}

function handlePaste(state: UiState, text: string): KeyResult {
  const { state: next, actions = [] } = editInput(state, { do: 'insert', text, paste: true }, true)
  return { state: next, actions: [{ do: 'attach-dropped', text }, ...actions] }
}

function editInput(state: UiState, change: EditorEdit, completes = false): KeyResult {
  const { historyIndex: _unused, draft: _gone, menu: _closed, ...rest } = state
  const next: UiState = { ...rest, editor: applyEditorEdit(state.editor, change) }
  return completes ? { state: next, actions: [{ do: 'complete' }] } : { state: next }
}

function submitInput(state: UiState): KeyResult {
  // A backslash before Enter means a new line, in every terminal.
  if (state.editor.text.slice(0, state.editor.cursor).endsWith('\\')) {
    const editor = applyEditorEdit(state.editor, { do: 'remove', to: 'left' })
    return { state: { ...state, editor: applyEditorEdit(editor, { do: 'insert', text: '\n' }) } }
  }
  const text = expandPastes(state.editor).trim()
  if (text === '') return { state }
  const { historyIndex: _unused, draft: _gone, ...rest } = state
  const history = state.history.at(-1) === text ? state.history : [...state.history, text]
  return { state: { ...rest, editor: EMPTY_EDITOR, history }, actions: [{ do: 'submit', text }] }
}

/** Stops the model. Queued messages return to the input: after a stop nothing must be sent. */
function stopRun(state: UiState): KeyResult {
  return { state: moveQueueToInput(state), actions: [{ do: 'stop' }] }
}

function moveQueueToInput(state: UiState): UiState {
  if (state.queued.length === 0) return state
  // A recalled message is no draft: it may be one of those that are queued.
  const { historyIndex, draft, ...rest } = state
  const draftText = historyIndex === undefined ? state.editor.text : (draft?.text ?? '')
  const text = [...state.queued, draftText].filter((one) => one !== '').join('\n')
  return { ...rest, queued: [], editor: applyEditorEdit(state.editor, { do: 'set', text }) }
}

/** Up and down move in the rows of the text, and beyond its ends through the history. */
function moveVertically(state: UiState, to: 'up' | 'down'): KeyResult {
  const { editor } = state
  const rows = layoutRows(editor.text, countInputColumns(getTerminalSize(state).width))
  const at = findRowIndex(rows, editor.cursor)
  const [here, next] = [rows[at], rows[to === 'up' ? at - 1 : at + 1]]
  if (!here || !next) return recallHistory(state, to)
  const column = editor.column ?? displayWidth(here.text.slice(0, editor.cursor - here.start))
  const cursor = findOffsetAtColumn(next, column)
  return { state: { ...state, editor: applyEditorEdit(editor, { do: 'place', cursor, column }) } }
}

function recallHistory(state: UiState, to: 'up' | 'down'): KeyResult {
  // Queued messages are the latest: they return to the input for editing.
  if (to === 'up' && state.queued.length > 0) return { state: moveQueueToInput(state) }
  const { historyIndex, draft, ...rest } = state
  const last = state.history.length
  const next = (historyIndex ?? last) + (to === 'up' ? -1 : 1)
  if (next < 0 || next > last) return { state }
  if (next === last) return { state: { ...rest, editor: draft ?? EMPTY_EDITOR } }
  const editor = applyEditorEdit(state.editor, { do: 'set', text: state.history[next] ?? '' })
  return { state: { ...rest, historyIndex: next, draft: draft ?? state.editor, editor } }
}

function handleMenuKey(state: UiState, key: KeyEvent): KeyResult | undefined {
  const { menu, ...rest } = state
  if (!menu || key.type !== 'key') return undefined
  const count = menu.items.length
  if (key.name === 'escape') {
    // Leaving the choices of a command also removes the command; undo restores it.
    const isCommandAlone = /^\/\S+ $/.test(state.editor.text)
    return { state: isCommandAlone ? editInput(rest, { do: 'set', text: '' }).state : rest }
  }
  if (key.name === 'up' || (key.ctrl && key.name === 'p'))
    return { state: { ...state, menu: selectMenuItem(menu, (menu.selected + count - 1) % count) } }
  if (key.name === 'down' || (key.ctrl && key.name === 'n'))
    return { state: { ...state, menu: selectMenuItem(menu, (menu.selected + 1) % count) } }
  const chosen = menu.items[menu.selected]
  if (!chosen || key.ctrl || key.alt || (key.name !== 'tab' && key.name !== 'enter')) return undefined
  if (key.name === 'enter' && menu.enterAction === 'submit-typed') return submitInput(rest)
  const after = state.editor.text.slice(menu.to)
  if (key.name === 'enter' && menu.enterAction === 'submit') {
    const text = state.editor.text.slice(0, menu.from) + chosen.value + after
    return submitInput({ ...rest, editor: applyEditorEdit(state.editor, { do: 'set', text }) })
  }
  const head = `${state.editor.text.slice(0, menu.from)}${chosen.value}${after.startsWith(' ') || chosen.value.endsWith('/') ? '' : ' '}`
  const editor = applyEditorEdit(state.editor, { do: 'set', text: head + after, cursor: head.length })
  return { state: { ...rest, editor }, actions: [{ do: 'complete' }] }
}

/** An item that the user has moved to replaces what was typed. */
function selectMenuItem(menu: CompletionMenu, at: number): CompletionMenu {
  return { ...menu, selected: at, enterAction: menu.enterAction === 'submit-typed' ? 'submit' : menu.enterAction }
}
