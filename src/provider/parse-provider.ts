import { isObject, type JsonObject } from '../model/json.ts'
import { matchSimilarNames } from '../schema/similar-names.ts'
import { isWireId, wireIds } from '../wire/wires.ts'
import { type AuthStyle, WIRE_ENDPOINTS } from '../wire/endpoint.ts'
import { toProviderOnWire } from './provider-on-wire.ts'
import type { Capabilities, ProviderDefinition } from './provider-definition.ts'
import { hasUrlPassword, HEADER_VALUE_PATTERN } from './endpoint.ts'
import { defined } from '../model/defined.ts'

/** With `base`, a built-in provider of the same name, only differences are needed. */
export function parseProvider(
  id: string,
  json: unknown,
  base?: ProviderDefinition,
): { readonly provider: ProviderDefinition } | { readonly problem: string } {
  try {
    return { provider: parseDefinition(id, json, base) }
  } catch (error) {
    if (!(error instanceof InvalidProviderError)) throw error
    return { problem: `The provider "${id}" ${error.message}` }
  }
}

/** Undefined if a flag or its value is unknown. */
export function parseCapabilities(json: unknown): Capabilities | undefined {
  try {
    return parseFlags(json)
  } catch (error) {
    if (!(error instanceof InvalidProviderError)) throw error
    return undefined
  }
}

/** The message is the predicate of a sentence whose subject is the provider. */
class InvalidProviderError extends Error {
  constructor(predicate: string, mark: '.' | '?' = '.') {
    super(predicate + mark)
  }
}

function parseDefinition(id: string, json: unknown, base: ProviderDefinition | undefined): ProviderDefinition {
  if (!/^[a-z][a-z0-9-]*$/.test(id))
    throw new InvalidProviderError('must have a name of lower-case letters, digits and hyphens')
  if (!isObject(json)) throw new InvalidProviderError('must be an object')
  checkKeys(json, PROVIDER_KEYS, 'key')
  const wire = json['wire'] ?? base?.wire ?? 'openai-chat'
  if (typeof wire !== 'string' || !isWireId(wire))
    throw new InvalidProviderError(`has an unknown wire; the known ones are ${formatList(wireIds)}`)
  // On another wire it is another endpoint: only what a built-in provider has for that wire applies.
  const inherited = base && toProviderOnWire(base, wire)
  const keys = json['keys'] === undefined ? (base?.keys ?? []) : parseVariableNames(json, 'keys')
  const tokens = json['tokens'] === undefined ? inherited?.tokens : parseVariableNames(json, 'tokens')
  const auth = json['auth'] ?? inherited?.auth ?? WIRE_ENDPOINTS[wire].auth
  if (!isAuthStyle(auth))
    throw new InvalidProviderError(`has an unknown "auth"; the known ones are ${formatList(AUTH_STYLES)}`)
  const open = json['auth'] === undefined && keys.length === 0 && tokens === undefined && json['signIn'] === undefined
  const port = json['port'] ?? inherited?.port
  if (port !== undefined && !isPort(port))
    throw new InvalidProviderError('needs a port number from 1 to 65535 in "port"')
  const resolvedUrl = json['url'] === undefined && base ? base.url : parseUrl(json['url'])
  // A compatible server has the API of some time ago: tools are not added inside the history, unless the row says so.
  const defaults = inherited ? inherited.profile : wire === 'openai-responses' ? OLDER_RESPONSES : undefined
  const profile = json['profile'] === undefined ? defaults : { ...defaults, ...parseFlags(json['profile']) }
  return {
    ...inherited,
    id,
    wire,
    url: resolvedUrl,
    auth: open ? 'none' : auth,
    keys,
    ...defined({ tokens }),
    ...(json['urls'] !== undefined && { urls: parseVariableNames(json, 'urls', /^\w+$|\{\w+(?:\|\w+)*\}/) }),
    ...defined({ signIn: parseOnlyValue(json, 'signIn', 'google'), path: parseOnlyValue(json, 'path', 'vertex') }),
    ...defined({
      modelList: parseText(json, 'modelList'),
      check: parseText(json, 'check'),
      port,
      model: parseText(json, 'model'),
    }),
    ...(json['headers'] !== undefined && { headers: { ...inherited?.headers, ...parseHeaders(json['headers']) } }),
    ...(json['extra'] !== undefined && { extra: parseExtra(json['extra']) }),
    ...defined({ profile }),
  }
}

const OLDER_RESPONSES: Capabilities = { lateTools: 'none' }

/** The compiler checks that it is complete. */
const PROVIDER_KEYS = Object.keys({
  wire: 0,
  url: 0,
  auth: 0,
  keys: 0,
  tokens: 0,
  urls: 0,
  signIn: 0,
  path: 0,
  modelList: 0,
  check: 0,
  port: 0,
  model: 0,
  headers: 0,
  extra: 0,
  profile: 0,
} satisfies Record<Exclude<keyof ProviderDefinition, 'id' | 'labels'>, 0>)
const AUTH_STYLES: readonly AuthStyle[] = ['bearer', 'google', 'anthropic', 'none']

function parseUrl(value: unknown): string {
  if (typeof value !== 'string' || value === '') throw new InvalidProviderError('needs a "url"')
  const sample = value.replace(/^\{[\w|]+\}/, 'https://x').replace(/\{[\w|]+\}/g, 'x')
  if (!URL.canParse(sample) || !/^https?:$/.test(new URL(sample).protocol))
    throw new InvalidProviderError('needs an http(s) URL in "url"')
  if (hasUrlPassword(sample)) throw new InvalidProviderError('must have no password in "url"; it would not be sent')
  return value
}

