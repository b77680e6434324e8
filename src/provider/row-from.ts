import { isObject, type JsonObject } from '../model/json.ts'
import { nearMisses } from '../schema/near.ts'
import { isWireId, wireIds } from '../wire/wires.ts'
import type { Auth, Facts, Row } from './row.ts'
import { SENDABLE } from './target.ts'

/** Reads a row that a person wrote into a config file; says in one sentence what is wrong with it. */
export function rowFrom(id: string, json: unknown): { readonly row: Row } | { readonly problem: string } {
  try {
    return { row: read(id, json) }
  } catch (error) {
    if (!(error instanceof Wrong)) throw error
    return { problem: `The provider "${id}" ${error.message}${error.message.endsWith('?') ? '' : '.'}` }
  }
}

/** What is wrong, as the end of a sentence that begins with the provider's name. */
class Wrong extends Error {}

function read(id: string, json: unknown): Row {
  if (!/^[a-z][a-z0-9-]*$/.test(id)) throw new Wrong('must have a name of small letters, digits and hyphens')
  if (!isObject(json)) throw new Wrong('must be an object')
  known(json, KEYS, 'key')
  const wire = json['wire'] ?? 'openai-chat'
  if (typeof wire !== 'string' || !isWireId(wire)) throw new Wrong(`has an unknown wire; there are ${list(wireIds)}`)
  const keys = strings(json, 'keys')
  const auth = json['auth'] ?? USUAL_AUTH[wire]
  if (!isAuth(auth)) throw new Wrong(`has an unknown "auth"; there are ${list(AUTHS)}`)
  const port = json['port']
  if (port !== undefined && !isPort(port)) throw new Wrong('needs a port number from 1 to 65535 in "port"')
  if (json['path'] !== undefined && json['path'] !== 'vertex')
    throw new Wrong('has an unknown "path"; there is "vertex"')
  const model = json['model']
  if (model !== undefined && (typeof model !== 'string' || model === '')) throw new Wrong('needs a text in "model"')
  const profile = json['profile'] === undefined ? undefined : facts(json['profile'])
  return {
    id,
    wire,
    url: url(json['url']),
    auth: keys.length === 0 && json['auth'] === undefined && json['tokens'] === undefined ? 'none' : auth,
    keys,
    ...(json['tokens'] !== undefined && { tokens: strings(json, 'tokens') }),
    ...(json['urls'] !== undefined && { urls: strings(json, 'urls') }),
    ...(json['path'] === 'vertex' && { path: 'vertex' as const }),
    ...(isPort(port) && { port }),
    ...(typeof model === 'string' && { model }),
    ...(json['headers'] !== undefined && { headers: headers(json['headers']) }),
    ...(json['extra'] !== undefined && { extra: extra(json['extra']) }),
    ...(profile && { profile }),
  }
}

const KEYS = ['wire', 'url', 'auth', 'keys', 'tokens', 'urls', 'path', 'port', 'model', 'headers', 'extra', 'profile']
const AUTHS: readonly Auth[] = ['bearer', 'google', 'anthropic', 'none']
const USUAL_AUTH = {
  gemini: 'google',
  'code-assist': 'bearer',
  'openai-chat': 'bearer',
  'openai-responses': 'bearer',
  anthropic: 'anthropic',
} as const

function url(value: unknown): string {
  if (typeof value !== 'string' || value === '') throw new Wrong('needs a "url"')
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol))
    throw new Wrong('needs an http(s) URL in "url"')
  return value
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

function isAuth(value: unknown): value is Auth {
  return AUTHS.some((one) => one === value)
}

function isPort(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 65536
}

function list(names: readonly (string | boolean)[]): string {
  return names.map((name) => (typeof name === 'string' ? `"${name}"` : String(name))).join(', ')
}
