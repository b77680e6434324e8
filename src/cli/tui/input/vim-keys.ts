import type { UiState } from '../ui-state.ts'
import type { KeyEvent } from '../term/key-parser.ts'
import { type EditorEdit, applyEdit, type CursorMotion } from './text-editor.ts'
import type { KeyResult } from './handle-key.ts'

/** A subset of Vim's keys; undefined for a key that has its usual effect. */
export function handleVimKey(state: UiState, key: KeyEvent): KeyResult | undefined {
  const { operator, ...rest } = state
  if (state.vim === 'insert') {
    if (key.type !== 'key' || key.name !== 'escape') return undefined
    return { state: { ...rest, vim: 'normal', editor: applyEdit(state.editor, { do: 'move', to: 'left' }) } }
  }
  if (key.type !== 'text') return undefined
  let next: KeyResult = { state: operator ? { ...rest, operator } : rest }
  for (const letter of key.text) next = runVimCommand(next.state, letter)
  return next
}

const VIM_MOTIONS: Readonly<Record<string, CursorMotion>> = {
  h: 'left',
  l: 'right',
  j: 'down',
  k: 'up',
  w: 'word-right',
  b: 'word-left',
  e: 'word-end',
  '0': 'line-start',
  '^': 'indent',
  $: 'line-end',
  G: 'text-end',
}

/** Commands of one letter. */
const VIM_COMMANDS: Readonly<Record<string, { readonly edits: readonly EditorEdit[]; readonly insert?: true }>> = {
  i: { edits: [], insert: true },
  a: { edits: [{ do: 'move', to: 'right' }], insert: true },
  I: { edits: [{ do: 'move', to: 'indent' }], insert: true },
  A: { edits: [{ do: 'move', to: 'line-end' }], insert: true },
  o: {
    edits: [
      { do: 'move', to: 'line-end' },
      { do: 'insert', text: '\n' },
    ],
    insert: true,
  },
  O: {
    edits: [
      { do: 'move', to: 'line-start' },
      { do: 'insert', text: '\n' },
      { do: 'move', to: 'left' },
    ],
    insert: true,
  },
  x: { edits: [{ do: 'cut', to: 'right' }] },
  X: { edits: [{ do: 'cut', to: 'left' }] },
  D: { edits: [{ do: 'cut', to: 'line-end' }] },
  C: { edits: [{ do: 'cut', to: 'line-end' }], insert: true },
  p: { edits: [{ do: 'move', to: 'right' }, { do: 'yank' }] },
  P: { edits: [{ do: 'yank' }] },
  u: { edits: [{ do: 'undo' }] },
}

function runVimCommand(state: UiState, letter: string): KeyResult {
  const { operator, ...rest } = state
  if (operator !== undefined) return applyOperator(rest, operator, letter)
  const motion = VIM_MOTIONS[letter]
  if (motion) return { state: { ...rest, editor: applyEdit(rest.editor, { do: 'move', to: motion }) } }
  if (letter === 'd' || letter === 'c' || letter === 'g') return { state: { ...rest, operator: letter } }
  const found = VIM_COMMANDS[letter]
  return found ? { state: applyEdits(rest, found.edits, found.insert) } : { state: rest }
}

function applyOperator(state: UiState, operator: 'd' | 'c' | 'g', letter: string): KeyResult {
  if (operator === 'g') return { state: letter === 'g' ? applyEdits(state, [{ do: 'move', to: 'text-start' }]) : state }
  const motion = letter === operator ? (operator === 'd' ? 'line' : undefined) : VIM_MOTIONS[letter]
  if (letter === 'c' && operator === 'c')
    return {
      state: applyEdits(
        state,
        [
          { do: 'move', to: 'line-start' },
          { do: 'cut', to: 'line-end' },
        ],
        true,
      ),
    }
  if (!motion) return { state }
  // Like Vim, `cw` leaves the space after the word.
  const to = operator === 'c' && motion === 'word-right' ? 'word-end' : motion
  return { state: applyEdits(state, [{ do: 'cut', to }], operator === 'c' ? true : undefined) }
}

function applyEdits(state: UiState, edits: readonly EditorEdit[], insert?: true): UiState {
  const editor = edits.reduce(applyEdit, state.editor)
  return { ...state, editor, ...(insert && { vim: 'insert' as const }) }
}
