import { HIDDEN } from '../model/hidden.ts'
import { late } from '../model/late.ts'
import { type Mark, redactor } from '../model/secret.ts'
import { wellFormed } from '../model/text.ts'
import { isLookalike } from './host-name.ts'
import { KEPT_FOR_MODEL, mark, markHidden, marks } from './unseen.ts'

/** Where a text goes that somebody else wrote. */
export type TerminalSurface =
  | 'tool-output'
  | 'model-text'
  | 'approval-prompt'
  | 'file-name'
  | 'diff'
  | 'log-file'
  | 'json-output'
  | 'to-model'
  | 'mcp-tool-name'
  | 'mcp-tool-description'

/** How a surface shows a text. */
interface Manner {
  /** Sequences that steer a terminal are left out, instead of shown. */
  readonly drops?: true
  /** A person decides on this text: blanks that are not the blank are shown too. */
  readonly strict?: true
  /** Joiners inside words of scripts that need them are not marked, even if it is strict. */
  readonly joiners?: true
  /** The text is one line: line ends and tabs are shown as marks. */
  readonly oneLine?: true
  /** Long stretches of nothing are written short, with their length, so that they push nothing out of sight. */
  readonly folds?: 'blanks' | 'lines'
  /** Secrets are replaced by a word: every likely one, or only values that hold nothing that could run. */
  readonly masks?: 'all' | 'values'
}

const MANNERS: Readonly<Record<Exclude<TerminalSurface, 'json-output' | 'to-model'>, Manner>> = {
  'tool-output': { drops: true },
  'model-text': {},
  'approval-prompt': { strict: true, folds: 'lines', masks: 'values' },
  'file-name': { strict: true, oneLine: true },
  diff: { strict: true, joiners: true, folds: 'blanks' },
  'log-file': { oneLine: true, masks: 'all' },
  'mcp-tool-name': { strict: true, oneLine: true, folds: 'lines' },
  'mcp-tool-description': { strict: true, folds: 'lines' },
}

/**
 * A text as it may be shown on a surface: nothing in it can steer the terminal, hide something, or turn it around. What
 * cannot be seen is written as `\u{…}`.
 */
export function renderSafe(text: string, surface: TerminalSurface): string {
  if (surface === 'to-model') return forModel(text)
  if (surface === 'json-output') return safeJson(JSON.stringify(text))
  const manner = MANNERS[surface]
  return render(text, manner)
}

/** A text of a question, and how many secrets in it are replaced by a word until the person wants to see them. */
export interface QuestionText {
  readonly text: string
  readonly secrets: number
}

/** A text that a person decides on: all of it can be seen, but for the values of secrets, which `reveal` shows. */
export function renderQuestion(text: string, { reveal }: { readonly reveal: boolean }): QuestionText {
  const { masks: _masks, ...whole } = MANNERS['approval-prompt']
  const secrets = reveal ? [] : secretValues(text)
  return { text: render(replaced(text, secrets), whole), secrets: secrets.length }
}

/** Bytes as they may be shown: what is no text is named, with its size. */
export function renderBytes(bytes: Uint8Array, surface: TerminalSurface): string {
  if (bytes.includes(0)) return `(binary data, ${bytes.length} bytes)`
  return renderSafe(new TextDecoder().decode(bytes), surface)
}

/** A text that comes in pieces, made safe piece by piece. */
export interface SafeStream {
  write(text: string): string
  /** What was held back, because its end was still to come. */
  end(): string
}

/** Starts a stream. What may be the beginning of a sequence is held back until it is clear what it is. */
export function startSafe(surface: 'tool-output' | 'model-text'): SafeStream {
  const manner: Manner = MANNERS[surface]
  let held = ''
  return {
    write(text) {
      if (held === '' && PLAIN.test(text)) return text
      const whole = held + text
      const cut = whole.length - heldBack(whole, manner)
      held = whole.slice(cut)
      return render(whole.slice(0, cut), manner)
    },
    end() {
      const rest = held
      held = ''
      return render(rest, manner)
    },
  }
}

/** A text in a frame that it cannot leave: every line of it begins with a bar. */
export function framed(text: string): string {
  return text.replace(/\n$/, '').replace(/^/gm, '│ ')
}

/** A text as a model may read it: valid, and without characters that carry words which no person can see. */
export function forModel(text: string): string {
  const valid = wellFormed(text)
  if (!SMUGGLED().test(valid)) return valid
  const isMany = (valid.match(VARIANTS())?.length ?? 0) > MAX_VARIANTS
  const clean = isMany ? valid.replace(VARIANTS(), (pair) => String.fromCodePoint(pair.codePointAt(0) ?? 0)) : valid
  return clean.replace(ALL_SMUGGLED(), (...args) => (kept(args) ? args[0] : ''))
}

