import type { KeyEvent } from '../term/key-parser.ts'
import type { UiState } from '../ui-state.ts'
import type { KeyResult } from './handle-key.ts'
import { applyEditorEdit, type EditorState } from './text-editor.ts'
import { findMotion, findTextObject, type TextRange } from './vim-motions.ts'

/** The keys of a command so far, and what `.` repeats. */
export interface VimState {
  /** The keys that were typed since the last complete command. */
  readonly keys: string
  /** In visual mode: the other end of the selection, and whether whole lines are selected. */
  readonly anchor?: number
  readonly isLinewise?: boolean
  readonly lastChange?: { readonly keys: string; readonly text: string }
  /** The command that led to insert mode, and where the insertion began. */
  readonly insertion?: { readonly keys: string; readonly start: number; readonly length: number }
}

const EMPTY: VimState = { keys: '' }

/** Vim's keys in the input; undefined for a key that has its usual effect. */
export function handleVimKey(state: UiState, key: KeyEvent): KeyResult | undefined {
  if (state.vim === 'insert') {
    if (key.type !== 'key' || key.name !== 'escape') return undefined
    return { state: leaveInsertMode(state) }
  }
  if (key.type === 'key' && key.name === 'escape' && (state.vim === 'visual' || (state.vimState?.keys ?? '') !== ''))
    return { state: toNormal(state, state.editor) }
  if (key.type !== 'text') return undefined
  let next = state
  for (const letter of key.text) {
    // A command may have led to insert mode: the rest is text.
    if (next.vim === 'insert') next = { ...next, editor: applyEditorEdit(next.editor, { do: 'insert', text: letter }) }
    else next = runKeys({ ...next, vimState: { ...getVim(next), keys: getVim(next).keys + letter } })
  }
  return { state: next }
}

function getVim({ vimState = EMPTY }: UiState): VimState {
  return vimState
}

/** A command: a count, an operator, a second count, and a motion or a text object; or a command without a motion. */
const COMMAND = /^(?<count>[1-9]\d*)?(?:(?<operator>[dcy])(?<second>[1-9]\d*)?)?(?<rest>.*)$/s
const VISUAL_COMMAND = /^(?<count>[1-9]\d*)?(?<rest>.*)$/s

/** A motion, or what may become one. */
const MOTION = /^(?:[hjklwbeWBE0^$G]|gg|[fFtT].)$/su
const BEGINNING = /^(?:|g|[fFtTr]|[ia])$/

function runKeys(state: UiState): UiState {
  const { keys } = getVim(state)
  const isVisual = state.vim === 'visual'
  // In visual mode an operator waits for no motion.
  const pattern = isVisual ? VISUAL_COMMAND : COMMAND
  const { count = '1', second = '1', operator, rest = '' } = pattern.exec(keys)?.groups ?? {}
  const times = Math.min(Number(count) * Number(second), 1000)
  if (MOTION.test(rest)) return runMotion(state, rest, times, operator)
  const needsObject = operator !== undefined || isVisual
  if (needsObject && /^[ia].$/su.test(rest)) return runTextObject(state, rest, operator)
  if (operator !== undefined && rest === operator) return runOnLines(state, operator, times)
  if (BEGINNING.test(rest) && (needsObject || !/^[ia]$/.test(rest))) return state
  if (operator !== undefined) return forgetKeys(state)
  return isVisual ? runVisual(state, rest) : runSimple(state, rest, times, /^[1-9]/.test(keys))
}

function runMotion(state: UiState, motion: string, times: number, operator: string | undefined): UiState {
  const { editor } = state
  const target = findMotion(editor, motion, times)
  if (target === undefined) return forgetKeys(state)
  if (operator === undefined) return forgetKeys({ ...state, editor: moveTo(editor, target.cursor) })
  if (target.isLinewise) return applyOperator(state, operator, toLines(editor, editor.cursor, target.cursor))
  // Like Vim, `cw` leaves the space after the word.
  const end = operator === 'c' && /^[wW]$/.test(motion) ? findMotion(editor, motion === 'w' ? 'e' : 'E', times) : target
  const cursor = end?.cursor ?? target.cursor
  return applyOperator(state, operator, {
    from: Math.min(editor.cursor, cursor),
    to: Math.max(editor.cursor, cursor) + (target.isInclusive ? 1 : 0),
  })
}

function runTextObject(state: UiState, object: string, operator: string | undefined): UiState {
  const range = findTextObject(state.editor, object)
  if (!range) return forgetKeys(state)
  if (operator !== undefined) return applyOperator(state, operator, range)
  const next = { ...state, editor: moveTo(state.editor, Math.max(range.to - 1, range.from)) }
  return forgetKeys({ ...next, vimState: { ...getVim(next), anchor: range.from } })
}

