/** What a person did at the keyboard. */
export type Key =
  /** A printable character or several, typed or dictated. */
  | { readonly type: 'text'; readonly text: string }
  /** A text from the clipboard: whatever it holds is text, never a command. */
  | { readonly type: 'paste'; readonly text: string }
  | { readonly type: 'key'; readonly name: KeyName; readonly ctrl?: true; readonly alt?: true; readonly shift?: true }
  /** The terminal says where its cursor is, or that it has the focus again, and the like. */
  | { readonly type: 'report'; readonly text: string }

/** Keys that are no characters, and letters with Control or Alt. */
export type KeyName =
  | 'enter'
  | 'tab'
  | 'escape'
  | 'backspace'
  | 'delete'
  | 'up'
  | 'down'
  | 'left'
  | 'right'
  | 'home'
  | 'end'
  | 'page-up'
  | 'page-down'
  | 'insert'
  | 'f1'
  | 'space'
  | Letter

type Letter =
  | ('a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h' | 'i' | 'j' | 'k' | 'l' | 'm')
  | ('n' | 'o' | 'p' | 'q' | 'r' | 's' | 't' | 'u' | 'v' | 'w' | 'x' | 'y' | 'z')
  | ('/' | '_' | '?' | '.' | '\\' | ']' | '^')

/** Reads keys out of what a terminal sends, in pieces of any size. */
export interface KeyReader {
  /** The keys that are complete; a sequence that has only begun waits for the rest. */
  read(text: string): Key[]
  /** Nothing more came for a while: what waits is taken as it is, so a lone Escape is a key. */
  flush(): Key[]
  /** Whether something waits for its rest. */
  readonly waits: boolean
}

const PASTE_BEGINS = '\u001B[200~'
const PASTE_ENDS = '\u001B[201~'

/** A reader of keys: legacy sequences, bracketed paste, and the newer `CSI u` form. */
export function keyReader(): KeyReader {
  let pending = ''
  let pasted: string | undefined

  function next(isLast: boolean): Key | undefined {
    if (pasted !== undefined) return endOfPaste(isLast)
    if (pending === '') return undefined
    if (pending.startsWith(PASTE_BEGINS)) {
      pending = pending.slice(PASTE_BEGINS.length)
      pasted = ''
      return next(isLast)
    }
    if (pending.startsWith('\u001B')) return escape(isLast)
    const plain = /^[^\u0000-\u001F\u007F]+/.exec(pending)?.[0]
    if (plain !== undefined) return take(plain.length, { type: 'text', text: plain })
    return take(1, control(pending.charCodeAt(0)))
  }

  function escape(isLast: boolean): Key | undefined {
    const sequence = SEQUENCE.exec(pending)?.[0]
    if (sequence !== undefined) return take(sequence.length, meaning(sequence))
    if (BEGUN.test(pending) && !isLast) return undefined
    if (pending.length === 1 || pending[1] === '\u001B') return take(1, { type: 'key', name: 'escape' })
    if (pending.length > 2 && BEGUN.test(pending)) return take(pending.length, { type: 'report', text: pending })
    if (pending[1] === '[' || pending[1] === 'O') return take(pending.length, { type: 'report', text: pending })
    const rest = String.fromCodePoint(pending.codePointAt(1) ?? 0)
    return take(1 + rest.length, withAlt(rest))
  }

  function endOfPaste(isLast: boolean): Key | undefined {
    const end = pending.indexOf(PASTE_ENDS)
    if (end < 0 && !isLast) {
      // The end mark itself may come in two pieces.
      const keep = pending.lastIndexOf('\u001B')
      const whole = keep >= 0 && PASTE_ENDS.startsWith(pending.slice(keep)) ? keep : pending.length
      pasted = (pasted ?? '') + pending.slice(0, whole)
      pending = pending.slice(whole)
      return undefined
    }
    const text = (pasted ?? '') + (end < 0 ? pending : pending.slice(0, end))
    pending = end < 0 ? '' : pending.slice(end + PASTE_ENDS.length)
    pasted = undefined
    return { type: 'paste', text: text.replace(/\r\n?/g, '\n') }
  }

  function take(length: number, key: Key): Key {
    pending = pending.slice(length)
    return key
  }

  function all(isLast: boolean): Key[] {
    const keys: Key[] = []
    for (let key = next(isLast); key; key = next(isLast)) keys.push(key)
    return keys
  }

  return {
    read(text) {
      pending += text
      return all(false)
    },
    flush: () => (pasted === undefined ? all(true) : []),
    get waits() {
      return pending !== '' && pasted === undefined
    },
  }
}

