import type { UiState } from '../ui-state.ts'
import type { KeyEvent } from '../term/key-parser.ts'
import { applyEdit } from './text-editor.ts'

/** A search in what was said before, as in a shell. */
export interface HistorySearch {
  readonly query: string
  /** Which of the history is shown; none where nothing fits. */
  readonly at?: number
  /** What was being written before. */
  readonly draft: UiState['editor']
}

/** Starts the search; the next older match with every further Control-R. */
export function startHistorySearch(state: UiState): UiState {
  const { search, menu: _closed, ...rest } = state
  if (!search) return { ...rest, search: { query: '', draft: state.editor } }
  return searchFrom(state, search, search.query, (search.at ?? state.history.length) - 1)
}

/** What a key does while the history is searched. `use` leaves the search with what it shows, and the key does what it always does. */
export function handleSearchKey(state: UiState, key: Exclude<KeyEvent, { type: 'report' }>): UiState | 'use' {
  const { search, ...rest } = state
  if (!search) return 'use'
  if (key.type !== 'key')
    return searchFrom(state, search, search.query + key.text, search.at ?? state.history.length - 1)
  if (key.ctrl && key.name === 'r') return startHistorySearch(state)
  if (key.name === 'space') return searchFrom(state, search, `${search.query} `, search.at ?? state.history.length - 1)
  if (key.name === 'backspace') return searchFrom(state, search, search.query.slice(0, -1), state.history.length - 1)
  if (key.ctrl && key.name === 'g') return { ...rest, editor: search.draft }
  // Escape and Tab leave what was found in the input, to be changed.
  return key.name === 'escape' || key.name === 'tab' ? rest : 'use'
}

/** Looks for the latest that holds the words, from a place on backwards. Where there is none, what was found stays. */
function searchFrom(state: UiState, search: HistorySearch, query: string, from: number): UiState {
  const needle = query.toLowerCase()
  const at =
    needle === ''
      ? -1
      : state.history.findLastIndex((text, position) => position <= from && text.toLowerCase().includes(needle))
  if (at < 0) return { ...state, search: { ...search, query } }
  const editor = applyEdit(state.editor, { do: 'set', text: state.history[at] ?? '' })
  return { ...state, editor, search: { ...search, query, at } }
}

/** The line below the input while the history is searched. */
export function formatSearchLine({ query, at }: HistorySearch): string {
  const none = query !== '' && at === undefined ? ' (nothing found)' : ''
  return `Search: ${query}${none} · Ctrl-R older · Enter sends · Tab edits · Ctrl-G leaves`
}
