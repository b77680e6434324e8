import { cellsOf } from '../term/width.ts'

/** What is being written: a text, and where the cursor stands in it. */
export interface Editor {
  readonly text: string
  /** An offset into the text, always between two characters. */
  readonly cursor: number
  /** The column that moving up and down tries to keep. */
  readonly column?: number
  /** What was there before, the latest last. */
  readonly past: readonly Written[]
  readonly future: readonly Written[]
  /** What was cut last; Control-Y brings it back. */
  readonly cutText: string
  /** Long pastes stand as a mark in the text and come back when it is sent. */
  readonly pastes: readonly string[]
}

interface Written {
  readonly text: string
  readonly cursor: number
  /** Letters that follow each other are one step to undo. */
  readonly by: string
}

/** What can be done to a text. */
export type Edit =
  | { readonly do: 'insert'; readonly text: string; readonly paste?: true }
  | { readonly do: 'move'; readonly to: Motion }
  | { readonly do: 'remove' | 'cut'; readonly to: Motion }
  | { readonly do: 'yank' | 'undo' | 'redo' | 'swap' }
  | { readonly do: 'set'; readonly text: string; readonly cursor?: number }
  /** The cursor goes to an offset, on its way up or down in a column. */
  | { readonly do: 'place'; readonly cursor: number; readonly column: number }

/** Where a cursor can go, or up to where something is removed. */
export type Motion =
  | ('left' | 'right' | 'up' | 'down' | 'word-left' | 'word-right' | 'word-end')
  | ('line-start' | 'line-end' | 'text-start' | 'text-end' | 'indent' | 'line')

/** Nothing written yet. */
export const EMPTY: Editor = { text: '', cursor: 0, past: [], future: [], cutText: '', pastes: [] }

/** Longer pastes are shown as a mark. */
const LONG_PASTE = { lines: 8, length: 1000 }
const MOST_UNDO = 200

/** The text after an edit. */
export function edit(editor: Editor, change: Edit): Editor {
  switch (change.do) {
    case 'insert':
      return change.paste ? paste(editor, change.text) : insert(editor, change.text, 'type')
    case 'move': {
      const { column: _unused, ...rest } = editor
      const [cursor, column] = target(editor, change.to)
      return { ...rest, cursor, ...(column !== undefined && { column }) }
    }
    case 'remove':
    case 'cut':
      return remove(editor, change.to, change.do === 'cut')
    case 'yank':
      return insert(editor, editor.cutText, 'yank')
    case 'undo':
      return travel(editor, 'past', 'future')
    case 'redo':
      return travel(editor, 'future', 'past')
    case 'swap':
      return swap(editor)
    case 'place':
      return { ...editor, cursor: change.cursor, column: change.column }
    default:
      return changed(editor, change.text, change.cursor ?? change.text.length, 'set')
  }
}

/** The text as it is meant: the marks of long pastes are the pastes again. */
export function wholeText({ text, pastes }: Editor): string {
  return text.replace(/\[paste (\d+): \d+ lines?\]/g, (mark, number: string) => pastes[Number(number) - 1] ?? mark)
}

/** Where a motion leads: the offset, and the column to keep on the way up or down. */
export function target({ text, cursor, column }: Editor, to: Motion): [cursor: number, column?: number] {
  const start = text.lastIndexOf('\n', cursor - 1) + 1
  const end = lineEnd(text, cursor)
  switch (to) {
    case 'left':
      return [cursor - (cellsOf(text.slice(0, cursor).slice(-40)).at(-1)?.text.length ?? 0)]
    case 'right':
      return [cursor + (cellsOf(text.slice(cursor, cursor + 40))[0]?.text.length ?? 0)]
    case 'up':
    case 'down':
      return vertical(text, start, end, cursor, to, column)
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
    default:
      return [Math.min(end + 1, text.length)]
  }
}

function vertical(
  text: string,
  start: number,
  end: number,
  cursor: number,
  to: 'up' | 'down',
  kept?: number,
): [number, number] {
  const column = kept ?? cellsOf(text.slice(start, cursor)).length
  if (to === 'up' && start === 0) return [0, column]
  if (to === 'down' && end === text.length) return [text.length, column]
  const from = to === 'up' ? text.lastIndexOf('\n', start - 2) + 1 : end + 1
  const line = cellsOf(text.slice(from, lineEnd(text, from))).slice(0, column)
  return [from + line.reduce((sum, { text: glyph }) => sum + glyph.length, 0), column]
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end < 0 ? text.length : end
}

function insert(editor: Editor, text: string, by: string): Editor {
  const { text: now, cursor } = editor
  return changed(editor, now.slice(0, cursor) + text + now.slice(cursor), cursor + text.length, by)
}

function paste(editor: Editor, text: string): Editor {
  const clean = text.replaceAll('\t', '    ').replace(/[^\P{Cc}\n]/gu, '')
  const lines = clean.replace(/\n$/, '').split('\n').length
  if (lines <= LONG_PASTE.lines && clean.length <= LONG_PASTE.length) return insert(editor, clean, 'paste')
  const pastes = [...editor.pastes, clean]
  const mark = `[paste ${pastes.length}: ${lines} line${lines === 1 ? '' : 's'}]`
  return insert({ ...editor, pastes }, mark, 'paste')
}

function remove(editor: Editor, to: Motion, isCut: boolean): Editor {
  const { text, cursor } = editor
  const [other] = target(editor, to)
  // At the end of a line, cutting to the end takes the line end itself.
  const far = to === 'line-end' && other === cursor ? Math.min(cursor + 1, text.length) : other
  const from = to === 'line' ? text.lastIndexOf('\n', cursor - 1) + 1 : Math.min(cursor, far)
  const until = Math.max(cursor, far)
  if (from === until) return editor
  const next = changed(editor, text.slice(0, from) + text.slice(until), from, isCut ? 'cut' : 'remove')
  return isCut ? { ...next, cutText: text.slice(from, until) } : next
}

function swap(editor: Editor): Editor {
  const { text, cursor } = editor
  const before = cellsOf(text.slice(0, cursor)).slice(-2)
  const [one, two] = before
  if (!one || !two || two.text === '\n') return editor
  const head = text.slice(0, cursor - one.text.length - two.text.length)
  return changed(editor, `${head}${two.text}${one.text}${text.slice(cursor)}`, cursor, 'swap')
}

function changed(editor: Editor, text: string, cursor: number, by: string): Editor {
  if (text === editor.text) return { ...editor, cursor }
  const { column: _unused, past, ...rest } = editor
  const last = past.at(-1)
  const goesOn = by === 'type' && last?.by === 'type' && !/\s$/.test(editor.text.slice(0, editor.cursor))
  const steps = goesOn ? past : [...past, { text: editor.text, cursor: editor.cursor, by }].slice(-MOST_UNDO)
  return { ...rest, text, cursor, past: steps, future: [] }
}

function travel(editor: Editor, from: 'past' | 'future', to: 'past' | 'future'): Editor {
  const step = editor[from].at(-1)
  if (!step) return editor
  const here = { text: editor.text, cursor: editor.cursor, by: step.by }
  return {
    ...editor,
    text: step.text,
    cursor: step.cursor,
    [from]: editor[from].slice(0, -1),
    [to]: [...editor[to], here],
  }
}
