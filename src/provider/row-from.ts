import { isObject, type JsonObject } from '../model/json.ts'
import { nearMisses } from '../schema/near.ts'
import { isWireId, wireIds } from '../wire/wires.ts'
import { type AuthStyle, ENDPOINTS } from '../wire/endpoint.ts'
import type { Facts, Row } from './row.ts'
import { hasPassword, SENDABLE } from './target.ts'

/**
 * Reads a row that a person wrote into a config file; says in one sentence what is wrong with it. Where `base` is given,
 * a row of the table with the same name, it need only say what differs.
 */
export function rowFrom(id: string, json: unknown, base?: Row): { readonly row: Row } | { readonly problem: string } {
  try {
    return { row: read(id, json, base) }
  } catch (error) {
    if (!(error instanceof Wrong)) throw error
    return { problem: `The provider "${id}" ${error.message}${error.message.endsWith('?') ? '' : '.'}` }
  }
}

/** Reads flags that were written down; undefined where they are none that we know. */
export function factsFrom(json: unknown): Facts | undefined {
  try {
    return facts(json)
  } catch (error) {
    if (!(error instanceof Wrong)) throw error
    return undefined
  }
}

/** What is wrong, as the end of a sentence that begins with the provider's name. */
class Wrong extends Error {}

function read(id: string, json: unknown, base: Row | undefined): Row {
  if (!/^[a-z][a-z0-9-]*$/.test(id)) throw new Wrong('must have a name of small letters, digits and hyphens')
  if (!isObject(json)) throw new Wrong('must be an object')
  known(json, KEYS, 'key')
  const wire = json['wire'] ?? base?.wire ?? 'openai-chat'
  if (typeof wire !== 'string' || !isWireId(wire)) throw new Wrong(`has an unknown wire; there are ${list(wireIds)}`)
  // On another wire it is another endpoint, and what is known of the old one means nothing.
  const under = wire === base?.wire ? base : undefined
  const keys = json['keys'] === undefined ? (base?.keys ?? []) : strings(json, 'keys')
  const tokens = json['tokens'] === undefined ? under?.tokens : strings(json, 'tokens')
  const auth = json['auth'] ?? under?.auth ?? ENDPOINTS[wire].auth
  if (!isAuth(auth)) throw new Wrong(`has an unknown "auth"; there are ${list(AUTHS)}`)
  const open = json['auth'] === undefined && keys.length === 0 && tokens === undefined && json['signIn'] === undefined
  const port = json['port'] ?? under?.port
  if (port !== undefined && !isPort(port)) throw new Wrong('needs a port number from 1 to 65535 in "port"')
  const own = json['url'] === undefined && base ? base.url : url(json['url'])
  const profile = json['profile'] === undefined ? under?.profile : { ...under?.profile, ...facts(json['profile']) }
  return {
    ...under,
    id,
    wire,
    url: own,
    auth: open ? 'none' : auth,
    keys,
    ...(tokens && { tokens }),
    ...(json['urls'] !== undefined && { urls: strings(json, 'urls') }),
    ...(only(json, 'signIn', ['google'] as const) && { signIn: 'google' as const }),
    ...(only(json, 'path', ['vertex'] as const) && { path: 'vertex' as const }),
    ...text(json, 'check'),
    ...(port !== undefined && { port }),
    ...text(json, 'model'),
    ...(json['headers'] !== undefined && { headers: { ...under?.headers, ...headers(json['headers']) } }),
    ...(json['extra'] !== undefined && { extra: extra(json['extra']) }),
    ...(profile && { profile }),
  }
}

/** What a row may say; the compiler sees to it that nothing is forgotten. */
const KEYS = Object.keys({
  wire: 0,
  url: 0,
  auth: 0,
  keys: 0,
  tokens: 0,
  urls: 0,
  signIn: 0,
  path: 0,
  check: 0,
  port: 0,
  model: 0,
  headers: 0,
  extra: 0,
  profile: 0,
} satisfies Record<Exclude<keyof Row, 'id'>, 0>)
const AUTHS: readonly AuthStyle[] = ['bearer', 'google', 'anthropic', 'none']

function url(value: unknown): string {
  if (typeof value !== 'string' || value === '') throw new Wrong('needs a "url"')
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol))
    throw new Wrong('needs an http(s) URL in "url"')
  if (hasPassword(value)) throw new Wrong('must have no password in "url"; it would not be sent')
  return value
}

