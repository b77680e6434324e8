export type KeyEvent =
  /** Printable characters, typed or dictated. */
  | { readonly type: 'text'; readonly text: string }
  /** Pasted text: whatever it contains is text, never a key. */
  | { readonly type: 'paste'; readonly text: string }
  | { readonly type: 'key'; readonly name: KeyName; readonly ctrl?: true; readonly alt?: true; readonly shift?: true }
  /** A report of the terminal: cursor position, focus and the like. */
  | { readonly type: 'report'; readonly text: string }

/** Keys that are no characters, and characters with Control or Alt. */
type KeyName =
  | ('enter' | 'tab' | 'escape' | 'backspace' | 'delete' | 'insert' | 'space' | 'f1')
  | ('up' | 'down' | 'left' | 'right' | 'home' | 'end' | 'page-up' | 'page-down')
  | LetterKey

type LetterKey =
  | ('a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h' | 'i' | 'j' | 'k' | 'l' | 'm')
  | ('n' | 'o' | 'p' | 'q' | 'r' | 's' | 't' | 'u' | 'v' | 'w' | 'x' | 'y' | 'z')
  | ('/' | '_' | '?' | '.' | '\\' | ']' | '^')

const PASTE_START = '\u001B[200~'
const PASTE_END = '\u001B[201~'

/** Parses what a terminal sends, in pieces of any size: legacy sequences, bracketed paste and `CSI u`. */
export function createKeyParser() {
  let pending = ''
  let pasted: string | undefined

  function next(isLast: boolean): KeyEvent | undefined {
    if (pasted !== undefined) return endOfPaste(isLast)
    if (pending === '') return undefined
    if (pending.startsWith(PASTE_START)) {
      pending = pending.slice(PASTE_START.length)
      pasted = ''
      return next(isLast)
    }
    if (pending.startsWith('\u001B')) return escape(isLast)
    const plain = /^[^\u0000-\u001F\u007F]+/.exec(pending)?.[0]
    if (plain !== undefined) return take(plain.length, { type: 'text', text: plain })
    return take(1, toControlKey(pending.charCodeAt(0)))
  }

  function escape(isLast: boolean): KeyEvent | undefined {
    const sequence = COMPLETE_SEQUENCE.exec(pending)?.[0]
    if (sequence !== undefined) return take(sequence.length, parseSequence(sequence))
    if (PARTIAL_SEQUENCE.test(pending) && !isLast) return undefined
    if (pending.length === 1 || pending[1] === '\u001B') return take(1, { type: 'key', name: 'escape' })
    if (pending.length > 2 && PARTIAL_SEQUENCE.test(pending))
      return take(pending.length, { type: 'report', text: pending })
    if (pending[1] === '[' || pending[1] === 'O') return take(pending.length, { type: 'report', text: pending })
    const rest = String.fromCodePoint(pending.codePointAt(1) ?? 0)
    return take(1 + rest.length, toAltKey(rest))
  }

  function endOfPaste(isLast: boolean): KeyEvent | undefined {
    const end = pending.indexOf(PASTE_END)
    if (end < 0 && !isLast) {
      // The end marker may arrive in two pieces.
      const keep = pending.lastIndexOf('\u001B')
      const whole = keep >= 0 && PASTE_END.startsWith(pending.slice(keep)) ? keep : pending.length
      pasted = (pasted ?? '') + pending.slice(0, whole)
      pending = pending.slice(whole)
      return undefined
    }
    const text = (pasted ?? '') + (end < 0 ? pending : pending.slice(0, end))
    pending = end < 0 ? '' : pending.slice(end + PASTE_END.length)
    pasted = undefined
    return { type: 'paste', text: text.replace(/\r\n?/g, '\n') }
  }

  function take(length: number, key: KeyEvent): KeyEvent {
    pending = pending.slice(length)
    return key
  }

  function all(isLast: boolean): KeyEvent[] {
    const keys: KeyEvent[] = []
    for (let key = next(isLast); key; key = next(isLast)) keys.push(key)
    return keys
  }

  return {
    /** The complete keys; an incomplete sequence waits for its rest. */
    parse(text: string): KeyEvent[] {
      pending += text
      return all(false)
    },
    /** Nothing arrived for a while: an incomplete sequence is taken as it is, for example as the Escape key. */
    flush: () => (pasted === undefined ? all(true) : []),
    get isPending(): boolean {
      return pending !== '' && pasted === undefined
    },
  }
}

