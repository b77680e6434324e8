import type { UiState } from '../ui-state.ts'
import type { KeyEvent } from '../term/key-parser.ts'
import { type EditorEdit, applyEditorEdit, type CursorMotion } from './text-editor.ts'
import type { KeyResult } from './handle-key.ts'

/** A subset of Vim's keys; undefined for a key that has its usual effect. */
export function handleVimKey(state: UiState, key: KeyEvent): KeyResult | undefined {
  const { operator, ...rest } = state
  if (state.vim === 'insert') {
    if (key.type !== 'key' || key.name !== 'escape') return undefined
    return { state: { ...rest, vim: 'normal', editor: applyEditorEdit(state.editor, { do: 'move', to: 'left' }) } }
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

const move = (to: CursorMotion): EditorEdit => ({ do: 'move', to })
const cut = (to: CursorMotion): EditorEdit => ({ do: 'cut', to })
const NEW_LINE: EditorEdit = { do: 'insert', text: '\n' }

const VIM_COMMANDS: Readonly<Record<string, { readonly edits: readonly EditorEdit[]; readonly insert?: true }>> = {
  i: { edits: [], insert: true },
  a: { edits: [move('right')], insert: true },
  I: { edits: [move('indent')], insert: true },
  A: { edits: [move('line-end')], insert: true },
  o: { edits: [move('line-end'), NEW_LINE], insert: true },
  O: { edits: [move('line-start'), NEW_LINE, move('left')], insert: true },
  x: { edits: [cut('right')] },
  X: { edits: [cut('left')] },
  D: { edits: [cut('line-end')] },
  C: { edits: [cut('line-end')], insert: true },
  p: { edits: [move('right'), { do: 'yank' }] },
  P: { edits: [{ do: 'yank' }] },
  u: { edits: [{ do: 'undo' }] },
}

function runVimCommand(state: UiState, letter: string): KeyResult {
  const { operator, ...rest } = state
  if (operator !== undefined) return applyOperator(rest, operator, letter)
  const motion = VIM_MOTIONS[letter]
  if (motion) return { state: { ...rest, editor: applyEditorEdit(rest.editor, { do: 'move', to: motion }) } }
  if (letter === 'd' || letter === 'c' || letter === 'g') return { state: { ...rest, operator: letter } }
  const found = VIM_COMMANDS[letter]
  return found ? { state: applyEdits(rest, found.edits, found.insert) } : { state: rest }
}

function applyOperator(state: UiState, operator: 'd' | 'c' | 'g', letter: string): KeyResult {
  if (operator === 'g') return { state: letter === 'g' ? applyEdits(state, [move('text-start')]) : state }
  if (operator === 'c' && letter === 'c')
    return { state: applyEdits(state, [move('line-start'), cut('line-end')], true) }
  const motion = letter === operator ? 'line' : VIM_MOTIONS[letter]
  if (!motion) return { state }
  // Like Vim, `cw` leaves the space after the word.
  const to = operator === 'c' && motion === 'word-right' ? 'word-end' : motion
  return { state: applyEdits(state, [cut(to)], operator === 'c' ? true : undefined) }
}

function applyEdits(state: UiState, edits: readonly EditorEdit[], insert?: true): UiState {
  const editor = edits.reduce(applyEditorEdit, state.editor)
  return { ...state, editor, ...(insert && { vim: 'insert' as const }) }
}