function parseOnlyValue<T extends string>(json: Record<string, unknown>, key: string, only: T): T | undefined {
  const value = json[key]
  if (value !== undefined && value !== only)
    throw new InvalidProviderError(`has an unknown "${key}"; the known one is "${only}"`)
  return value === undefined ? undefined : only
}

function parseText(json: Record<string, unknown>, key: string): string | undefined {
  const value = json[key]
  if (value !== undefined && (typeof value !== 'string' || value === ''))
    throw new InvalidProviderError(`needs a string in "${key}"`)
  return value
}

function parseVariableNames(json: Record<string, unknown>, key: string, pattern = /^\w+$/): string[] {
  const value = json[key] ?? []
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string' && pattern.test(one)))
    throw new InvalidProviderError(`needs a list of environment variables in "${key}"`)
  return value as string[]
}

function parseHeaders(value: unknown): Record<string, string> {
  const isValid = (name: string, one: unknown) =>
    typeof one === 'string' && /^[\w-]+$/.test(name) && HEADER_VALUE_PATTERN.test(one)
  if (!isObject(value) || !Object.entries(value).every(([name, one]) => isValid(name, one)))
    throw new InvalidProviderError('needs an object of strings in "headers"')
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name.toLowerCase(), String(one)]))
}

function parseExtra(value: unknown): JsonObject {
  if (!isObject(value)) throw new InvalidProviderError('needs an object in "extra"')
  return value as JsonObject
}

function parseFlags(value: unknown): Capabilities {
  if (!isObject(value)) throw new InvalidProviderError('needs an object in "profile"')
  checkKeys(value, Object.keys(FLAG_TYPES), 'flag')
  for (const [flag, given] of Object.entries(value)) {
    const allowed = FLAG_TYPES[flag as keyof Capabilities]
    if (allowed === undefined || isAllowedValue(given, allowed)) continue
    const wanted = typeof allowed === 'string' ? allowed : `one of ${formatList(Object.keys(allowed))}`
    throw new InvalidProviderError(`needs ${wanted} for the flag "${flag}"`)
  }
  return value
}

/** What the value of a flag may be; the values of a union are listed as keys, so that none is forgotten. */
type FlagType<Value> = [Value] extends [boolean]
  ? boolean extends Value
    ? 'true or false'
    : 'false'
  : [Value] extends [number]
    ? 'a number above 0'
    : [Value] extends [string]
      ? string extends Value
        ? 'a string'
        : Readonly<Record<Value, true>>
      : 'a list of strings'

/** The compiler checks that every flag and every value of it is here. */
const FLAG_TYPES: { readonly [Flag in keyof Capabilities]-?: FlagType<NonNullable<Capabilities[Flag]>> } = {
  signer: 'a string',
  tools: { native: true, text: true },
  dialect: { 'gemini-json': true, gemini: true, openai: true, 'openai-strict': true, anthropic: true, grammar: true },
  ids: { any: true, nine: true, functions: true },
  media: 'true or false',
  refuses: 'a list of strings',
  replay: { own: true, never: true },
  needsReasoning: { reasoning_content: true, reasoning: true },
  emptyContent: { null: true, empty: true, omit: true },
  maxTokensField: { max_tokens: true, max_completion_tokens: true },
  systemRole: { system: true, developer: true },
  alternate: 'true or false',
  bridge: 'true or false',
  resultName: 'true or false',
  streamUsage: 'true or false',
  cache: { none: true, key: true, marks: true, auto: true },
  entities: 'true or false',
  think: 'true or false',
  signatures: { required: true, optional: true, never: true },
  nestedMedia: 'true or false',
  thinking: { none: true, budget: true, level: true, adaptive: true },
  constrain: 'true or false',
  eagerArguments: 'true or false',
  encryptedReasoning: 'true or false',
  outputFormat: { schema: true, object: true, none: true },
  outputWithTools: 'true or false',
  cacheTtlField: { prompt_cache_retention: true, prompt_cache_options: true },
  systemNotes: 'true or false',
  lateTools: { native: true, none: true },
  freeTextTools: 'true or false',
  cacheDiagnosis: 'true or false',
  serverTools: 'a list of strings',
  window: 'a number above 0',
  stream: 'false',
}

function isAllowedValue(given: unknown, allowed: (typeof FLAG_TYPES)[keyof Capabilities]): boolean {
  switch (allowed) {
    case 'a string':
      return typeof given === 'string' && given !== ''
    case 'true or false':
      return typeof given === 'boolean'
    case 'false':
      return given === false
    case 'a number above 0':
      return typeof given === 'number' && given > 0
    case 'a list of strings':
      return Array.isArray(given) && given.every((one) => typeof one === 'string')
    default:
      return typeof given === 'string' && Object.hasOwn(allowed, given)
  }
}

function checkKeys(given: Record<string, unknown>, names: readonly string[], what: string): void {
  const unknownKey = Object.keys(given).find((name) => !names.includes(name))
  if (unknownKey === undefined) return
  const nearest = matchSimilarNames([unknownKey], names).get(unknownKey)
  const problem = `has the unknown ${what} "${unknownKey}"; `
  if (nearest === undefined) throw new InvalidProviderError(`${problem}the known ones are ${formatList(names)}`)
  throw new InvalidProviderError(`${problem}did you mean "${nearest}"`, '?')
}

function isAuthStyle(value: unknown): value is AuthStyle {
  return AUTH_STYLES.some((one) => one === value)
}

function isPort(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 65536
}

function formatList(names: readonly (string | boolean)[]): string {
  return names.map((name) => (typeof name === 'string' ? `"${name}"` : String(name))).join(', ')
}
