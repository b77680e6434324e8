import { matchSimilarNames } from '../schema/similar-names.ts'
import { WIRE_ENDPOINTS } from '../wire/endpoint.ts'
import { mergeCapabilities, type ModelCapabilities, resolveCapabilities } from './resolve-capabilities.ts'
import type { Capabilities, ProviderDefinition } from './provider-definition.ts'
import { providers as table } from './providers.ts'
import {
  getBaseUrlVariable,
  type Credential,
  type Environment,
  type GrantedCredential,
  hasUrlPassword,
  isLoopback,
  HEADER_VALUE,
  type Endpoint,
  describeSignIn,
} from './endpoint.ts'
import { defined } from '../model/defined.ts'

/** Why a name leads nowhere: a sentence for the person, and the exit code; 41 is for signing in, 42 for the rest. */
export interface ResolveError {
  readonly problem: string
  readonly code: 41 | 42
}

/** Credentials besides those of the environment; nobody looks for them as long as a variable is set. */
export interface CredentialSources {
  /** What the person signed in with. */
  readonly stored: (definition: ProviderDefinition) => GrantedCredential | undefined
  /** What this machine is signed in to Google with. */
  readonly google: () => GrantedCredential | ResolveError | undefined
}

/** What an examination has found out about a model at an address, where one was held. */
export type FindSavedCapabilities = (
  definition: ProviderDefinition,
  model: string,
  baseUrl: string,
) => Capabilities | undefined

const NO_CREDENTIAL_SOURCES: CredentialSources = { stored: () => undefined, google: () => undefined }

/** Finds what a name like `gemini/gemini-2.5-pro` means here: the vendor, the model, the key and the address. */
export function resolveModel(
  name: string,
  env: Environment,
  definitions: readonly ProviderDefinition[] = table,
  signIns: CredentialSources = NO_CREDENTIAL_SOURCES,
  findSaved: FindSavedCapabilities = () => undefined,
): Endpoint | ResolveError {
  const slash = name.indexOf('/')
  const id = (slash < 0 ? name : name.slice(0, slash)).toLowerCase()
  const definition = definitions.find((one) => one.id === id)
  if (!definition) return createUnknownProviderError(name, id, definitions)
  const model = slash < 0 ? (definition.model ?? '') : name.slice(slash + 1)
  if (model === '') return { problem: `Which model of ${id}? Name it as ${id}/<model>.`, code: 42 }
  return resolveEndpoint(definition, model, env, { signIns, learnt: findSaved })
}

/** The model to use when none is named: that of the first row whose key is in the environment, or was stored. */
export function findDefaultModel(
  env: Environment,
  definitions: readonly ProviderDefinition[] = table,
  signIns: CredentialSources = NO_CREDENTIAL_SOURCES,
): string | undefined {
  // Google's own switch between its two doors.
  const vertex = /^(?:true|1)$/i.test(env['GOOGLE_GENAI_USE_VERTEXAI'] ?? '')
  const ordered = vertex
    ? [...definitions].sort((a, b) => Number(b.path === 'vertex') - Number(a.path === 'vertex'))
    : definitions
  const remote = ordered.filter((one) => one.model !== undefined && one.port === undefined)
  const definition =
    remote.find((one) => readKey(one, env) !== undefined) ??
    remote.find((one) => (vertex && one.path === 'vertex' ? signIns.google() : undefined) ?? signIns.stored(one))
  return definition && `${definition.id}/${definition.model}`
}

/** Asks a URL for JSON and gives up after so many milliseconds; undefined if nothing sensible came. */
export type ProbeJson = (url: string, ms: number) => Promise<unknown>

/** How long a server on this machine may take to say that it is there, at its usual and at a configured address. */
const PROBE_TIMEOUT_MS = 150
const CONFIGURED_PROBE_TIMEOUT_MS = 2000

/**
 * Looks for a model server on this machine, at the usual or the configured addresses, all at once; the first of the table
 * that has a model wins.
 */