/** JSON text that can be printed: characters that cannot be seen are written as escapes, so that nothing is lost. */
export function safeJson(json: string): string {
  return json.replace(HIDDEN_IN_JSON(), (char) =>
    char
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}

const HIDDEN_IN_JSON = late(() => new RegExp(`(?!\\n)${HIDDEN}`, 'gu'))

/**
 * Tags and selectors of variants. A flag, an emoji with its form, and a few variants of Chinese letters are as they should be;
 * behind other signs, or behind many letters, selectors carry data that nobody sees.
 */
const DATA = String.raw`[\u{E0000}-\u{E0FFF}\uFE00-\uFE0F\u2061-\u2064\u206A-\u206F]+|[\u200B-\u200F\u2060\uFEFF\xAD\u034F]{3,}`
const SMUGGLED = late(() => new RegExp(DATA, 'u'))
const ALL_SMUGGLED = late(() => new RegExp(`(?<kept>${KEPT_FOR_MODEL})|${DATA}`, 'gu'))
const VARIANTS = late(() => /\p{Script=Han}[\uFE00-\uFE02\u{E0100}-\u{E01EF}]/gu)
const MAX_VARIANTS = 8

function kept(args: readonly unknown[]): boolean {
  const groups = args.at(-1) as { readonly kept?: string } | undefined
  return groups?.kept !== undefined
}

const PLAIN = /^(?!.*\/)[\x20-\x7e\n\t]*$/s

function render(given: string, manner: Manner): string {
  if (!manner.masks && !manner.folds && PLAIN.test(given) && !manner.oneLine) return given
  let text = wellFormed(given)
  if (manner.drops) text = text.replace(SEQUENCE, '').replace(/\r\n?/g, '\n')
  else if (!manner.strict) text = text.replaceAll('\r\n', '\n')
  text = text.replace(HOST, (whole, host: string) => `//${plainHost(host) ?? whole.slice(2)}`)
  if (manner.masks === 'all') text = masked(text)
  if (manner.masks === 'values') text = replaced(text, secretValues(text))
  text = markHidden(text, { strict: manner.strict === true, joiners: manner.joiners === true })
  text = text.replace(/(\p{M}{8})(\p{M}+)/gu, (_all, first: string, more: string) => first + marks(more))
  if (manner.oneLine) text = text.replace(/[\n\t]/g, mark)
  return folded(text, manner)
}

/** The host of an address, where a text may begin one. */
const HOST = /\/\/([^\s/?#<>()[\]"'`\\]*[^\0-\x7f][^\s/?#<>()[\]"'`\\]*)/g

/** The xn-- form of a host that can be taken for another; nothing if it is as it looks. */
function plainHost(host: string): string | undefined {
  const url = `http://${host}`
  const name = URL.canParse(url) ? new URL(url).host : ''
  return isLookalike(name) ? name : undefined
}

/** A whole sequence that steers a terminal: CSI, the strings (OSC, DCS, APC, PM, SOS), charset changes, and short ones. */
const SEQUENCE =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)|\x1b[ -/]+[0-~]|\x1b[0-OQ-WYZ\\`-~=>]/g

/** The beginning of one, at the end of a text. */
const UNFINISHED =
  /(?:(?:\x1b\[|\x9b)[0-?]*[ -/]*|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*\x1b?|\x1b[ -/]*)$/

const MAX_HELD = 32_768
const MAX_NESTING = 64

/** How many characters at the end of a text could mean something else once more has come. */
function heldBack(text: string, manner: Manner): number {
  const tail = text.slice(-MAX_HELD)
  // Half a character, then the character that one behind it may belong to, then all that these may be a part of.
  let rest = tail.replace(/[\ud800-\udbff]$/, '').replace(LAST_CLUSTER(), '')
  for (let times = 0, before = ''; before !== rest && times < MAX_NESTING; times++) {
    before = rest
    if (manner.drops) rest = rest.replace(UNFINISHED, '')
    rest = rest.replace(/\r$/, '').replace(OPEN_HOST, '').replace(OPEN_CLUSTER(), '')
  }
  return rest === '' && tail.length === MAX_HELD ? 0 : tail.length - rest.length
}

const OPEN_HOST = /(?:\/\/[^\s/?#<>()[\]"'`\\]{0,255}|\/)$/
/** A character with what is built onto it; more may be, so that even one that stands alone waits if it is the last. */
const PIECES = String.raw`[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Default_Ignorable_Code_Point}\p{M}]`
const OPEN_CLUSTER = late(() => new RegExp(String.raw`\P{ASCII}?${PIECES}{1,32}$`, 'u'))
const LAST_CLUSTER = late(() => new RegExp(String.raw`\P{ASCII}?${PIECES}{0,32}$`, 'u'))

/** Secrets in what a log keeps; a value that is set for a command is one too, if its name says so. */
function masked(text: string): string {
  return redactor()
    .clean(text)
    .replace(SET_VALUE, (_all, name: string) => `${name}[secret]`)
}

const SET_VALUE = /\b(\w*(?:TOKEN|KEY|SECRET|PASSWORD)=)([\w./+=-]{12,})/g

/**
 * The secrets in a question. Only a value counts that is made of letters, digits and a few signs: in it nothing can stand
 * that a shell, an address or a tool would take for more than a value. Whatever else looks like a secret is shown.
 */
function secretValues(text: string): Mark[] {
  const found = redactor().marks(text)
  const set = [...text.matchAll(SET_VALUE)].map(({ index, 1: name = '', 2: value = '' }) => {
    const start = index + name.length
    return { start, end: start + value.length, word: '[secret]' }
  })
  const apart = set.filter(({ start, end }) => !found.some((one) => one.start < end && start < one.end))
  return [...found, ...apart]
    .filter(({ start, end }) => /^[\w.+/=-]+$/.test(text.slice(start, end)))
    .sort((one, other) => one.start - other.start)
}

function replaced(text: string, secrets: readonly Mark[]): string {
  return secrets.reduceRight((rest, { start, end, word }) => rest.slice(0, start) + word + rest.slice(end), text)
}

function folded(text: string, { folds }: Manner): string {
  if (folds === undefined) return text
  const blanks = text.replace(/ {81,}|\t{81,}/g, (gap) => ` ⟨${gap.length} ${gap[0] === ' ' ? 'blanks' : 'tabs'}⟩ `)
  if (folds === 'blanks') return blanks
  return blanks.replace(/\n{5,}/g, (gap) => `\n⟨${gap.length - 1} empty lines⟩\n`)
}
