import type { Ask } from '../../../agent/call-state.ts'
import type { SandboxAccess } from '../../../model/sandbox-access.ts'
import { isWhollyShown, sizeOf, type State } from '../state.ts'
import type { Key } from '../term/keys.ts'
import { answersTo, choicesOf } from '../view/answers.ts'
import { askRoom, askWindow, hidesSecrets } from '../view/ask.ts'
import { editOf, type Named } from './edit-keys.ts'
import { type Edit, edit, EMPTY } from './editor.ts'
import type { Deed, Pressed } from './press.ts'

/** A letter is an answer if no other follows within so many milliseconds: else it is the beginning of a text. */
export const HOLD_MS = 200

/** What a key does while a question waits. What is no answer to it is `written`. */
export function pressAtAsk(state: State, key: Key, write: (state: State) => Pressed): Pressed {
  const { asking } = state
  const ask = askIn(state)
  if (!ask || key.type === 'report') return { state }
  if (asking.why) return pressAtReason(state, key, ask)
  if (key.type === 'paste') return write(released(state))
  if (key.type === 'text') return letterAtAsk(state, key.text, ask, write)
  const { state: now, deeds = [] } = settle(state)
  // The answer that was held is given first; the key is then meant for what is there now.
  if (deeds.length > 0) return { state: now, deeds }
  const { isChoosing, isTooEarly: _unused, ...rest } = now.asking
  const look = (at: number): Pressed => ({ state: { ...now, asking: { ...rest, at, top: 0 } } })
  if (key.name === 'escape')
    return isChoosing ? { state: { ...now, asking: rest } } : { state: now, deeds: [answer(ask, 'cancel')] }
  if (key.name === 'left') return look((asking.at + now.asks.length - 1) % now.asks.length)
  if (key.name === 'right' || key.name === 'tab') return look((asking.at + 1) % now.asks.length)
  return { state: turned(now, key.name) }
}

/** The question with another part of it on the screen. */
function turned(state: State, key: Named['name']): State {
  const { isTooEarly: _unused, ...asking } = state.asking
  return { ...state, asking: { ...asking, top: paged(state, key) } }
}

/** Keys by which pagers turn pages, too. */
const PAGER_KEYS: Readonly<Record<string, Named['name']>> = { ' ': 'page-down', b: 'page-up', g: 'home', G: 'end' }

/** Gives the answer that a held letter means: no other has followed it. */
export function settle(state: State): Pressed {
  const { held, ...rest } = state
  const ask = askIn(state)
  return held === undefined || !ask ? { state: rest } : answered(rest, held, ask)
}

function askIn({ asks, asking }: State): Ask | undefined {
  return asks[asking.at] ?? asks[0]
}

/** Several letters at once are a text, and so is one that answers nothing. */
function letterAtAsk(state: State, text: string, ask: Ask, write: (state: State) => Pressed): Pressed {
  const { asks, asking, held } = state
  const look = { hasSecrets: hidesSecrets(ask, asking) }
  // A letter that was on its way before the question was on the screen does not answer it.
  const isSeen = asking.shown[ask.id] !== undefined
  const isAnswer = isSeen && answersTo(ask, asks, asking, look).some(({ key }) => key === text)
  const isPager = Object.hasOwn(PAGER_KEYS, text) && windowOf(state).last > 0
  if (held === undefined && (isAnswer || isPager)) return { state: { ...state, held: text } }
  return write(released(state))
}

/** A held letter was the beginning of a text. */
function released({ held, ...state }: State): State {
  if (held === undefined) return state
  const { isChoosing: _unused, ...asking } = state.asking
  return { ...state, asking, editor: edit(state.editor, { do: 'insert', text: held }) }
}

