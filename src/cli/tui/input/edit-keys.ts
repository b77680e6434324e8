import type { Key } from '../term/keys.ts'
import type { Edit, Motion } from './editor.ts'

/** A key that is no character. */
export type Named = Extract<Key, { type: 'key' }>

const CONTROL: Readonly<Record<string, Edit>> = {
  a: { do: 'move', to: 'line-start' },
  e: { do: 'move', to: 'line-end' },
  b: { do: 'move', to: 'left' },
  f: { do: 'move', to: 'right' },
  h: { do: 'remove', to: 'left' },
  k: { do: 'cut', to: 'line-end' },
  u: { do: 'cut', to: 'line-start' },
  w: { do: 'cut', to: 'word-left' },
  y: { do: 'yank' },
  t: { do: 'swap' },
  _: { do: 'undo' },
  backspace: { do: 'cut', to: 'word-left' },
  delete: { do: 'cut', to: 'word-end' },
}
const ALT: Readonly<Record<string, Edit>> = {
  b: { do: 'move', to: 'word-left' },
  f: { do: 'move', to: 'word-end' },
  d: { do: 'cut', to: 'word-end' },
  backspace: { do: 'cut', to: 'word-left' },
  z: { do: 'redo' },
}
const MOTIONS: Readonly<Record<string, Motion>> = { left: 'left', right: 'right', home: 'line-start', end: 'line-end' }

/** The edit that a key means, as in every shell. */
export function editOf({ name, ctrl, alt }: Named): Edit | undefined {
  if ((ctrl || alt) && (name === 'left' || name === 'right'))
    return { do: 'move', to: name === 'left' ? 'word-left' : 'word-end' }
  if (ctrl && (name === 'home' || name === 'end'))
    return { do: 'move', to: name === 'home' ? 'text-start' : 'text-end' }
  if (ctrl) return CONTROL[name]
  if (alt) return ALT[name]
  if (name === 'backspace') return { do: 'remove', to: 'left' }
  if (name === 'delete') return { do: 'remove', to: 'right' }
  if (name === 'space') return { do: 'insert', text: ' ' }
  const to = MOTIONS[name]
  return to && { do: 'move', to }
}
