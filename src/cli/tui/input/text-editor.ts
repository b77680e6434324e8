import { splitGlyphs } from '../term/display-width.ts'
import { defined } from '../../../model/defined.ts'

export interface EditorState {
  readonly text: string
  /** An offset into the text, between two graphemes. */
  readonly cursor: number
  /** The column that moving up and down tries to keep. */
  readonly column?: number
  /** Undo steps, the latest last. */
  readonly past: readonly UndoStep[]
  readonly future: readonly UndoStep[]
  /** What was cut last, for Control-Y. */
  readonly cutText: string
  /** Long pastes: a mark stands for each in the text until it is sent. */
  readonly pastes: readonly { readonly mark: string; readonly text: string }[]
}

interface UndoStep {
  readonly text: string
  readonly cursor: number
  /** The kind of edit: consecutive typing is one step. */
  readonly by: string
}

export type EditorEdit =
  | { readonly do: 'insert'; readonly text: string; readonly paste?: true }
  | { readonly do: 'move'; readonly to: CursorMotion }
  | { readonly do: 'remove' | 'cut'; readonly to: CursorMotion }
  | { readonly do: 'yank' | 'undo' | 'redo' | 'swap' }
  | { readonly do: 'set'; readonly text: string; readonly cursor?: number }
  /** Moves the cursor up or down, and keeps the column. */
  | { readonly do: 'place'; readonly cursor: number; readonly column: number }

export type CursorMotion =
  | ('left' | 'right' | 'up' | 'down' | 'word-left' | 'word-right' | 'word-end')
  | ('line-start' | 'line-end' | 'text-start' | 'text-end' | 'indent' | 'line')

export const EMPTY_EDITOR: EditorState = { text: '', cursor: 0, past: [], future: [], cutText: '', pastes: [] }

/** A longer paste is shown as a mark. */
const LONG_PASTE_LIMITS = { lines: 8, length: 1000 }
const MAX_UNDO_STEPS = 200

export function applyEditorEdit(editor: EditorState, change: EditorEdit): EditorState {
  switch (change.do) {
    case 'insert':
      return change.paste ? insertPaste(editor, change.text) : insertText(editor, change.text, 'type')
    case 'move': {
      const { column: _unused, ...rest } = editor
      const [cursor, column] = findMotionTarget(editor, change.to)
      return { ...rest, cursor, ...defined({ column }) }
    }
    case 'remove':
    case 'cut':
      return removeText(editor, change.to, change.do === 'cut')
    case 'yank':
      return insertText(editor, editor.cutText, 'yank')
    case 'undo':
      return undoOrRedo(editor, 'past', 'future')
    case 'redo':
      return undoOrRedo(editor, 'future', 'past')
    case 'swap':
      return swapCharacters(editor)
    case 'place':
      return { ...editor, cursor: change.cursor, column: change.column }
    case 'set':
      return withText(editor, change.text, change.cursor ?? change.text.length, 'set')
    default:
      return change satisfies never
  }
}

/** The text with the pastes in place of their marks. */
export function expandPastes({ text, pastes }: EditorState): string {
  const textByMark = new Map(pastes.map((paste) => [paste.mark, paste.text]))
  return text.replace(/\[[^\]]*\]/g, (mark) => textByMark.get(mark) ?? mark)
}

/** The target of a motion, and for up and down the column to keep. */
function findMotionTarget(editor: EditorState, to: CursorMotion): [cursor: number, column?: number] {
  const { text, cursor } = editor
  const start = text.lastIndexOf('\n', cursor - 1) + 1
  const end = findLineEnd(text, cursor)
  switch (to) {
    case 'left':
      return [cursor - (splitGlyphs(text.slice(0, cursor).slice(-40)).at(-1)?.text.length ?? 0)]
    case 'right':
      return [cursor + (splitGlyphs(text.slice(cursor, cursor + 40))[0]?.text.length ?? 0)]
    case 'up':
    case 'down':
      return moveVertically(editor, start, end, to)
    case 'word-left':
      return [cursor - (/(?:[\p{L}\p{N}_]+|[^\p{L}\p{N}_\s]+)?\s*$/u.exec(text.slice(0, cursor))?.[0].length ?? 0)]
    case 'word-right':
      return [cursor + (/^(?:[\p{L}\p{N}_]+|[^\p{L}\p{N}_\s]+)?\s*/u.exec(text.slice(cursor))?.[0].length ?? 0)]
    case 'word-end':
      return [cursor + (/^\s*(?:[\p{L}\p{N}_]+|[^\p{L}\p{N}_\s]+)?/u.exec(text.slice(cursor))?.[0].length ?? 0)]
    case 'line-start':
      return [start]
    case 'line-end':
      return [end]
    case 'indent':
      return [start + (/^[ \t]*/.exec(text.slice(start, end))?.[0].length ?? 0)]
    case 'text-start':
      return [0]
    case 'text-end':
      return [text.length]
    case 'line':
      return [Math.min(end + 1, text.length)]
    default:
      return to satisfies never
  }
}