/** `dd`, `cc` and `yy`, with a count of lines. */
function runOnLines(state: UiState, operator: string, times: number): UiState {
  const { editor } = state
  let end = editor.cursor
  for (let line = 1; line < times; line++) end = Math.min(lineEnd(editor.text, end) + 1, editor.text.length)
  return applyOperator(state, operator, toLines(editor, editor.cursor, end))
}

function applyOperator(state: UiState, operator: string, range: TextRange): UiState {
  const { editor } = state
  const { from, isLinewise } = range
  const to = Math.min(range.to, editor.text.length)
  const cutText = editor.text.slice(from, to)
  if (operator === 'y') return toNormal(state, { ...moveTo(editor, from), cutText: withLineEnd(cutText, isLinewise) })
  const isChange = operator === 'c'
  // A changed line stays, without its text.
  const keepsLine = isChange && isLinewise && cutText.endsWith('\n')
  const start = !isChange && isLinewise && to === editor.text.length && from > 0 ? from - 1 : from
  const text = editor.text.slice(0, isChange ? from : start) + editor.text.slice(keepsLine ? to - 1 : to)
  const next = { ...setText(editor, text, Math.min(start, text.length)), cutText: withLineEnd(cutText, isLinewise) }
  return isChange ? enterInsertMode(state, { ...next, cursor: from }) : finishChange(state, next)
}

function withLineEnd(text: string, isLinewise: boolean | undefined): string {
  return isLinewise && !text.endsWith('\n') ? `${text}\n` : text
}

function runSimple(state: UiState, command: string, times: number, hasCount: boolean): UiState {
  const { editor } = state
  const { text, cursor } = editor
  const start = text.lastIndexOf('\n', cursor - 1) + 1
  const end = lineEnd(text, cursor)
  const insertAt = (at: number, inserted = ''): UiState =>
    enterInsertMode(
      state,
      setText(editor, text.slice(0, at) + inserted + text.slice(at), at + (inserted === '' ? 0 : 1)),
    )
  switch (command) {
    case 'i':
      return insertAt(cursor)
    case 'a':
      return insertAt(Math.min(cursor + 1, end))
    case 'I':
      return insertAt(start + (/^[ \t]*/.exec(text.slice(start, end))?.[0].length ?? 0))
    case 'A':
      return insertAt(end)
    case 'o':
      return insertAt(end, '\n')
    case 'O':
      return enterInsertMode(state, setText(editor, `${text.slice(0, start)}\n${text.slice(start)}`, start))
    case 'x':
      return applyOperator(state, 'd', { from: cursor, to: Math.min(cursor + times, end) })
    case 'X':
      return applyOperator(state, 'd', { from: Math.max(cursor - times, start), to: cursor })
    case 's':
      return applyOperator(state, 'c', { from: cursor, to: Math.min(cursor + times, end) })
    case 'S':
      return runOnLines(state, 'c', times)
    case 'D':
      return applyOperator(state, 'd', { from: cursor, to: end })
    case 'C':
      return applyOperator(state, 'c', { from: cursor, to: end })
    case 'Y':
      return runOnLines(state, 'y', times)
    case 'p':
    case 'P':
      return finishChange(state, paste(editor, command === 'p', times))
    case 'J':
      return finishChange(state, setText(editor, `${text.slice(0, end)}${text.slice(end).replace(/^\n\s*/, ' ')}`, end))
    case '~':
      return finishChange(state, swapCase(editor, Math.min(cursor + times, end)))
    case 'u':
      return forgetKeys({ ...state, editor: applyEditorEdit(editor, { do: 'undo' }) })
    case 'v':
    case 'V':
      return forgetKeys({
        ...state,
        vim: 'visual',
        vimState: { ...getVim(state), anchor: cursor, isLinewise: command === 'V' },
      })
    case '.':
      return repeatChange(state, hasCount ? times : 1)
    default:
      if (/^r.$/su.test(command) && cursor + times <= end)
        return finishChange(
          state,
          setText(
            editor,
            text.slice(0, cursor) + command.slice(1).repeat(times) + text.slice(cursor + times),
            cursor + times - 1,
          ),
        )
      return forgetKeys(state)
  }
}

function runVisual(state: UiState, command: string): UiState {
  const { editor } = state
  const { anchor = editor.cursor, isLinewise } = getVim(state)
  const range = isLinewise
    ? toLines(editor, anchor, editor.cursor)
    : { from: Math.min(anchor, editor.cursor), to: Math.max(anchor, editor.cursor) + 1 }
  switch (command) {
    case 'd':
    case 'x':
      return applyOperator(state, 'd', range)
    case 'c':
    case 's':
      return applyOperator(state, 'c', range)
    case 'y':
      return applyOperator(state, 'y', range)
    case 'o':
      return forgetKeys({
        ...state,
        editor: moveTo(editor, anchor),
        vimState: { ...getVim(state), anchor: editor.cursor },
      })
    case 'v':
    case 'V':
      return toNormal(state, editor)
    case '~':
      return finishChange(state, swapCase(moveTo(editor, range.from), range.to))
    default:
      return forgetKeys(state)
  }
}