// CSI …, SS3 x, or a report of the terminal (OSC, DCS, APC) up to its end.
const COMPLETE_SEQUENCE = /^\u001B(?:\[[0-?]*[ -/]*[@-~]|O[@-~]|[\]P_][^\u0007\u001B]*(?:\u0007|\u001B\\))/

// The beginning of one.
const PARTIAL_SEQUENCE = /^\u001B(?:[[O][0-?]*[ -/]*|[\]P_][^\u0007\u001B]*\u001B?)?$/

const KEYS_BY_FINAL_BYTE: Readonly<Record<string, KeyName>> = {
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
const KEYS_BY_TILDE_CODE: Readonly<Record<string, KeyName>> = {
  1: 'home',
  2: 'insert',
  3: 'delete',
  4: 'end',
  5: 'page-up',
  6: 'page-down',
  7: 'home',
  8: 'end',
}
const KEYS_BY_CODE_POINT: Readonly<Record<number, KeyName>> = {
  9: 'tab',
  13: 'enter',
  27: 'escape',
  32: 'space',
  127: 'backspace',
  57414: 'enter',
}

function parseSequence(sequence: string): KeyEvent {
  const csi = /^\u001B\[(?<params>[0-9;:]*)(?<final>[A-Za-z~])$/.exec(sequence)?.groups
  const ss3 = /^\u001BO(?<final>[A-Z])$/.exec(sequence)?.groups
  const final = csi?.['final'] ?? ss3?.['final'] ?? ''
  const [first = '', second = '', third = ''] = (csi?.['params'] ?? '').split(';').map((one) => one.split(':')[0] ?? '')
  const name =
    final === '~'
      ? first === '27'
        ? findKeyByCodePoint(Number(third))
        : KEYS_BY_TILDE_CODE[first]
      : final === 'u'
        ? findKeyByCodePoint(Number(first))
        : KEYS_BY_FINAL_BYTE[final]
  if (name === undefined) return { type: 'report', text: sequence }
  if (typeof name === 'object') return withModifiers(name.text, parseModifiers(second))
  return { type: 'key', name, ...(final === 'Z' ? { shift: true as const } : parseModifiers(second)) }
}

function findKeyByCodePoint(code: number): KeyName | { readonly text: string } | undefined {
  if (KEYS_BY_CODE_POINT[code] !== undefined) return KEYS_BY_CODE_POINT[code]
  return code >= 32 && code < 57344 ? { text: String.fromCodePoint(code) } : undefined
}

function parseModifiers(text: string): { ctrl?: true; alt?: true; shift?: true } {
  const bits = Number(text || 1) - 1
  return { ...(bits & 4 && { ctrl: true }), ...(bits & 2 && { alt: true }), ...(bits & 1 && { shift: true }) }
}

function withModifiers(text: string, held: { ctrl?: true; alt?: true; shift?: true }): KeyEvent {
  if (!held.ctrl && !held.alt) return { type: 'text', text }
  return isLetterKey(text.toLowerCase())
    ? { type: 'key', name: text.toLowerCase() as LetterKey, ...held }
    : { type: 'report', text }
}

function isLetterKey(text: string): boolean {
  return /^[a-z/_?.\\\]^]$/.test(text)
}

function toAltKey(rest: string): KeyEvent {
  if (rest === '\r' || rest === '\n') return { type: 'key', name: 'enter', alt: true }
  if (rest === '\u007F' || rest === '\b') return { type: 'key', name: 'backspace', alt: true }
  return isLetterKey(rest.toLowerCase())
    ? { type: 'key', name: rest.toLowerCase() as LetterKey, alt: true }
    : { type: 'text', text: rest }
}

/** Control characters: Control-A is 1, and some are named keys. */
function toControlKey(code: number): KeyEvent {
  if (code === 13) return { type: 'key', name: 'enter' }
  // Control-J, and in many terminals Shift-Enter.
  if (code === 10) return { type: 'key', name: 'j', ctrl: true }
  if (code === 9) return { type: 'key', name: 'tab' }
  if (code === 127 || code === 8) return { type: 'key', name: 'backspace' }
  if (code === 0) return { type: 'key', name: 'space', ctrl: true }
  const letter = String.fromCharCode(code + 96)
  if (/[a-z]/.test(letter)) return { type: 'key', name: letter as LetterKey, ctrl: true }
  return code === 31 ? { type: 'key', name: '_', ctrl: true } : { type: 'report', text: String.fromCharCode(code) }
}
