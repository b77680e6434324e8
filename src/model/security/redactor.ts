import { isObject } from '../json.ts'
import { tryOrUndefined } from '../try-or-undefined.ts'

/** Removes secrets from texts before they are written where others may read them. */
export interface Redactor {
  /** Replaces each secret by a label in brackets. */
  readonly redact: (text: string) => string
  /** Finds the secrets in a text, in order and without overlaps. */
  readonly findSpans: (text: string) => readonly SecretSpan[]
  /** The same, but only what is certainly a secret. */
  readonly findCertainSpans: (text: string) => readonly SecretSpan[]
  /** From now on this secret is found, also in its usual encodings. */
  readonly addSecret: (secret: string) => void
}

export interface SecretSpan {
  readonly start: number
  readonly end: number
  readonly label: string
}

/** Creates a redactor for these secrets, and for everything that looks like a key. */
export function createRedactor(secrets: Iterable<string> = []): Redactor {
  const knownSecrets = new Set<string>()
  const forms: string[] = []
  const learn = (secret: string): void => {
    if (!isKeyLike(secret) || knownSecrets.has(secret)) return
    knownSecrets.add(secret)
    forms.push(...listEncodedForms(secret))
  }
  for (const secret of secrets) learn(secret)
  const searchText = (text: string, patterns: readonly SecretPattern[]): readonly SecretSpan[] =>
    mergeSpans([...findKnownSpans(text, forms), ...findPatternSpans(text, patterns), ...findBase64Spans(text, forms)])
  const findSpans = (text: string): readonly SecretSpan[] => searchText(text, [...CERTAIN_PATTERNS, LIKELY_PATTERN])
  return {
    addSecret: learn,
    findSpans,
    findCertainSpans: (text) => searchText(text, CERTAIN_PATTERNS),
    redact: (text) => replaceSpans(text, findSpans(text)),
  }
}

/** Settings without secrets: a value whose key is named like a secret is one, whatever it looks like. */
export function redactSettings(value: unknown, redact: Redactor['redact']): unknown {
  if (typeof value === 'string') return redact(value)
  if (Array.isArray(value)) return value.map((one) => redactSettings(one, redact))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      const isLiteral = typeof one === 'string' && one !== '' && !VARIABLE_PATTERN.test(one)
      return [redact(key), isLiteral && isSecretName(key) ? SECRET_LABEL : redactSettings(one, redact)]
    }),
  )
}

/** The values of environment variables that are named like a secret, and the passwords in URLs. */
export function findEnvironmentSecrets(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    const trimmed = value?.trim() ?? ''
    if (trimmed === '') return []
    if (SECRET_NAME_PATTERN.test(name)) return [trimmed]
    return /_?PROXY$|_URL$/i.test(name) ? readUrlPassword(trimmed) : []
  })
}

/** Local servers are often configured with a word like “not-needed” as their key; it would be found everywhere. */
export function isKeyLike(secret: string): boolean {
  return secret.length >= MIN_SECRET_CHARS && (/\d|[a-z].*[A-Z]|[A-Z].*[a-z]/.test(secret) || secret.length >= 20)
}

/** Headers whose whole value is a secret. */
export const SECRET_HEADER_PATTERN =
  /^(?:authorization|proxy-authorization|x-api-key|x-goog-api-key|api-key|cookie|set-cookie|x-auth-token)$/i

const MIN_SECRET_CHARS = 8
const SECRET_LABEL = '[secret]'
const KNOWN_KEY_LABEL = '[key]'

function isSecretName(name: string): boolean {
  return SECRET_NAME_PATTERN.test(name) || SECRET_HEADER_PATTERN.test(name)
}

const SECRET_NAME_PATTERN =
  /(?:api[-_]?key|apikey|_key|access[-_]?key|private[-_]?key|secret|token|passw(?:or)?d|passphrase|credentials?|authorization)$/i

/** The name of a variable, or a reference to one: not the secret itself. */
const VARIABLE_PATTERN = /^\$?\{?[A-Z][A-Z0-9_]*\}?$/

interface SecretPattern {
  readonly label: string
  /** The secret is the group named `it`, or the whole match. */
  readonly pattern: RegExp
}

