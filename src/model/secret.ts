/** Takes secrets out of texts, before they are written where others may read them. */
export interface Redactor {
  /** The text with a word in brackets where a secret stood. */
  readonly clean: (text: string) => string
  /** Where secrets stand in a text, in order, none inside another. */
  readonly marks: (text: string) => readonly Mark[]
  /** The same, but only those that are secret beyond doubt. */
  readonly sure: (text: string) => readonly Mark[]
  /** Learns a secret; from now on it is found in whatever form it comes. */
  readonly learn: (secret: string) => void
}

/** A place in a text where a secret stands, and the word for it. */
export interface Mark {
  readonly start: number
  readonly end: number
  readonly word: string
}

/** Starts a redactor that knows these secrets, and the forms that keys have. */
export function redactor(secrets: Iterable<string> = []): Redactor {
  const known = new Set<string>()
  const forms: string[] = []
  const learn = (secret: string): void => {
    if (!isKeyLike(secret) || known.has(secret)) return
    known.add(secret)
    forms.push(...formsOf(secret))
  }
  for (const secret of secrets) learn(secret)
  const look = (text: string, patterns: readonly Form[]): readonly Mark[] =>
    joined([...marksOfKnown(text, forms), ...marksByForm(text, patterns), ...marksInBase64(text, forms)])
  const marks = (text: string): readonly Mark[] => look(text, [...SURE, ...LIKELY])
  return { learn, marks, sure: (text) => look(text, SURE), clean: (text) => replaced(text, marks(text)) }
}

/** Settings without secrets: what stands under such a name is one, whatever it looks like. */
export function cleanSettings(value: unknown, clean: Redactor['clean']): unknown {
  if (typeof value === 'string') return clean(value)
  if (Array.isArray(value)) return value.map((one) => cleanSettings(one, clean))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      const hidden = typeof one === 'string' && one !== '' && !VARIABLE.test(one)
      return [clean(key), hidden && isSecretName(key) ? SECRET : cleanSettings(one, clean)]
    }),
  )
}

/** The secrets among the variables of a process: whatever has a name like one. */
export function secretsIn(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    const trimmed = value?.trim() ?? ''
    if (trimmed === '') return []
    if (SECRET_NAME.test(name)) return [trimmed]
    return /_?PROXY$|_URL$/i.test(name) ? passwordIn(trimmed) : []
  })
}

/** Could this be a key? Local servers are often given a word, like “not-needed”; that would be found everywhere. */
export function isKeyLike(secret: string): boolean {
  return secret.length >= SHORTEST && (/\d|[a-z].*[A-Z]|[A-Z].*[a-z]/.test(secret) || secret.length >= 20)
}

/** Headers that carry nothing but a secret. */
export const SECRET_HEADER =
  /^(?:authorization|proxy-authorization|x-api-key|x-goog-api-key|api-key|cookie|set-cookie|x-auth-token)$/i

const SHORTEST = 8
const SECRET = '[secret]'
const KNOWN = '[key]'

function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) || SECRET_HEADER.test(name)
}

const SECRET_NAME =
  /(?:api[-_]?key|apikey|_key|access[-_]?key|private[-_]?key|secret|token|passw(?:or)?d|passphrase|credentials?|authorization)$/i

/** The name of a variable, or a reference to one: where a secret is, not what it is. */
const VARIABLE = /^\$?\{?[A-Z][A-Z0-9_]*\}?$/

interface Form {
  readonly word: string
  /** What is secret is the group named `it`, or all that matches. */
  readonly pattern: RegExp
}

/** A key stands alone: no letter comes before it, unless it is that of an escaped line end, as JSON writes it. */
const ALONE = String.raw`(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf]))`

/** Every repetition has an end, so that no text, however hostile, costs more than its length times a constant. */
const HAS_DIGIT = String.raw`(?=[\w-]{0,200}\d)`

function keyForm(...patterns: string[]): Form {
  return { word: SECRET, pattern: new RegExp(`${ALONE}(?:${patterns.join('|')})`, 'dg') }
}

