import type { Outcome } from '../../../agent/call-state.ts'
import type { SandboxAccess } from '../../../model/sandbox-access.ts'
import { isWriting, type Menu, sizeOf, type State } from '../state.ts'
import type { Key } from '../term/keys.ts'
import { widthOf } from '../term/width.ts'
import type { Choice } from '../view/answers.ts'
import { inputRoom } from '../view/input.ts'
import { editOf } from './edit-keys.ts'
import { type Edit, edit, EMPTY, wholeText } from './editor.ts'
import { offsetIn, rowAt, rowsIn } from './rows.ts'
import { pressAtAsk } from './press-ask.ts'
import { pressAtSearch, searchHistory } from './search.ts'
import { vimPress } from './vim.ts'

/** What a key asks of the program, beside changing what is written. */
export type Deed =
  | { readonly do: 'say'; readonly text: string }
  | ({
      readonly do: 'answer'
      readonly ask: string
      readonly outcome: Outcome
      readonly words?: string
      readonly access?: SandboxAccess
    } & Partial<Choice>)
  /** The proposed change is opened in the person's editor. */
  | { readonly do: 'modify'; readonly ask: string }
  /** Something was pasted into the input; it may be the path of a picture. */
  | { readonly do: 'pasted'; readonly text: string }
  | {
      readonly do:
        | 'stop'
        | 'quit'
        | 'complete'
        | 'details'
        | 'editor'
        | 'redraw'
        | 'suspend'
        | 'next-mode'
        | 'paste-image'
    }

/** What is shown after a key, and what there is to do. */
export interface Pressed {
  readonly state: State
  readonly deeds?: readonly Deed[]
}

/** What a key does. */
export function press(before: State, key: Key): Pressed {
  const { hint: _unused, ...rest } = before
  const state: State = rest
  if (key.type === 'report') return { state: before }
  if (key.type === 'key' && key.ctrl && key.name === 'c') return interrupt(before)
  if (key.type === 'key' && key.ctrl && key.name === 'z') return { state, deeds: [{ do: 'suspend' }] }
  if (key.type === 'key' && key.ctrl && key.name === 'l') return { state, deeds: [{ do: 'redraw' }] }
  if (state.asks.length === 0) return pressToWrite(state, key)
  if (!isWriting(state)) return pressAtAsk(state, key, (next) => pressToWrite({ ...next, isWriting: true }, key))
  // Whoever writes goes on writing, until they turn to the question; the draft stays.
  const isTurning = key.type === 'key' && key.name === 'escape' && !state.menu
  return isTurning ? { state: { ...state, isWriting: false } } : pressToWrite({ ...state, isWriting: true }, key)
}

function pressToWrite(before: State, key: Exclude<Key, { type: 'report' }>): Pressed {
  const searched = before.search ? pressAtSearch(before, key) : 'use'
  if (searched !== 'use') return { state: searched }
  const { search: _over, ...state } = before
  if (state.menu) {
    const chosen = pressAtMenu(state, key)
    if (chosen) return chosen
  }
  if (state.vim !== undefined) {
    const done = vimPress(state, key)
    if (done) return done
  }
  return pressAtInput(state, key)
}

/** Control-C clears what is written, then stops the model, then asks to be pressed again to leave. */
function interrupt(state: State): Pressed {
  if (state.asks.length > 0) return stop(state)
  if (state.search) {
    const { search, ...rest } = state
    return { state: { ...rest, editor: search.draft } }
  }
  // Undo brings it back.
  if (state.editor.text !== '') return { state: written(state, { do: 'set', text: '' }).state }
  if (state.running !== undefined) return stop(state)
  if (state.hint === LEAVE) return { state, deeds: [{ do: 'quit' }] }
  return { state: { ...state, hint: LEAVE } }
}

const LEAVE = 'Control-C again leaves; the session is kept.'

function pressAtInput(state: State, key: Exclude<Key, { type: 'report' }>): Pressed {
  if (key.type === 'text') return written(state, { do: 'insert', text: key.text }, true)
  if (key.type === 'paste') return key.text === '' ? { state, deeds: [{ do: 'paste-image' }] } : pasted(state, key.text)
  if (key.name === 'enter' && !key.alt && !key.shift && !key.ctrl) return send(state)
  const newLine = (key.name === 'enter' && (key.alt ?? key.shift ?? key.ctrl)) || (key.ctrl && key.name === 'j')
  if (newLine) return written(state, { do: 'insert', text: '\n' })
  if (key.name === 'escape') return state.running === undefined ? { state } : stop(state)
  if (key.name === 'tab') return { state, deeds: [{ do: key.shift ? 'next-mode' : 'complete' }] }
  if (key.name === 'up' || key.name === 'down') return vertical(state, key.name)
  if (key.ctrl && key.name === 'd')
    return state.editor.text === '' ? { state, deeds: [{ do: 'quit' }] } : written(state, { do: 'remove', to: 'right' })
  if (key.ctrl && key.name === 'o') return { state, deeds: [{ do: 'details' }] }
  if (key.ctrl && (key.name === 'x' || key.name === 'g')) return { state, deeds: [{ do: 'editor' }] }
  if (key.ctrl && key.name === 'r') return { state: searchHistory(state) }
  if (key.ctrl && key.name === 'v') return { state, deeds: [{ do: 'paste-image' }] }
  const change = editOf(key)
  return change ? written(state, change, change.do !== 'move') : { state }
}