/** No letter or digit comes before a key, except that of a JSON escape such as `\n`. */
const KEY_START_PATTERN = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf]))`

/** Every repetition is bounded, so that no text takes more than linear time. */
const DIGIT_LOOKAHEAD = String.raw`(?=[\w-]{0,200}\d)`

function createKeyPattern(...patterns: string[]): SecretPattern {
  return { label: SECRET_LABEL, pattern: new RegExp(`${KEY_START_PATTERN}(?:${patterns.join('|')})`, 'dg') }
}

const CERTAIN_PATTERNS: readonly SecretPattern[] = [
  {
    label: '[private key]',
    pattern:
      /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[^"']{0,8000}?-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----|(?:[A-Za-z0-9+/=\s:,-]|\\+[nrt]){0,8000})/dg,
  },
  { label: '[token]', pattern: /eyJ[\w-]{8,3000}\.[\w-]{8,3000}(?:\.[\w-]{0,3000})?/dg },
  // OpenAI, Anthropic, OpenRouter, DeepSeek, Moonshot, DashScope, LM Studio.
  createKeyPattern(String.raw`sk-${DIGIT_LOOKAHEAD}[\w-]{12,}`),
  // Google: API keys of both kinds, access tokens, refresh tokens, client secrets.
  {
    label: SECRET_LABEL,
    pattern: /AIza[\w-]{30,}|AQ\.[\w-]{20,}|ya29\.[\w.-]{10,}|1\/\/0[\w-]{20,}|GOCSPX-[\w-]{16,}/dg,
  },
  // Groq, xAI, Fireworks, Cerebras, Featherless, Together, Hugging Face, NVIDIA, Perplexity, Replicate, Vercel.
  createKeyPattern(
    String.raw`(?:gsk_|xai-|fw_|csk-|rc_|tgp_v1_|hf_|nvapi-|pplx-|r8_|vck_)${DIGIT_LOOKAHEAD}[A-Za-z0-9][\w-]{15,}`,
  ),
  // Z.ai: an id and a secret, with a dot between them.
  createKeyPattern('[0-9a-f]{32}\\.[A-Za-z0-9]{16}(?![A-Za-z0-9])'),
  // GitHub, GitLab, Slack, AWS, npm, PyPI, DigitalOcean, SendGrid, Stripe, age.
  createKeyPattern(
    'gh[pousr]_[A-Za-z0-9]{20,}',
    'github_pat_\\w{20,}',
    'glpat-[\\w-]{16,}',
    'xox[a-z]-[\\w-]{10,}',
    '(?:AKIA|ASIA)[0-9A-Z]{16}',
    'ABSK[A-Za-z0-9+/=]{40,}',
    'bedrock-api-key-[A-Za-z0-9+/=]{20,}',
    'npm_[A-Za-z0-9]{30,}',
    'pypi-[\\w-]{30,}',
    'dop_v1_[a-f0-9]{30,}',
    'SG\\.[\\w-]{16,200}\\.[\\w-]{16,200}',
    '[sr]k_(?:live|test)_[A-Za-z0-9]{16,}',
    'whsec_[A-Za-z0-9+/=]{16,}',
    'AGE-SECRET-KEY-1[A-Z0-9]{30,}',
  ),
  { label: SECRET_LABEL, pattern: /(?:Bearer|Basic)\s{1,4}(?<it>(?=[^\s"']{0,400}\d)[A-Za-z0-9._~+/=-]{16,})/dgi },
  // A password in a URL: user:password@host.
  {
    label: SECRET_LABEL,
    pattern: /\b[a-z][a-z0-9+.-]{1,20}:\/\/(?<it>[^\s/:@"'<>\\]{0,200}:[^\s/@"'<>\\[\]]{1,200})@/dgi,
  },
  {
    label: SECRET_LABEL,
    pattern:
      /[?&](?:key|api[-_]?key|(?:access|refresh|id|auth)[-_]?token|token|sig|signature|client[-_]?secret|password)=(?<it>[^\s&"'<>\\#[\]]{6,})/dgi,
  },
]

/** Probably a secret: good enough to redact it, but not to block anything. */
const LIKELY_PATTERN: SecretPattern = {
  label: SECRET_LABEL,
  pattern:
    /(?:api[-_]?key|apikey|secret|passw(?:or)?d|passphrase|(?:access|refresh|auth|id)[-_]?token|private[-_]?key)["'\\]{0,4}\s{0,4}[:=]\s{0,4}["'\\]{0,4}(?<it>(?!-?[\d.]{1,40}(?![^\s"'\\,;&(){}[\]<>$]))[^\s"'\\,;&(){}[\]<>$]{8,})/dgi,
}

function findPatternSpans(text: string, patterns: readonly SecretPattern[]): SecretSpan[] {
  return patterns.flatMap(({ label, pattern }) =>
    Array.from(text.matchAll(pattern), ({ indices }) => {
      const [start, end] = indices?.groups?.['it'] ?? indices?.[0] ?? [0, 0]
      return { start, end, label }
    }),
  )
}

function findKnownSpans(text: string, forms: readonly string[]): SecretSpan[] {
  const found: SecretSpan[] = []
  for (const form of forms) {
    for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + form.length))
      found.push({ start: at, end: at + form.length, label: KNOWN_KEY_LABEL })
  }
  return found
}

/** Secrets inside base64. */
function findBase64Spans(text: string, forms: readonly string[]): SecretSpan[] {
  const found: SecretSpan[] = []
  for (const match of text.matchAll(/[A-Za-z0-9+/_-]{24,65536}={0,2}/g)) {
    const [run] = match
    // Other letters may precede the base64, so each of the four alignments is tried.
    for (let skip = 0; skip < 4; skip++) {
      const inner = decodeBase64Text(run.slice(skip))
      if (inner === undefined) continue
      const innerSpans = [...findKnownSpans(inner, forms), ...findPatternSpans(inner, CERTAIN_PATTERNS)]
      if (innerSpans.length === 0) continue
      found.push({ start: match.index, end: match.index + run.length, label: SECRET_LABEL })
      break
    }
  }
  return found
}

/** The decoded text; undefined if it is not text. */
function decodeBase64Text(base64: string): string | undefined {
  const letters = base64.replace(/=+$/, '').replaceAll('-', '+').replaceAll('_', '/')
  const text = tryOrUndefined(() => atob(letters.slice(0, letters.length - (letters.length % 4 === 1 ? 1 : 0))))
  return text !== undefined && /[\x20-\x7e]{12}/.test(text) ? text : undefined
}

/** A secret as it is, JSON-escaped once or twice, in a URL, in base64 at any alignment, and in hex. */
function listEncodedForms(secret: string): string[] {
  const escaped = JSON.stringify(secret).slice(1, -1)
  const utf8 = [...new TextEncoder().encode(secret)]
  const bytes = String.fromCharCode(...utf8)
  const base64 = [0, 1, 2].map((before) => {
    // Only the letters that do not depend on what precedes and follows.
    const written = btoa(`${'\0'.repeat(before)}${bytes}`).replace(/=+$/, '')
    const first = before === 0 ? 0 : before + 1
    return written.slice(first, Math.floor(((before + bytes.length) * 8) / 6))
  })
  const hex = utf8.map((one) => one.toString(16).padStart(2, '0')).join('')
  const all = [
    secret,
    bytes,
    escaped,
    JSON.stringify(escaped).slice(1, -1),
    encodeURIComponent(secret),
    ...base64,
    ...base64.map((one) => one.replaceAll('+', '-').replaceAll('/', '_')),
    hex,
    hex.toUpperCase(),
  ]
  return [...new Set(all)].filter((form) => form.length >= MIN_SECRET_CHARS)
}

/** Sorts the spans, and joins those that overlap. */
function mergeSpans(spans: readonly SecretSpan[]): SecretSpan[] {
  const all: SecretSpan[] = []
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    const last = all.at(-1)
    if (last && span.start < last.end) all[all.length - 1] = { ...last, end: Math.max(last.end, span.end) }
    else if (span.end > span.start) all.push(span)
  }
  return all
}

function replaceSpans(text: string, spans: readonly SecretSpan[]): string {
  let out = ''
  let from = 0
  for (const { start, end, label } of spans) {
    out += text.slice(from, start) + label
    from = end
  }
  return out + text.slice(from)
}

function readUrlPassword(url: string): string[] {
  if (!URL.canParse(url)) return []
  const { password } = new URL(url)
  return password === '' ? [] : [password, decodeURIComponent(password)]
}