function answered(state: State, letter: string, ask: Ask): Pressed {
  const { isChoosing, isTooEarly: _unused, ...asking } = state.asking
  const calm: State = { ...state, asking }
  const page = PAGER_KEYS[letter]
  if (page !== undefined) return { state: turned(state, page) }
  if (letter === 'n') return { state: { ...calm, asking: { ...asking, why: EMPTY } } }
  if (letter === 'e') return { state: calm, deeds: [{ do: 'modify', ask: ask.id }] }
  if (letter === 'v')
    return { state: { ...calm, asking: { ...asking, top: 0, revealed: [...asking.revealed, ask.id] } } }
  if (letter === 'A') return allEdits(calm, ask)
  const isPlan = ask.details.kind === 'plan'
  if (letter === 'a' && !isPlan) return { state: { ...calm, asking: { ...asking, isChoosing: true } } }
  // Nothing is approved that has not been on the screen, all of it.
  if (!isWhollyShown(asking, ask.id)) return tooEarly(state)
  if (isPlan) return { state: calm, deeds: [answer(ask, letter === 'a' ? 'proceed-always' : 'proceed-once')] }
  const access = ACCESS[letter]
  if (access) return { state: calm, deeds: [{ ...answer(ask, 'proceed-once'), access }] }
  if (!isChoosing) return { state: calm, deeds: [answer(ask, 'proceed-once')] }
  const choice = choicesOf(ask)[Number(letter) - 1]
  return choice ? { state: calm, deeds: [{ ...answer(ask, 'proceed-always'), ...choice }] } : { state }
}

/** Letters that let a command do more than the sandbox lets it, once. */
const ACCESS: Readonly<Record<string, SandboxAccess>> = { o: 'outside', w: 'network' }

function tooEarly(state: State): Pressed {
  return { state: { ...state, asking: { ...state.asking, isTooEarly: true } } }
}

function answer(ask: Ask, outcome: Extract<Deed, { do: 'answer' }>['outcome']): Extract<Deed, { do: 'answer' }> {
  return { do: 'answer', ask: ask.id, outcome }
}

function windowOf(state: State): ReturnType<typeof askWindow> {
  return askWindow(state.asks, state.asking, askRoom(state, { ...sizeOf(state), root: state.root }))
}

/** The first line that is shown of a long question after a key: a page leaves no line out, and none goes beyond the end. */
function paged(state: State, name: Named['name']): number {
  const { room, last } = windowOf(state)
  const page = Math.max(room - 1, 1)
  const steps: Readonly<Record<string, number>> = {
    'page-down': page,
    'page-up': -page,
    down: 1,
    up: -1,
    home: -Infinity,
    end: Infinity,
  }
  return Math.max(Math.min(Math.min(state.asking.top, last) + (steps[name] ?? 0), last), 0)
}

/** Several edits at once, but only after all of each has been shown. */
function allEdits(state: State, current: Ask): Pressed {
  const { asks, asking } = state
  const edits = asks.filter(({ details }) => details.kind === 'edit')
  if (edits.length < 2) return { state }
  const isUnseen = ({ id }: Ask): boolean => !isWhollyShown(asking, id)
  if (current.details.kind === 'edit' && isUnseen(current)) return tooEarly(state)
  const next = edits.find(isUnseen)
  if (next) return { state: { ...state, asking: { ...asking, at: asks.indexOf(next), top: 0 } } }
  return { state, deeds: edits.map((one) => answer(one, 'proceed-once')) }
}

function pressAtReason(state: State, key: Exclude<Key, { type: 'report' }>, ask: Ask): Pressed {
  const { why = EMPTY, ...asking } = state.asking
  if (key.type === 'key' && key.name === 'escape') return { state: { ...state, asking } }
  if (key.type === 'key' && key.name === 'enter') {
    const words = why.text.trim()
    const deed = { ...answer(ask, 'cancel'), ...(words !== '' && { words }) }
    return { state: { ...state, asking }, deeds: [deed] }
  }
  const change: Edit | undefined = key.type === 'key' ? editOf(key) : { do: 'insert', text: key.text }
  return change ? { state: { ...state, asking: { ...asking, why: edit(why, change) } } } : { state }
}