export async function findLocalModel(
  probe: ProbeJson,
  definitions: readonly ProviderDefinition[] = table,
  env: Environment = {},
): Promise<string | undefined> {
  const local = definitions.filter(
    (definition) => definition.port !== undefined && mayProbeLocalServer(definition, env),
  )
  const found = await Promise.all(
    local.map(async (definition) => {
      const base = resolveBaseUrl(definition, env, '')
      const ms = isBaseUrlConfigured(definition, env) ? CONFIGURED_PROBE_TIMEOUT_MS : PROBE_TIMEOUT_MS
      return typeof base === 'string' ? probe(`${base}/models`, ms).catch(() => undefined) : undefined
    }),
  )
  for (const [at, definition] of local.entries()) {
    const model = getFirstChatModel(found[at])
    if (model !== undefined) return `${definition.id}/${model}`
  }
  return undefined
}

/**
 * May a server on this machine be asked which models it has? `DRAGOMAN_LOCAL_SERVERS=off` means that the usual ports are
 * left alone; a server whose address the person configured is asked all the same.
 */
export function mayProbeLocalServer(definition: ProviderDefinition, env: Environment): boolean {
  const isOff = /^(?:off|0|false|no)$/i.test(env['DRAGOMAN_LOCAL_SERVERS']?.trim() ?? '')
  return !isOff || isBaseUrlConfigured(definition, env)
}

/** Did the person set the address of a provider, in a variable or in the settings? */
export function isBaseUrlConfigured(definition: ProviderDefinition, env: Environment): boolean {
  return !table.includes(definition) || findUrlVariable(definition, env) !== undefined
}

function getFirstChatModel(answer: unknown): string | undefined {
  const data = (answer as { data?: unknown } | undefined)?.data
  if (!Array.isArray(data)) return undefined
  const ids = data
    .map((one) => (one as { id?: unknown } | null)?.id)
    .filter((id) => typeof id === 'string' && id !== '')
  return ids.find((id) => !/embed|rerank|whisper|tts/i.test(String(id))) as string | undefined
}

function resolveEndpoint(
  definition: ProviderDefinition,
  model: string,
  env: Environment,
  { signIns, learnt: findSaved }: { signIns: CredentialSources; learnt: FindSavedCapabilities },
): Endpoint | ResolveError {
  const location = readVariable(env, 'GOOGLE_CLOUD_LOCATION') ?? 'global'
  const ofSettings = table.includes(definition) ? undefined : `providers.${definition.id}.url of the settings`
  const addressFrom = findUrlVariable(definition, env) ?? ofSettings
  const base = resolveBaseUrl(definition, env, location)
  if (typeof base !== 'string') return base
  const named = readKey(definition, env)
  const granted = named || definition.auth === 'none' ? undefined : findSignIn(definition, signIns)
  const key = named ?? (granted && 'key' in granted ? granted.key : granted)
  if (key && 'problem' in key) return key
  if (!key && definition.auth !== 'none' && definition.port === undefined && !isLoopback(new URL(base).hostname))
    return { problem: `${definition.id} needs a key: ${describeSignIn(definition)}.`, code: 41 }
  const defaultValue = granted && 'key' in granted ? granted.project : undefined
  const project =
    readVariable(env, 'GOOGLE_CLOUD_PROJECT') ?? readVariable(env, 'GOOGLE_CLOUD_PROJECT_ID') ?? defaultValue
  // An API key names its own project; a person's token does not.
  if (definition.path === 'vertex' && key?.style === 'bearer' && project === undefined)
    return { problem: `${definition.id} needs to know who pays: set GOOGLE_CLOUD_PROJECT.`, code: 42 }
  return {
    provider: definition,
    model,
    wire: definition.wire,
    profile: applySavedCapabilities(resolveCapabilities(definition, model), findSaved(definition, model, base)),
    baseUrl: base,
    ...defined({ baseUrlSource: addressFrom, credential: key, project }),
    ...(definition.path === 'vertex' && { location }),
    ...getInstallationHeaders(definition, env),
  }
}

/** What was found out about an endpoint comes before what is known of its kind. */
function applySavedCapabilities(known: ModelCapabilities, found: Capabilities | undefined): ModelCapabilities {
  return found ? { ...mergeCapabilities(known, found), signer: known.signer } : known
}

