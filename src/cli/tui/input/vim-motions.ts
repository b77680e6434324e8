import { applyEditorEdit, type CursorMotion, type EditorState } from './text-editor.ts'

/** A part of the text, up to but without `to`. */
export interface TextRange {
  readonly from: number
  readonly to: number
  /** Whole lines, with the end of the last one. */
  readonly isLinewise?: boolean
}

interface MotionTarget {
  readonly cursor: number
  readonly isLinewise?: true
  /** The character under the target belongs to what an operator takes. */
  readonly isInclusive?: true
}

const SIMPLE_MOTIONS: Readonly<Record<string, CursorMotion>> = {
  h: 'left',
  l: 'right',
  w: 'word-right',
  b: 'word-left',
  e: 'word-end',
  '0': 'line-start',
  '^': 'indent',
  $: 'line-end',
}

/** Where a motion leads; undefined if it fails, such as a search for a letter that the line does not have. */
export function findMotion(editor: EditorState, motion: string, times: number): MotionTarget | undefined {
  const { text, cursor } = editor
  if (motion === 'j' || motion === 'k')
    return { cursor: repeat(editor, motion === 'j' ? 'down' : 'up', times).cursor, isLinewise: true }
  if (motion === 'G') return { cursor: text.length, isLinewise: true }
  if (motion === 'gg') return { cursor: 0, isLinewise: true }
  if (/^[WBE]$/.test(motion)) return { cursor: moveByBlanks(text, cursor, motion, times) }
  if (/^[fFtT]/.test(motion)) return findLetter(text, cursor, motion, times)
  const to = SIMPLE_MOTIONS[motion]
  return to && { cursor: repeat(editor, to, times).cursor }
}

function repeat(editor: EditorState, to: CursorMotion, times: number): EditorState {
  let next = editor
  for (let step = 0; step < times; step++) next = applyEditorEdit(next, { do: 'move', to })
  return next
}

/** Words that are separated by white space only. */
function moveByBlanks(text: string, from: number, motion: string, times: number): number {
  let cursor = from
  for (let step = 0; step < times; step++) {
    if (motion === 'W') cursor += /^\S*\s*/.exec(text.slice(cursor))?.[0].length ?? 0
    else if (motion === 'E') cursor += /^\s*\S*/.exec(text.slice(cursor))?.[0].length ?? 0
    else cursor -= /\S*\s*$/.exec(text.slice(0, cursor))?.[0].length ?? 0
  }
  return cursor
}

/** `f`, `t`, `F` and `T`: a letter in this line. */
function findLetter(text: string, cursor: number, motion: string, times: number): MotionTarget | undefined {
  const letter = motion.slice(1)
  const isForward = /^[ft]/.test(motion)
  const start = text.lastIndexOf('\n', cursor - 1) + 1
  const lineEnd = text.indexOf('\n', cursor)
  const end = lineEnd < 0 ? text.length : lineEnd
  let at = cursor
  for (let step = 0; step < times; step++) {
    at = isForward ? text.indexOf(letter, at + 1) : at > 0 ? text.lastIndexOf(letter, at - 1) : -1
    if (at < start || at >= end) return undefined
  }
  if (isForward) return { cursor: motion.startsWith('t') ? at - 1 : at, isInclusive: true }
  return { cursor: motion.startsWith('T') ? at + 1 : at }
}

const PAIRS: Readonly<Record<string, readonly [open: string, close: string]>> = {
  '(': ['(', ')'],
  ')': ['(', ')'],
  b: ['(', ')'],
  '[': ['[', ']'],
  ']': ['[', ']'],
  '{': ['{', '}'],
  '}': ['{', '}'],
  B: ['{', '}'],
  '<': ['<', '>'],
  '>': ['<', '>'],
}

/** `iw`, `aw`, and what is inside of or around quotes and brackets. */
export function findTextObject({ text, cursor }: EditorState, object: string): TextRange | undefined {
  const isAround = object.startsWith('a')
  const kind = object.slice(1)
  if (kind === 'w' || kind === 'W') return findWord(text, cursor, isAround, kind === 'W')
  if (kind === '"' || kind === "'" || kind === '`') return findQuoted(text, cursor, kind, isAround)
  const pair = PAIRS[kind]
  return pair && findBracketed(text, cursor, pair, isAround)
}

function findWord(text: string, cursor: number, isAround: boolean, isBlank: boolean): TextRange | undefined {
  const pieces = text.matchAll(isBlank ? /\S+|[^\S\n]+/gu : /[\p{L}\p{N}_]+|[^\p{L}\p{N}_\s]+|[^\S\n]+/gu)
  for (const { index, 0: piece } of pieces) {
    if (index + piece.length <= cursor) continue
    if (index > cursor) return undefined
    const after = isAround ? (/^[^\S\n]*/.exec(text.slice(index + piece.length))?.[0].length ?? 0) : 0
    return { from: index, to: index + piece.length + after }
  }
  return undefined
}

function findQuoted(text: string, cursor: number, quote: string, isAround: boolean): TextRange | undefined {
  const start = text.lastIndexOf('\n', cursor - 1) + 1
  const lineEnd = text.indexOf('\n', cursor)
  const line = text.slice(start, lineEnd < 0 ? text.length : lineEnd)
  const places = Array.from(line.matchAll(new RegExp(quote, 'g')), ({ index }) => start + index)
  for (let at = 0; at + 1 < places.length; at += 2) {
    const [open = 0, close = 0] = [places[at], places[at + 1]]
    if (cursor <= close) return isAround ? { from: open, to: close + 1 } : { from: open + 1, to: close }
  }
  return undefined
}

function findBracketed(
  text: string,
  cursor: number,
  [open, close]: readonly [string, string],
  isAround: boolean,
): TextRange | undefined {
  let depth = 0
  for (let from = cursor; from >= 0; from--) {
    if (text[from] === close && from !== cursor) depth++
    if (text[from] !== open) continue
    if (depth > 0) {
      depth--
      continue
    }
    const to = findClosing(text, from, open, close)
    if (to === undefined) return undefined
    return isAround ? { from, to: to + 1 } : { from: from + 1, to }
  }
  return undefined
}

function findClosing(text: string, from: number, open: string, close: string): number | undefined {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    if (text[at] === open) depth++
    if (text[at] === close && --depth === 0) return at
  }
  return undefined
}
