import type { State } from '../state.ts'
import type { Key } from '../term/keys.ts'
import { edit } from './editor.ts'

/** A search in what was said before, as in a shell. */
export interface HistorySearch {
  readonly query: string
  /** Which of the history is shown; none where nothing fits. */
  readonly at?: number
  /** What was being written before. */
  readonly draft: State['editor']
}

/** Starts the search; the next older match with every further Control-R. */
export function searchHistory(state: State): State {
  const { search, menu: _closed, ...rest } = state
  if (!search) return { ...rest, search: { query: '', draft: state.editor } }
  return found(state, search, search.query, (search.at ?? state.history.length) - 1)
}

/** What a key does while the history is searched. `use` leaves the search with what it shows, and the key does what it always does. */
export function pressAtSearch(state: State, key: Exclude<Key, { type: 'report' }>): State | 'use' {
  const { search, ...rest } = state
  if (!search) return 'use'
  if (key.type !== 'key') return found(state, search, search.query + key.text, search.at ?? state.history.length - 1)
  if (key.ctrl && key.name === 'r') return searchHistory(state)
  if (key.name === 'space') return found(state, search, `${search.query} `, search.at ?? state.history.length - 1)
  if (key.name === 'backspace') return found(state, search, search.query.slice(0, -1), state.history.length - 1)
  if (key.ctrl && key.name === 'g') return { ...rest, editor: search.draft }
  // Escape and Tab leave what was found in the input, to be changed.
  return key.name === 'escape' || key.name === 'tab' ? rest : 'use'
}

/** Looks for the latest that holds the words, from a place on backwards. Where there is none, what was found stays. */
function found(state: State, search: HistorySearch, query: string, from: number): State {
  const wanted = query.toLowerCase()
  const at =
    wanted === '' ? -1 : state.history.findLastIndex((text, nth) => nth <= from && text.toLowerCase().includes(wanted))
  if (at < 0) return { ...state, search: { ...search, query } }
  const editor = edit(state.editor, { do: 'set', text: state.history[at] ?? '' })
  return { ...state, editor, search: { ...search, query, at } }
}

/** The line below the input while the history is searched. */
export function searchLine({ query, at }: HistorySearch): string {
  const none = query !== '' && at === undefined ? ' (nothing found)' : ''
  return `Search: ${query}${none} · Ctrl-R older · Enter sends · Tab edits · Ctrl-G leaves`
}
