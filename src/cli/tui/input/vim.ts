import type { State } from '../state.ts'
import type { Key } from '../term/keys.ts'
import { type Edit, edit, type Motion } from './editor.ts'
import type { Pressed } from './press.ts'

/** Vim's keys, as far as a few lines of text need them; nothing where the usual keys hold. */
export function vimPress(state: State, key: Key): Pressed | undefined {
  const { operator, ...rest } = state
  if (state.vim === 'insert') {
    if (key.type !== 'key' || key.name !== 'escape') return undefined
    return { state: { ...rest, vim: 'normal', editor: edit(state.editor, { do: 'move', to: 'left' }) } }
  }
  if (key.type !== 'text') return undefined
  let next: Pressed = { state: operator ? { ...rest, operator } : rest }
  for (const letter of key.text) next = command(next.state, letter)
  return next
}

const MOTIONS: Readonly<Record<string, Motion>> = {
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

/** A command of one letter: the edits that it makes, and the mode after it. */
const COMMANDS: Readonly<Record<string, { readonly edits: readonly Edit[]; readonly insert?: true }>> = {
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

function command(state: State, letter: string): Pressed {
  const { operator, ...rest } = state
  if (operator !== undefined) return operated(rest, operator, letter)
  const motion = MOTIONS[letter]
  if (motion) return { state: { ...rest, editor: edit(rest.editor, { do: 'move', to: motion }) } }
  if (letter === 'd' || letter === 'c' || letter === 'g') return { state: { ...rest, operator: letter } }
  const found = COMMANDS[letter]
  return found ? { state: applied(rest, found.edits, found.insert) } : { state: rest }
}

function operated(state: State, operator: 'd' | 'c' | 'g', letter: string): Pressed {
  if (operator === 'g') return { state: letter === 'g' ? applied(state, [{ do: 'move', to: 'text-start' }]) : state }
  const motion = letter === operator ? (operator === 'd' ? 'line' : undefined) : MOTIONS[letter]
  if (letter === 'c' && operator === 'c')
    return {
      state: applied(
        state,
        [
          { do: 'move', to: 'line-start' },
          { do: 'cut', to: 'line-end' },
        ],
        true,
      ),
    }
  if (!motion) return { state }
  // Changing a word leaves the space after it.
  const to = operator === 'c' && motion === 'word-right' ? 'word-end' : motion
  return { state: applied(state, [{ do: 'cut', to }], operator === 'c' ? true : undefined) }
}

function applied(state: State, edits: readonly Edit[], insert?: true): State {
  const editor = edits.reduce(edit, state.editor)
  return { ...state, editor, ...(insert && { vim: 'insert' as const }) }
}
