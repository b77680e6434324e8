import type { UiState } from '../ui-state.ts'
import type { KeyEvent } from '../term/key-parser.ts'
import { applyEditorEdit } from './text-editor.ts'

/** A search in the input history, as in a shell. */
export interface InputHistorySearch {
  readonly query: string
  readonly at?: number
  /** What was in the input before. */
  readonly draft: UiState['editor']
}

/** Starts the search, or finds the next older match. */
export function startHistorySearch(state: UiState): UiState {
  const { search, menu: _closed, ...rest } = state
  if (!search) return { ...rest, search: { query: '', draft: state.editor } }
  return searchFrom(state, search, search.query, (search.at ?? state.history.length) - 1)
}

/** Handles a key of the search; undefined for a key that ends the search with the match and then has its usual effect. */
export function handleSearchKey(state: UiState, key: Exclude<KeyEvent, { type: 'report' }>): UiState | undefined {
  const { search, ...rest } = state
  if (!search) return undefined
  const last = state.history.length - 1
  if (key.type !== 'key') return searchFrom(state, search, search.query + key.text, search.at ?? last)
  if (key.ctrl && key.name === 'r') return startHistorySearch(state)
  if (key.name === 'space') return searchFrom(state, search, `${search.query} `, search.at ?? last)
  if (key.name === 'backspace') return searchFrom(state, search, search.query.slice(0, -1), last)
  if (key.ctrl && key.name === 'g') return { ...rest, editor: search.draft }
  // Escape and Tab leave the match in the input, for editing.
  return key.name === 'escape' || key.name === 'tab' ? rest : undefined
}

/** Finds the latest match at or before an index. Without one, the previous match stays. */
function searchFrom(state: UiState, search: InputHistorySearch, query: string, from: number): UiState {
  const needle = query.toLowerCase()
  const at =
    needle === ''
      ? -1
      : state.history.findLastIndex((text, position) => position <= from && text.toLowerCase().includes(needle))
  if (at < 0) return { ...state, search: { ...search, query } }
  const editor = applyEditorEdit(state.editor, { do: 'set', text: state.history[at] ?? '' })
  return { ...state, editor, search: { ...search, query, at } }
}

export function formatSearchLine({ query, at }: InputHistorySearch): string {
  const none = query !== '' && at === undefined ? ' (no match)' : ''
  return `Search: ${query}${none} · Ctrl-R older · Enter sends · Tab edits · Ctrl-G leaves`
}