function moveVertically(editor: EditorState, start: number, end: number, to: 'up' | 'down'): [number, number] {
  const { text, cursor, column = splitGlyphs(text.slice(start, cursor)).length } = editor
  if (to === 'up' && start === 0) return [0, column]
  if (to === 'down' && end === text.length) return [text.length, column]
  const from = to === 'up' ? text.lastIndexOf('\n', start - 2) + 1 : end + 1
  const line = splitGlyphs(text.slice(from, findLineEnd(text, from))).slice(0, column)
  return [from + line.reduce((sum, { text: glyph }) => sum + glyph.length, 0), column]
}

function findLineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end < 0 ? text.length : end
}

function insertText(editor: EditorState, text: string, by: string): EditorState {
  const { text: now, cursor } = editor
  return withText(editor, now.slice(0, cursor) + text + now.slice(cursor), cursor + text.length, by)
}

function insertPaste(editor: EditorState, text: string): EditorState {
  const clean = text.replaceAll('\t', '    ').replace(/[^\P{Cc}\n]/gu, '')
  const lines = clean.replace(/\n$/, '').split('\n').length
  if (lines <= LONG_PASTE_LIMITS.lines && clean.length <= LONG_PASTE_LIMITS.length)
    return insertText(editor, clean, 'paste')
  const mark = `[paste ${editor.pastes.length + 1}: ${lines} line${lines === 1 ? '' : 's'}]`
  return insertText({ ...editor, pastes: [...editor.pastes, { mark, text: clean }] }, mark, 'paste')
}

function removeText(editor: EditorState, to: CursorMotion, isCut: boolean): EditorState {
  const { text, cursor } = editor
  const [other] = findMotionTarget(editor, to)
  // At the end of a line, cutting to the end removes the line end.
  const motionEnd = to === 'line-end' && other === cursor ? Math.min(cursor + 1, text.length) : other
  const from = to === 'line' ? text.lastIndexOf('\n', cursor - 1) + 1 : Math.min(cursor, motionEnd)
  const until = Math.max(cursor, motionEnd)
  if (from === until) return editor
  const next = withText(editor, text.slice(0, from) + text.slice(until), from, isCut ? 'cut' : 'remove')
  return isCut ? { ...next, cutText: text.slice(from, until) } : next
}

function swapCharacters(editor: EditorState): EditorState {
  const { text, cursor } = editor
  const before = splitGlyphs(text.slice(0, cursor)).slice(-2)
  const [one, two] = before
  if (!one || !two || two.text === '\n') return editor
  const head = text.slice(0, cursor - one.text.length - two.text.length)
  return withText(editor, `${head}${two.text}${one.text}${text.slice(cursor)}`, cursor, 'swap')
}

function withText(editor: EditorState, text: string, cursor: number, by: string): EditorState {
  if (text === editor.text) return { ...editor, cursor }
  const { column: _unused, past, ...rest } = editor
  const last = past.at(-1)
  const isSameStep = by === 'type' && last?.by === 'type' && !/\s$/.test(editor.text.slice(0, editor.cursor))
  const steps = isSameStep ? past : [...past, { text: editor.text, cursor: editor.cursor, by }].slice(-MAX_UNDO_STEPS)
  return { ...rest, text, cursor, past: steps, future: [] }
}

function undoOrRedo(editor: EditorState, from: 'past' | 'future', to: 'past' | 'future'): EditorState {
  const step = editor[from].at(-1)
  if (!step) return editor
  const current = { text: editor.text, cursor: editor.cursor, by: step.by }
  return {
    ...editor,
    text: step.text,
    cursor: step.cursor,
    [from]: editor[from].slice(0, -1),
    [to]: [...editor[to], current],
  }
}
