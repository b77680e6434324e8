import { generateKeyPairSync } from 'node:crypto'

/** A secret that must be found nowhere, and what kind it is. */
export interface Canary {
  readonly kind: string
  readonly value: string
}

/** Secrets of many kinds, all made up; `at` makes others. Those without a form of their own are marked as such. */
export function canaries(at: number): readonly (Canary & { readonly formless?: true })[] {
  const random = letters(at)
  const mixed = (length: number): string => random(length, 'ABCDEFGHJKMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz23456789')
  const hex = (length: number): string => random(length, '0123456789abcdef')
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  return [
    { kind: 'openai', value: `sk-proj-${mixed(20)}1T3BlbkFJ${mixed(20)}` },
    { kind: 'anthropic', value: `sk-ant-api03-${mixed(40)}-${mixed(10)}9AA` },
    { kind: 'openrouter', value: `sk-or-v1-${hex(64)}` },
    { kind: 'deepseek, moonshot, dashscope', value: `sk-0${hex(31)}` },
    { kind: 'gemini', value: `AIzaSy${mixed(33)}` },
    { kind: 'gemini, new', value: `AQ.Ab8${mixed(40)}` },
    { kind: 'google token', value: `ya29.a0${mixed(60)}` },
    { kind: 'google refresh token', value: `1//0g${mixed(50)}` },
    { kind: 'google client secret', value: `GOCSPX-${mixed(28)}` },
    { kind: 'groq', value: `gsk_7${mixed(51)}` },
    { kind: 'xai', value: `xai-7${mixed(79)}` },
    { kind: 'fireworks', value: `fw_3${mixed(24)}` },
    { kind: 'cerebras', value: `csk-4${random(47, 'abcdefghijkmnpqrstuvwxyz23456789')}` },
    { kind: 'featherless', value: `rc_${hex(64)}` },
    { kind: 'together', value: `tgp_v1_5${mixed(42)}` },
    { kind: 'zai', value: `${hex(32)}.${mixed(16)}` },
    { kind: 'mistral', value: mixed(32), formless: true },
    { kind: 'deepinfra', value: mixed(32), formless: true },
    { kind: 'kilocode, minimax: a JWT', value: `${part({ alg: 'HS256' })}.${part({ sub: mixed(12) })}.${mixed(43)}` },
    { kind: 'github', value: `ghp_${mixed(36)}` },
    { kind: 'slack', value: `xoxb-1234567890-${mixed(24)}` },
    { kind: 'aws', value: `AKIA${random(16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')}` },
    { kind: 'password in a URL', value: `https://someone:${mixed(16)}@db.example/x` },
    { kind: 'a private key', value: PRIVATE_KEY },
  ]
}

/** What must not be found: of a URL only the password is secret, of a private key every line. */
export function needles({ kind, value }: Canary): readonly string[] {
  if (kind === 'password in a URL') return [/:([^:@]+)@/.exec(value)?.[1] ?? value]
  if (kind === 'a private key') return value.split('\n').filter((line) => line.length > 40)
  return [value]
}

/** In which of these forms, and base64 and hex of them, a secret is in a text. */
export function leaks(text: string, secrets: readonly Canary[]): string[] {
  return secrets.flatMap((canary) =>
    needles(canary).flatMap((needle) => {
      const bytes = Buffer.from(needle)
      const inner = Buffer.from(`xx${needle}xx`)
      const forms = [
        needle,
        encodeURIComponent(needle),
        bytes.toString('hex'),
        ...[0, 1, 2].map((skip) => base64(inner, skip)),
      ]
      const found = forms.find((form) => text.includes(form))
      return found === undefined ? [] : [`${canary.kind}: ${found.slice(0, 24)}…`]
    }),
  )
}

/** The middle of the base64 of bytes, as it stands whatever comes before it. */
function base64(bytes: Buffer, skip: number): string {
  return bytes.subarray(skip).toString('base64').slice(4, -8)
}

const PRIVATE_KEY = generateKeyPairSync('rsa', { modulusLength: 1024 })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString()

/** Letters that are the same for the same seed. */
function letters(seed: number): (length: number, from: string) => string {
  let state = (seed * 2_654_435_761 + 1) >>> 0
  return (length, from) =>
    Array.from({ length }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return from[(state >>> 8) % from.length]
    }).join('')
}