/** Repeats the last change, with the text that was typed after it. */
function repeatChange(state: UiState, times: number): UiState {
  const { lastChange } = getVim(state)
  if (!lastChange) return forgetKeys(state)
  let next = forgetKeys(state)
  for (let round = 0; round < times; round++) {
    next = runKeys({ ...next, vimState: { ...getVim(next), keys: lastChange.keys } })
    if (next.vim !== 'insert') continue
    next = { ...next, editor: applyEditorEdit(next.editor, { do: 'insert', text: lastChange.text }) }
    next = leaveInsertMode(next)
  }
  return { ...next, vimState: { ...getVim(next), lastChange } }
}

function enterInsertMode(state: UiState, editor: EditorState): UiState {
  const { lastChange, keys: typed } = getVim(state)
  // A selection cannot be repeated elsewhere.
  const keys = state.vim === 'visual' ? '' : typed
  const insertion = { keys, start: editor.cursor, length: editor.text.length }
  return { ...state, vim: 'insert', editor, vimState: { keys: '', insertion, ...(lastChange && { lastChange }) } }
}

function leaveInsertMode(state: UiState): UiState {
  const { editor } = state
  const { insertion, lastChange } = getVim(state)
  const added = insertion ? editor.text.length - insertion.length : 0
  // Only text that was typed in one go can be repeated.
  const isPlain = insertion !== undefined && added >= 0 && editor.cursor === insertion.start + added
  const text = isPlain ? editor.text.slice(insertion.start, editor.cursor) : ''
  const change = insertion && insertion.keys !== '' ? { keys: insertion.keys, text } : lastChange
  const isAtStart = editor.cursor === 0 || editor.text[editor.cursor - 1] === '\n'
  return {
    ...state,
    vim: 'normal',
    editor: isAtStart ? editor : applyEditorEdit(editor, { do: 'move', to: 'left' }),
    vimState: { keys: '', ...(change && { lastChange: change }) },
  }
}

function finishChange(state: UiState, editor: EditorState): UiState {
  const { keys, lastChange } = getVim(state)
  const change = state.vim === 'visual' ? lastChange : { keys, text: '' }
  const next = toNormal(state, editor)
  return { ...next, vimState: { keys: '', ...(change && { lastChange: change }) } }
}

function toNormal(state: UiState, editor: EditorState): UiState {
  const { lastChange } = getVim(state)
  return { ...state, vim: 'normal', editor, vimState: { keys: '', ...(lastChange && { lastChange }) } }
}

function forgetKeys(state: UiState): UiState {
  return { ...state, vimState: { ...getVim(state), keys: '' } }
}

function moveTo(editor: EditorState, cursor: number): EditorState {
  const { column: _unused, ...rest } = editor
  return { ...rest, cursor: Math.max(Math.min(cursor, editor.text.length), 0) }
}

function setText(editor: EditorState, text: string, cursor: number): EditorState {
  return text === editor.text ? moveTo(editor, cursor) : applyEditorEdit(editor, { do: 'set', text, cursor })
}

/** Whole lines were cut if the text ends with a line end; they go below or above this line. */
function paste(editor: EditorState, isAfter: boolean, times: number): EditorState {
  const { text, cursor, cutText } = editor
  if (cutText === '') return editor
  if (!cutText.endsWith('\n')) {
    const at = isAfter && cursor < lineEnd(text, cursor) ? cursor + 1 : cursor
    return setText(editor, text.slice(0, at) + cutText.repeat(times) + text.slice(at), at + cutText.length * times)
  }
  const start = text.lastIndexOf('\n', cursor - 1) + 1
  const end = lineEnd(text, cursor)
  if (!isAfter) return setText(editor, text.slice(0, start) + cutText.repeat(times) + text.slice(start), start)
  const lines = cutText.repeat(times).slice(0, -1)
  return setText(editor, `${text.slice(0, end)}\n${lines}${text.slice(end)}`, end + 1)
}

function swapCase(editor: EditorState, to: number): EditorState {
  const { text, cursor } = editor
  const swapped = text
    .slice(cursor, to)
    .replaceAll(/\p{L}/gu, (one) => (one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase()))
  return setText(editor, text.slice(0, cursor) + swapped + text.slice(to), to)
}

function toLines({ text }: EditorState, one: number, other: number): TextRange {
  const from = text.lastIndexOf('\n', Math.min(one, other) - 1) + 1
  return { from, to: Math.min(lineEnd(text, Math.max(one, other)) + 1, text.length), isLinewise: true }
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end < 0 ? text.length : end
}