/** Forms that nothing else has. */
const SURE: readonly Form[] = [
  {
    word: '[private key]',
    pattern:
      /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:[^"']{0,8000}?-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----|(?:[A-Za-z0-9+/=\s:,-]|\\+[nrt]){0,8000})/dg,
  },
  { word: '[token]', pattern: /eyJ[\w-]{8,3000}\.[\w-]{8,3000}(?:\.[\w-]{0,3000})?/dg },
  // OpenAI, Anthropic, OpenRouter, DeepSeek, Moonshot, DashScope, LM Studio.
  keyForm(String.raw`sk-${HAS_DIGIT}[\w-]{12,}`),
  // Google: API keys of both kinds, access tokens, refresh tokens, client secrets.
  { word: SECRET, pattern: /AIza[\w-]{30,}|AQ\.[\w-]{20,}|ya29\.[\w.-]{10,}|1\/\/0[\w-]{20,}|GOCSPX-[\w-]{16,}/dg },
  // Groq, xAI, Fireworks, Cerebras, Featherless, Together, Hugging Face, NVIDIA, Perplexity, Replicate.
  keyForm(String.raw`(?:gsk_|xai-|fw_|csk-|rc_|tgp_v1_|hf_|nvapi-|pplx-|r8_)${HAS_DIGIT}[A-Za-z0-9][\w-]{15,}`),
  // Z.ai: an id and a secret, with a dot between them.
  keyForm('[0-9a-f]{32}\\.[A-Za-z0-9]{16}(?![A-Za-z0-9])'),
  // GitHub, GitLab, Slack, AWS, npm, PyPI, DigitalOcean, SendGrid, Stripe, age.
  keyForm(
    'gh[pousr]_[A-Za-z0-9]{20,}',
    'github_pat_\\w{20,}',
    'glpat-[\\w-]{16,}',
    'xox[a-z]-[\\w-]{10,}',
    '(?:AKIA|ASIA)[0-9A-Z]{16}',
    'npm_[A-Za-z0-9]{30,}',
    'pypi-[\\w-]{30,}',
    'dop_v1_[a-f0-9]{30,}',
    'SG\\.[\\w-]{16,200}\\.[\\w-]{16,200}',
    '[sr]k_(?:live|test)_[A-Za-z0-9]{16,}',
    'whsec_[A-Za-z0-9+/=]{16,}',
    'AGE-SECRET-KEY-1[A-Z0-9]{30,}',
  ),
  { word: SECRET, pattern: /(?:Bearer|Basic)\s{1,4}(?<it>(?=[^\s"']{0,400}\d)[A-Za-z0-9._~+/=-]{16,})/dgi },
  // A password in an address: user:password@host.
  { word: SECRET, pattern: /\b[a-z][a-z0-9+.-]{1,20}:\/\/(?<it>[^\s/:@"'<>\\]{0,200}:[^\s/@"'<>\\[\]]{1,200})@/dgi },
  {
    word: SECRET,
    pattern:
      /[?&](?:key|api[-_]?key|(?:access|refresh|id|auth)[-_]?token|token|sig|signature|client[-_]?secret|password)=(?<it>[^\s&"'<>\\#[\]]{6,})/dgi,
  },
]

/** Forms that are most likely a secret; to lose them is no loss, but to stop for them would be. */
const LIKELY: readonly Form[] = [
  {
    word: SECRET,
    pattern:
      /(?:api[-_]?key|apikey|secret|passw(?:or)?d|passphrase|(?:access|refresh|auth|id)[-_]?token|private[-_]?key)["'\\]{0,4}\s{0,4}[:=]\s{0,4}["'\\]{0,4}(?<it>(?!-?[\d.]{1,40}(?![^\s"'\\,;&(){}[\]<>$]))[^\s"'\\,;&(){}[\]<>$]{8,})/dgi,
  },
]

function marksByForm(text: string, forms: readonly Form[]): Mark[] {
  const found: Mark[] = []
  for (const { word, pattern } of forms) {
    for (const match of text.matchAll(pattern)) {
      const [start, end] = match.indices?.groups?.['it'] ?? match.indices?.[0] ?? [0, 0]
      found.push({ start, end, word })
    }
  }
  return found
}

function marksOfKnown(text: string, forms: readonly string[]): Mark[] {
  const found: Mark[] = []
  for (const form of forms) {
    for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + form.length))
      found.push({ start: at, end: at + form.length, word: KNOWN })
  }
  return found
}

/** Secrets of any form inside base64: files of secrets are often written so. */
function marksInBase64(text: string, forms: readonly string[]): Mark[] {
  const found: Mark[] = []
  for (const match of text.matchAll(/[A-Za-z0-9+/_-]{24,65536}={0,2}/g)) {
    const [run] = match
    // Where it begins is not certain: something of the same letters may stand before it.
    for (let skip = 0; skip < 4; skip++) {
      const inner = plain(run.slice(skip))
      if (inner === undefined || [...marksOfKnown(inner, forms), ...marksByForm(inner, SURE)].length === 0) continue
      found.push({ start: match.index, end: match.index + run.length, word: SECRET })
      break
    }
  }
  return found
}

/** What base64 says, if it is text. */
function plain(base64: string): string | undefined {
  const letters = base64.replace(/=+$/, '').replaceAll('-', '+').replaceAll('_', '/')
  try {
    const text = atob(letters.slice(0, letters.length - (letters.length % 4 === 1 ? 1 : 0)))
    return /[\x20-\x7e]{12}/.test(text) ? text : undefined
  } catch {
    return undefined
  }
}

/** The forms in which a secret may turn up: as it is, escaped once or twice, in a URL, in base64 at any place, in hex. */
function formsOf(secret: string): string[] {
  const escaped = JSON.stringify(secret).slice(1, -1)
  const utf8 = [...new TextEncoder().encode(secret)]
  const bytes = String.fromCharCode(...utf8)
  const base64 = [0, 1, 2].map((before) => {
    // Only the letters that do not depend on what stands before and behind.
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
  return [...new Set(all)].filter((form) => form.length >= SHORTEST)
}

/** In order, and what overlaps made one. */
function joined(marks: readonly Mark[]): Mark[] {
  const all: Mark[] = []
  for (const mark of marks.toSorted((a, b) => a.start - b.start)) {
    const last = all.at(-1)
    if (last && mark.start < last.end) all[all.length - 1] = { ...last, end: Math.max(last.end, mark.end) }
    else if (mark.end > mark.start) all.push(mark)
  }
  return all
}

function replaced(text: string, marks: readonly Mark[]): string {
  if (marks.length === 0) return text
  let out = ''
  let from = 0
  for (const { start, end, word } of marks) {
    out += text.slice(from, start) + word
    from = end
  }
  return out + text.slice(from)
}

function passwordIn(url: string): string[] {
  if (!URL.canParse(url)) return []
  const { password } = new URL(url)
  return password === '' ? [] : [password, decodeURIComponent(password)]
}