function only<T extends string>(json: Record<string, unknown>, key: string, allowed: readonly T[]): T | undefined {
  const value = json[key]
  if (value === undefined) return undefined
  const found = allowed.find((name) => name === value)
  if (found === undefined) throw new Wrong(`has an unknown "${key}"; there is ${list(allowed)}`)
  return found
}

function text<K extends 'model' | 'check'>(json: Record<string, unknown>, key: K): { readonly [key in K]?: string } {
  const value = json[key]
  if (value === undefined) return {}
  if (typeof value !== 'string' || value === '') throw new Wrong(`needs a text in "${key}"`)
  return { [key]: value } as { [key in K]: string }
}

function strings(json: Record<string, unknown>, key: string): string[] {
  const value = json[key] ?? []
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string' && /^\w+$/.test(one)))
    throw new Wrong(`needs a list of environment variables in "${key}"`)
  return value as string[]
}

function headers(value: unknown): Record<string, string> {
  const fine = (name: string, one: unknown) => typeof one === 'string' && /^[\w-]+$/.test(name) && SENDABLE.test(one)
  if (!isObject(value) || !Object.entries(value).every(([name, one]) => fine(name, one)))
    throw new Wrong('needs names and plain texts in "headers"')
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name.toLowerCase(), String(one)]))
}

function extra(value: unknown): JsonObject {
  if (!isObject(value)) throw new Wrong('needs an object in "extra"')
  return value as JsonObject
}

function facts(value: unknown): Facts {
  if (!isObject(value)) throw new Wrong('needs an object in "profile"')
  known(value, Object.keys(FLAGS), 'flag')
  for (const [flag, given] of Object.entries(value)) {
    const allowed = FLAGS[flag as keyof Facts]
    if (allowed === undefined || isAllowed(given, allowed)) continue
    const wanted = typeof allowed === 'string' ? allowed : `one of ${list(allowed)}`
    throw new Wrong(`needs ${wanted} for the flag "${flag}"`)
  }
  return value
}

type Allowed = 'a text' | 'true or false' | 'a number above 0' | 'a list of texts' | readonly (string | boolean)[]

/** What each flag may be; the compiler sees to it that none is forgotten. */
const FLAGS: Readonly<Record<keyof Facts, Allowed>> = {
  signer: 'a text',
  tools: ['native', 'text'],
  dialect: ['gemini-json', 'gemini', 'openai', 'openai-strict', 'anthropic', 'grammar'],
  ids: ['any', 'nine', 'functions'],
  media: 'true or false',
  refuses: 'a list of texts',
  replay: ['own', 'never'],
  needsReasoning: ['reasoning_content', 'reasoning'],
  emptyContent: ['null', 'empty', 'omit'],
  maxTokensField: ['max_tokens', 'max_completion_tokens'],
  systemRole: ['system', 'developer'],
  alternate: 'true or false',
  bridge: 'true or false',
  resultName: 'true or false',
  streamUsage: 'true or false',
  cache: ['none', 'key', 'marks', 'auto'],
  entities: 'true or false',
  think: 'true or false',
  signatures: ['required', 'optional', 'never'],
  nestedMedia: 'true or false',
  thinking: ['none', 'budget', 'level', 'adaptive'],
  constrain: 'true or false',
  eagerArguments: 'true or false',
  encryptedReasoning: 'true or false',
  serverTools: 'a list of texts',
  window: 'a number above 0',
  stream: [false],
}

function isAllowed(given: unknown, allowed: Allowed): boolean {
  if (allowed === 'a text') return typeof given === 'string' && given !== ''
  if (allowed === 'true or false') return typeof given === 'boolean'
  if (allowed === 'a number above 0') return typeof given === 'number' && given > 0
  if (allowed === 'a list of texts') return Array.isArray(given) && given.every((one) => typeof one === 'string')
  return allowed.some((one) => one === given)
}

function known(given: Record<string, unknown>, names: readonly string[], what: string): void {
  const stray = Object.keys(given).find((name) => !names.includes(name))
  if (stray === undefined) return
  const near = nearMisses([stray], names).get(stray)
  const hint = near === undefined ? `; there are ${list(names)}` : `; did you mean "${near}"?`
  throw new Wrong(`has the unknown ${what} "${stray}"${hint}`)
}

function isAuth(value: unknown): value is AuthStyle {
  return AUTHS.some((one) => one === value)
}

function isPort(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 65536
}

function list(names: readonly (string | boolean)[]): string {
  return names.map((name) => (typeof name === 'string' ? `"${name}"` : String(name))).join(', ')
}
