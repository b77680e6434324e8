import type { KeyEvent } from '../term/key-parser.ts'
import type { EditorEdit, CursorMotion } from './text-editor.ts'

export type NamedKey = Extract<KeyEvent, { type: 'key' }>

const CONTROL_EDITS: Readonly<Record<string, EditorEdit>> = {
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
const ALT_EDITS: Readonly<Record<string, EditorEdit>> = {
  b: { do: 'move', to: 'word-left' },
  f: { do: 'move', to: 'word-end' },
  d: { do: 'cut', to: 'word-end' },
  backspace: { do: 'cut', to: 'word-left' },
  z: { do: 'redo' },
}
const KEY_MOTIONS: Readonly<Record<string, CursorMotion>> = {
  left: 'left',
  right: 'right',
  home: 'line-start',
  end: 'line-end',
}

export function toEditorEdit({ name, ctrl, alt }: NamedKey): EditorEdit | undefined {
  if ((ctrl || alt) && (name === 'left' || name === 'right'))
    return { do: 'move', to: name === 'left' ? 'word-left' : 'word-end' }
  if (ctrl && (name === 'home' || name === 'end'))
    return { do: 'move', to: name === 'home' ? 'text-start' : 'text-end' }
  if (ctrl) return CONTROL_EDITS[name]
  if (alt) return ALT_EDITS[name]
  if (name === 'backspace') return { do: 'remove', to: 'left' }
  if (name === 'delete') return { do: 'remove', to: 'right' }
  if (name === 'space') return { do: 'insert', text: ' ' }
  const to = KEY_MOTIONS[name]
  return to && { do: 'move', to }
}