function findSignIn(
  definition: ProviderDefinition,
  { stored, google }: CredentialSources,
): GrantedCredential | ResolveError | undefined {
  return stored(definition) ?? (definition.signIn === 'google' ? google() : undefined)
}

/** The id of an installation, which Google's own client sends with its statistics: only if the person sets one. */
function getInstallationHeaders(definition: ProviderDefinition, env: Environment): Pick<Endpoint, 'headers'> {
  const id = readVariable(env, 'DRAGOMAN_INSTALLATION_ID')
  const header = WIRE_ENDPOINTS[definition.wire].installationHeader
  return header !== undefined && id !== undefined && HEADER_VALUE.test(id) ? { headers: { [header]: id } } : {}
}

function resolveBaseUrl(definition: ProviderDefinition, env: Environment, location: string): string | ResolveError {
  const variable = findUrlVariable(definition, env)
  // The global endpoint has no place in its name.
  const defaultValue = definition.url.replace('{location}-', location === 'global' ? '' : `${location}-`)
  const url = variable === undefined ? defaultValue : (readVariable(env, variable) ?? '')
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    return { problem: `${variable ?? `The address of ${definition.id}`} is no http(s) URL.`, code: 42 }
  if (hasUrlPassword(url))
    return { problem: `${variable} holds a password, which is not sent: leave it out.`, code: 42 }
  return url.replace(/\/+$/, '')
}

/** The variable that names another address for a provider, if one is set. */
function findUrlVariable(definition: ProviderDefinition, env: Environment): string | undefined {
  return [getBaseUrlVariable(definition.id), ...(definition.urls ?? [])].find(
    (name) => readVariable(env, name) !== undefined,
  )
}

function readKey(definition: ProviderDefinition, env: Environment): Credential | ResolveError | undefined {
  const bearer = definition.tokens ?? []
  for (const variable of [...definition.keys, ...bearer]) {
    const value = readVariable(env, variable)
    if (value === undefined) continue
    if (!HEADER_VALUE.test(value))
      return { problem: `The key in ${variable} holds characters that no key has.`, code: 41 }
    return { style: bearer.includes(variable) ? 'bearer' : definition.auth, read: () => value }
  }
  return undefined
}

/** A variable that is empty is not set. */
function readVariable(env: Environment, name: string): string | undefined {
  const value = env[name]?.trim()
  return value === '' ? undefined : value
}

/** A name that no row has: misspelt, or a model without its vendor. */
function createUnknownProviderError(
  name: string,
  id: string,
  definitions: readonly ProviderDefinition[],
): ResolveError {
  const ids = definitions.map((definition) => definition.id)
  const nearestId = matchSimilarNames([id], ids).get(id)
  const model = name.slice(name.lastIndexOf('/') + 1)
  const providerOfModel = PROVIDER_BY_MODEL_NAME.find(
    ([pattern, maker]) => pattern.test(model) && ids.includes(maker),
  )?.[1]
  const suggestion =
    nearestId === undefined ? providerOfModel && `${providerOfModel}/${model}` : `${nearestId}${name.slice(id.length)}`
  const hint =
    suggestion === undefined
      ? `A model is named as provider/model; there are ${ids.join(', ')}.`
      : `Did you mean ${suggestion}?`
  return { problem: `There is no provider “${id}”. ${hint}`, code: 42 }
}

/** Who makes what: for names without a vendor. */
const PROVIDER_BY_MODEL_NAME: readonly (readonly [pattern: RegExp, row: string])[] = [
  [/^gem(?:ini|ma)/i, 'gemini'],
  [/^claude/i, 'anthropic'],
  [/^(?:chatgpt|gpt|o\d)/i, 'openai'],
  [/^grok/i, 'xai'],
  [/^(?:mistral|ministral|magistral|codestral|devstral)/i, 'mistral'],
  [/^kimi/i, 'moonshot'],
  [/^deepseek/i, 'deepseek'],
  [/^glm/i, 'zai'],
  [/^minimax/i, 'minimax'],
  [/^qwen/i, 'dashscope'],
]