function pasted(state: State, text: string): Pressed {
  const { state: next, deeds = [] } = written(state, { do: 'insert', text, paste: true }, true)
  return { state: next, deeds: [{ do: 'pasted', text }, ...deeds] }
}

/** Typing may open or narrow the list of completions. */
function written(state: State, change: Edit, completes = false): Pressed {
  const { historyAt: _unused, draft: _gone, menu: _closed, ...rest } = state
  const next: State = { ...rest, editor: edit(state.editor, change) }
  return completes ? { state: next, deeds: [{ do: 'complete' }] } : { state: next }
}

function send(state: State): Pressed {
  // A backslash at the end of a line goes on in the next one, in every terminal.
  if (state.editor.text.slice(0, state.editor.cursor).endsWith('\\'))
    return {
      state: { ...state, editor: edit(edit(state.editor, { do: 'remove', to: 'left' }), { do: 'insert', text: '\n' }) },
    }
  const text = wholeText(state.editor).trim()
  if (text === '') return { state }
  const { historyAt: _unused, draft: _gone, ...rest } = state
  const history = state.history.at(-1) === text ? state.history : [...state.history, text]
  return { state: { ...rest, editor: EMPTY, history }, deeds: [{ do: 'say', text }] }
}

/** Stops the model. What was to be sent next comes back into the input: whoever stops wants nothing to be sent. */
function stop(state: State): Pressed {
  return { state: withQueueInInput(state), deeds: [{ do: 'stop' }] }
}

function withQueueInInput(state: State): State {
  if (state.queued.length === 0) return state
  // A message that was only recalled is no draft: the one that waits may be the same.
  const { historyAt, draft, ...rest } = state
  const own = historyAt === undefined ? state.editor.text : (draft?.text ?? '')
  const text = [...state.queued, own].filter((one) => one !== '').join('\n')
  return { ...rest, queued: [], editor: edit(state.editor, { do: 'set', text }) }
}

/** Up and down move in the rows of the text, and beyond its ends through what was said before. */
function vertical(state: State, to: 'up' | 'down'): Pressed {
  const { editor } = state
  const rows = rowsIn(editor.text, inputRoom(sizeOf(state).width))
  const at = rowAt(rows, editor.cursor)
  const [here, next] = [rows[at], rows[to === 'up' ? at - 1 : at + 1]]
  if (!here || !next) return recalled(state, to)
  const column = editor.column ?? widthOf(here.text.slice(0, editor.cursor - here.start))
  return { state: { ...state, editor: edit(editor, { do: 'place', cursor: offsetIn(next, column), column }) } }
}

/** What was said before; at the end of it stands what was being written, as it was. */
function recalled(state: State, to: 'up' | 'down'): Pressed {
  // The last thing that was said waits: it is taken out of the queue to be changed.
  if (to === 'up' && state.queued.length > 0) return { state: withQueueInInput(state) }
  const { historyAt, draft, ...rest } = state
  const last = state.history.length
  const next = (historyAt ?? last) + (to === 'up' ? -1 : 1)
  if (next < 0 || next > last) return { state }
  if (next === last) return { state: { ...rest, editor: draft ?? EMPTY } }
  const editor = edit(state.editor, { do: 'set', text: state.history[next] ?? '' })
  return { state: { ...rest, historyAt: next, draft: draft ?? state.editor, editor } }
}

function pressAtMenu(state: State, key: Key): Pressed | undefined {
  const { menu, ...rest } = state
  if (!menu || key.type !== 'key') return undefined
  const count = menu.items.length
  if (key.name === 'escape') {
    // A command whose list of choices is left without one is not meant any more; undo brings it back.
    const isCommandAlone = /^\/\S+ $/.test(state.editor.text)
    return { state: isCommandAlone ? written(rest, { do: 'set', text: '' }).state : rest }
  }
  if (key.name === 'up' || (key.ctrl && key.name === 'p'))
    return { state: { ...state, menu: movedTo(menu, (menu.at + count - 1) % count) } }
  if (key.name === 'down' || (key.ctrl && key.name === 'n'))
    return { state: { ...state, menu: movedTo(menu, (menu.at + 1) % count) } }
  const chosen = menu.items[menu.at]
  if (!chosen || key.ctrl || key.alt || (key.name !== 'tab' && key.name !== 'enter')) return undefined
  if (key.name === 'enter' && menu.enter === 'sends-typed') return send(rest)
  const after = state.editor.text.slice(menu.to)
  if (key.name === 'enter' && menu.enter === 'sends') {
    const text = state.editor.text.slice(0, menu.from) + chosen.value + after
    return send({ ...rest, editor: edit(state.editor, { do: 'set', text }) })
  }
  const head = `${state.editor.text.slice(0, menu.from)}${chosen.value}${after.startsWith(' ') || chosen.value.endsWith('/') ? '' : ' '}`
  const editor = edit(state.editor, { do: 'set', text: head + after, cursor: head.length })
  return { state: { ...rest, editor }, deeds: [{ do: 'complete' }] }
}

/** Whoever goes to a choice means it. */
function movedTo(menu: Menu, at: number): Menu {
  return { ...menu, at, enter: menu.enter === 'sends-typed' ? 'sends' : menu.enter }
}
