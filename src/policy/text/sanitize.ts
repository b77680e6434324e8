import { HIDDEN_CHARACTER_PATTERN } from '../../model/security/hidden-characters.ts'
import { lazy } from '../../model/lazy.ts'
import { type SecretSpan, createRedactor } from '../../model/security/redactor.ts'
import { toWellFormed } from '../../model/text.ts'
import { isLookalikeHost } from '../url/host-name.ts'
import { escapeCharacter, escapeHidden, escapeCharacters } from './escape-hidden.ts'
import { sanitizeForModel } from './sanitize-for-model.ts'

/** Where untrusted text is shown or sent. */
export type TextSurface =
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

interface SanitizeOptions {
  /** Terminal escape sequences are removed instead of shown. */
  readonly drops?: true
  /** The user decides on this text, so unusual spaces are escaped too. */
  readonly strict?: true
  /** Joiners that words need are kept, even if `strict`. */
  readonly joiners?: true
  /** Newlines and tabs are escaped. */
  readonly oneLine?: true
  /** Long runs of whitespace are shortened, so that they push nothing out of sight. */
  readonly folds?: 'blanks' | 'lines'
  /** Secrets are replaced: all likely ones, or only values that contain nothing that could run. */
  readonly masks?: 'all' | 'values'
}

const SURFACE_OPTIONS: Readonly<Record<Exclude<TextSurface, 'json-output' | 'to-model'>, SanitizeOptions>> = {
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
 * Makes text safe for a surface: it cannot control the terminal, hide something or change the text direction.
 * Invisible characters are written as `\u{…}`.
 */
export function sanitizeText(text: string, surface: TextSurface): string {
  if (surface === 'to-model') return sanitizeForModel(text)
  if (surface === 'json-output') return escapeInvisibleInJson(JSON.stringify(text))
  return applyOptions(text, SURFACE_OPTIONS[surface])
}

/**
 * Sanitizes text on which the user decides: everything is visible except the values of secrets, which `reveal` shows.
 */
export function sanitizeQuestion(
  text: string,
  { reveal }: { readonly reveal: boolean },
): { readonly text: string; readonly secrets: number } {
  const { masks: _masks, ...whole } = SURFACE_OPTIONS['approval-prompt']
  const secrets = reveal ? [] : findSecretValues(text)
  return { text: applyOptions(replaceRanges(text, secrets), whole), secrets: secrets.length }
}

/** Binary data is replaced by its size. */
export function sanitizeBytes(bytes: Uint8Array, surface: TextSurface): string {
  if (bytes.includes(0)) return `(binary data, ${bytes.length} bytes)`
  return sanitizeText(new TextDecoder().decode(bytes), surface)
}

export interface SanitizingStream {
  write(text: string): string
  /** Returns the text that was held back. */
  end(): string
}

/** Holds back text that may be the beginning of an escape sequence until the rest arrives. */
export function createSanitizingStream(surface: 'tool-output' | 'model-text'): SanitizingStream {
  const options: SanitizeOptions = SURFACE_OPTIONS[surface]
  let heldText = ''
  return {
    write(text) {
      if (heldText === '' && PLAIN_TEXT.test(text)) return text
      const whole = heldText + text
      const cut = whole.length - countHeldBack(whole, options)
      heldText = whole.slice(cut)
      return applyOptions(whole.slice(0, cut), options)
    },
    end() {
      const rest = heldText
      heldText = ''
      return applyOptions(rest, options)
    },
  }
}

/** Escapes invisible characters in JSON text, so that nothing is lost. */
export function escapeInvisibleInJson(json: string): string {
  return json.replace(HIDDEN_IN_JSON(), (char) =>
    char
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}

const HIDDEN_IN_JSON = lazy(() => new RegExp(`(?!\\n)${HIDDEN_CHARACTER_PATTERN}`, 'gu'))

const PLAIN_TEXT = /^(?!.*\/)[\x20-\x7e\n\t]*$/s

function applyOptions(given: string, options: SanitizeOptions): string {
  if (!options.masks && !options.folds && PLAIN_TEXT.test(given) && !options.oneLine) return given
  let text = toWellFormed(given)
  if (options.drops) text = text.replace(ESCAPE_SEQUENCE, '').replace(/\r\n?/g, '\n')
  else if (!options.strict) text = text.replaceAll('\r\n', '\n')
  text = text.replace(HOST_PATTERN, (whole, host: string) => `//${toAsciiHost(host) ?? whole.slice(2)}`)
  if (options.masks === 'all') text = redactSecrets(text)
  if (options.masks === 'values') text = replaceRanges(text, findSecretValues(text))
  text = escapeHidden(text, options.strict === true, options.joiners === true)
  text = text.replace(/(\p{M}{8})(\p{M}+)/gu, (_all, first: string, more: string) => first + escapeCharacters(more))
  if (options.oneLine) text = text.replace(/[\n\t]/g, escapeCharacter)
  return foldWhitespace(text, options)
}

const HOST_PATTERN = /\/\/([^\s/?#<>()[\]"'`\\]*[^\0-\x7f][^\s/?#<>()[\]"'`\\]*)/g

/** Returns the xn-- form of a host that can be mistaken for another. */
function toAsciiHost(host: string): string | undefined {
  const url = `http://${host}`
  const name = URL.canParse(url) ? new URL(url).host : ''
  return isLookalikeHost(name) ? name : undefined
}

/** Terminal escape sequences: CSI, strings (OSC, DCS, APC, PM, SOS), charset changes, and short ones. */
const ESCAPE_SEQUENCE =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)|\x1b[ -/]+[0-~]|\x1b[0-OQ-WYZ\\`-~=>]/g

const PARTIAL_ESCAPE_SEQUENCE =
  /(?:(?:\x1b\[|\x9b)[0-?]*[ -/]*|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*\x1b?|\x1b[ -/]*)$/

const MAX_HELD_CHARS = 32_768
const MAX_NESTING = 64

/** Counts the characters at the end of a text whose meaning depends on what follows. */
function countHeldBack(text: string, options: SanitizeOptions): number {
  const tail = text.slice(-MAX_HELD_CHARS)
  // Half a surrogate pair, then the base character of a sequence, then everything that they may be a part of.
  let rest = tail.replace(/[\ud800-\udbff]$/, '').replace(LAST_CLUSTER(), '')
  for (let times = 0, before = ''; before !== rest && times < MAX_NESTING; times++) {
    before = rest
    if (options.drops) rest = rest.replace(PARTIAL_ESCAPE_SEQUENCE, '')
    rest = rest.replace(/\r$/, '').replace(PARTIAL_HOST, '').replace(PARTIAL_CLUSTER(), '')
  }
  return rest === '' && tail.length === MAX_HELD_CHARS ? 0 : tail.length - rest.length
}

const PARTIAL_HOST = /(?:\/\/[^\s/?#<>()[\]"'`\\]{0,255}|\/)$/
/** A character with its modifiers. More may follow, so even a single one at the end is held back. */
const CLUSTER_PARTS = String.raw`[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Default_Ignorable_Code_Point}\p{M}]`
const PARTIAL_CLUSTER = lazy(() => new RegExp(String.raw`\P{ASCII}?${CLUSTER_PARTS}{1,32}$`, 'u'))
const LAST_CLUSTER = lazy(() => new RegExp(String.raw`\P{ASCII}?${CLUSTER_PARTS}{0,32}$`, 'u'))

/** Also redacts values assigned to variables with a name such as TOKEN. */
function redactSecrets(text: string): string {
  return createRedactor()
    .redact(text)
    .replace(SECRET_ASSIGNMENT, (_all, name: string) => `${name}[secret]`)
}

const SECRET_ASSIGNMENT = /\b(\w*(?:TOKEN|KEY|SECRET|PASSWORD)=)([\w./+=-]{12,})/g

/**
 * Finds the secrets in an approval prompt. Only values of letters, digits and a few signs count, since a shell, a URL
 * or a tool cannot interpret these. Anything else that looks like a secret is shown.
 */
function findSecretValues(text: string): SecretSpan[] {
  const found = createRedactor().findSpans(text)
  const set = [...text.matchAll(SECRET_ASSIGNMENT)].map(({ index, 1: name = '', 2: value = '' }) => {
    const start = index + name.length
    return { start, end: start + value.length, label: '[secret]' }
  })
  const apart = set.filter(({ start, end }) => !found.some((one) => one.start < end && start < one.end))
  return [...found, ...apart]
    .filter(({ start, end }) => /^[\w.+/=-]+$/.test(text.slice(start, end)))
    .sort((one, other) => one.start - other.start)
}

function replaceRanges(text: string, secrets: readonly SecretSpan[]): string {
  return secrets.reduceRight((rest, { start, end, label }) => rest.slice(0, start) + label + rest.slice(end), text)
}

function foldWhitespace(text: string, { folds }: SanitizeOptions): string {
  if (folds === undefined) return text
  const blanks = text.replace(/ {81,}|\t{81,}/g, (gap) => ` ⟨${gap.length} ${gap[0] === ' ' ? 'blanks' : 'tabs'}⟩ `)
  if (folds === 'blanks') return blanks
  return blanks.replace(/\n{5,}/g, (gap) => `\n⟨${gap.length - 1} empty lines⟩\n`)
}