// A whole sequence: CSI …, SS3 x, or an answer of the terminal (OSC, DCS, APC) up to its end.
const SEQUENCE = /^\u001B(?:\[[0-?]*[ -/]*[@-~]|O[@-~]|[\]P_][^\u0007\u001B]*(?:\u0007|\u001B\\))/

// What may still become one.
const BEGUN = /^\u001B(?:[[O][0-?]*[ -/]*|[\]P_][^\u0007\u001B]*\u001B?)?$/

const FINAL: Readonly<Record<string, KeyName>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  H: 'home',
  F: 'end',
  P: 'f1',
  Z: 'tab',
  M: 'enter',
}
const TILDE: Readonly<Record<string, KeyName>> = {
  1: 'home',
  2: 'insert',
  3: 'delete',
  4: 'end',
  5: 'page-up',
  6: 'page-down',
  7: 'home',
  8: 'end',
}
const CODES: Readonly<Record<number, KeyName>> = {
  9: 'tab',
  13: 'enter',
  27: 'escape',
  32: 'space',
  127: 'backspace',
  57414: 'enter',
}

function meaning(sequence: string): Key {
  const csi = /^\u001B\[(?<params>[0-9;:]*)(?<final>[A-Za-z~])$/.exec(sequence)?.groups
  const ss3 = /^\u001BO(?<final>[A-Z])$/.exec(sequence)?.groups
  const final = csi?.['final'] ?? ss3?.['final'] ?? ''
  const [first = '', second = '', third = ''] = (csi?.['params'] ?? '').split(';').map((one) => one.split(':')[0] ?? '')
  const name =
    final === '~'
      ? first === '27'
        ? byCode(Number(third))
        : TILDE[first]
      : final === 'u'
        ? byCode(Number(first))
        : FINAL[final]
  if (name === undefined) return { type: 'report', text: sequence }
  if (typeof name === 'object') return modified(name.text, modifiers(second))
  return { type: 'key', name, ...(final === 'Z' ? { shift: true as const } : modifiers(second)) }
}

/** A key by its code point: one of the named keys, or a character. */
function byCode(code: number): KeyName | { readonly text: string } | undefined {
  if (CODES[code] !== undefined) return CODES[code]
  return code >= 32 && code < 57344 ? { text: String.fromCodePoint(code) } : undefined
}

function modifiers(text: string): { ctrl?: true; alt?: true; shift?: true } {
  const bits = Number(text || 1) - 1
  return { ...(bits & 4 && { ctrl: true }), ...(bits & 2 && { alt: true }), ...(bits & 1 && { shift: true }) }
}

function modified(text: string, held: { ctrl?: true; alt?: true; shift?: true }): Key {
  if (!held.ctrl && !held.alt) return { type: 'text', text }
  return isLetter(text.toLowerCase())
    ? { type: 'key', name: text.toLowerCase() as Letter, ...held }
    : { type: 'report', text }
}

function isLetter(text: string): boolean {
  return /^[a-z/_?.\\\]^]$/.test(text)
}

function withAlt(rest: string): Key {
  if (rest === '\r' || rest === '\n') return { type: 'key', name: 'enter', alt: true }
  if (rest === '\u007F' || rest === '\b') return { type: 'key', name: 'backspace', alt: true }
  return isLetter(rest.toLowerCase())
    ? { type: 'key', name: rest.toLowerCase() as Letter, alt: true }
    : { type: 'text', text: rest }
}

/** Control characters are keys: Control-A is 1, and some have names of their own. */
function control(code: number): Key {
  if (code === 13) return { type: 'key', name: 'enter' }
  // A line feed is what Control-J sends, and what many terminals send for Shift-Enter.
  if (code === 10) return { type: 'key', name: 'j', ctrl: true }
  if (code === 9) return { type: 'key', name: 'tab' }
  if (code === 127 || code === 8) return { type: 'key', name: 'backspace' }
  if (code === 0) return { type: 'key', name: 'space', ctrl: true }
  const letter = String.fromCharCode(code + 96)
  if (/[a-z]/.test(letter)) return { type: 'key', name: letter as Letter, ctrl: true }
  return code === 31 ? { type: 'key', name: '_', ctrl: true } : { type: 'report', text: String.fromCharCode(code) }
}
