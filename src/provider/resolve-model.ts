import { matchSimilarNames } from '../schema/similar-names.ts'
import { WIRE_ENDPOINTS } from '../wire/endpoint.ts'
import { mergeCapabilities, type ModelCapabilities, resolveCapabilities } from './resolve-capabilities.ts'
import type { Capabilities, ProviderDefinition } from './provider-definition.ts'
import { providers as table } from './providers.ts'
import { applyWireVariable } from './provider-on-wire.ts'
import type { Credential, Endpoint, Environment, GrantedCredential } from './endpoint.ts'
import { HEADER_VALUE_PATTERN, describeSignIn, findProvider, isLoopback } from './endpoint.ts'
import { findUrlVariable, readVariable, resolveBaseUrl } from './base-url.ts'
import { defined } from '../model/defined.ts'

/** A message for the user and the exit code: 41 for sign-in, 42 for everything else. */
export interface ModelResolveError {
  readonly problem: string
  readonly code: 41 | 42
}

/** Credentials that are used if no environment variable is set. */
export interface CredentialSources {
  readonly stored: (definition: ProviderDefinition) => GrantedCredential | ModelResolveError | undefined
  readonly google: () => GrantedCredential | ModelResolveError | undefined
}

/** Flags that `dragoman doctor` found for a model at an address. */
export type SavedCapabilitiesLookup = (
  definition: ProviderDefinition,
  model: string,
  baseUrl: string,
) => Capabilities | undefined

const NO_CREDENTIAL_SOURCES: CredentialSources = { stored: () => undefined, google: () => undefined }

/** Resolves a name like `gemini/gemini-2.5-pro` to provider, model, credential and address. */
export function resolveModel(
  name: string,
  env: Environment,
  definitions: readonly ProviderDefinition[] = table,
  signIns: CredentialSources = NO_CREDENTIAL_SOURCES,
  findSaved: SavedCapabilitiesLookup = () => undefined,
): Endpoint | ModelResolveError {
  const slash = name.indexOf('/')
  const id = (slash < 0 ? name : name.slice(0, slash)).toLowerCase()
  const found = findProvider(id, definitions)
  if (!found) return createUnknownProviderError(name, id, definitions)
  const definition = applyWireVariable(found, env)
  if ('problem' in definition) return definition
  const model = slash < 0 ? (definition.model ?? '') : name.slice(slash + 1)
  if (model === '')
    return { problem: `Which model of ${definition.id}? Name it as ${definition.id}/<model>.`, code: 42 }
  return resolveEndpoint(definition, model, env, { signIns, learnt: findSaved })
}

/** The default model of the first provider with a key in the environment, or a stored credential. */
export function findDefaultModel(
  env: Environment,
  definitions: readonly ProviderDefinition[] = table,
  signIns: CredentialSources = NO_CREDENTIAL_SOURCES,
): string | undefined {
  // Google's own variable to choose between its two endpoints.
  const vertex = /^(?:true|1)$/i.test(env['GOOGLE_GENAI_USE_VERTEXAI'] ?? '')
  const ordered = vertex
    ? [...definitions].sort((a, b) => Number(b.path === 'vertex') - Number(a.path === 'vertex'))
    : definitions
  const remote = ordered.filter((one) => one.model !== undefined && one.port === undefined)
  const definition =
    remote.find((one) => !one.labels?.isSharedKey && readKey(one, env) !== undefined) ??
    remote.find((one) => (vertex && one.path === 'vertex' ? signIns.google() : undefined) ?? signIns.stored(one))
  return definition && `${definition.id}/${definition.model}`
}

/** At the usual port, and at an address that the user configured. */
const PROBE_TIMEOUT_MS = 150
const CONFIGURED_PROBE_TIMEOUT_MS = 2000

/** Asks all local servers at once; the first of the table with a model is chosen. */
export async function findLocalModel(
  probe: (url: string, ms: number) => Promise<unknown>,
  definitions: readonly ProviderDefinition[] = table,
  env: Environment = {},
): Promise<string | undefined> {
  const local = definitions.filter(
    (definition) => definition.port !== undefined && mayProbeLocalServer(definition, env),
  )
  const found = await Promise.all(
    local.map(async (definition) => {
      const base = resolveBaseUrl(definition, env)
      const ms = isBaseUrlConfigured(definition, env) ? CONFIGURED_PROBE_TIMEOUT_MS : PROBE_TIMEOUT_MS
      return 'url' in base ? probe(`${base.url}/models`, ms).catch(() => undefined) : undefined
    }),
  )
  for (const [at, definition] of local.entries()) {
    const model = getFirstChatModel(found[at])
    if (model !== undefined) return `${definition.id}/${model}`
  }
  return undefined
}

/** `DRAGOMAN_LOCAL_SERVERS=off` leaves the usual ports alone; a server with a configured address is asked anyway. */
export function mayProbeLocalServer(definition: ProviderDefinition, env: Environment): boolean {
  const isOff = /^(?:off|0|false|no)$/i.test(env['DRAGOMAN_LOCAL_SERVERS']?.trim() ?? '')
  return !isOff || isBaseUrlConfigured(definition, env)
}

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
  { signIns, learnt: findSaved }: { signIns: CredentialSources; learnt: SavedCapabilitiesLookup },
): Endpoint | ModelResolveError {
  const location = readVariable(env, 'GOOGLE_CLOUD_LOCATION') ?? 'global'
  const ofSettings = table.includes(definition) ? undefined : `providers.${definition.id}.url of the settings`
  const address = resolveBaseUrl(definition, env, location)
  if ('problem' in address) return { ...address, code: 42 }
  const { url: base, variable: addressFrom = ofSettings } = address
  const named = readKey(definition, env)
  const granted = named || definition.auth === 'none' ? undefined : findSignIn(definition, signIns)
  const key = named ?? (granted && 'key' in granted ? granted.key : granted)
  if (key && 'problem' in key) return key
  if (!key && definition.auth !== 'none' && definition.port === undefined && !isLoopback(new URL(base).hostname))
    return { problem: `${definition.id} needs a key: ${describeSignIn(definition)}.`, code: 41 }
  const defaultValue = granted && 'key' in granted ? granted.project : undefined
  const project =
    readVariable(env, 'GOOGLE_CLOUD_PROJECT') ?? readVariable(env, 'GOOGLE_CLOUD_PROJECT_ID') ?? defaultValue
  // An API key implies its project; a user's token does not.
  if (definition.path === 'vertex' && key?.style === 'bearer' && project === undefined)
    return { problem: `${definition.id} needs a project for billing: set GOOGLE_CLOUD_PROJECT.`, code: 42 }
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

/** What was found for this endpoint overrides what is known about its kind. */
function applySavedCapabilities(known: ModelCapabilities, found: Capabilities | undefined): ModelCapabilities {
  return found ? { ...mergeCapabilities(known, found), signer: known.signer } : known
}

function findSignIn(
  definition: ProviderDefinition,
  { stored, google }: CredentialSources,
): GrantedCredential | ModelResolveError | undefined {
  return stored(definition) ?? (definition.signIn === 'google' ? google() : undefined)
}

/** Google's own client sends an id of the installation; it is only sent if the user sets one. */
function getInstallationHeaders(definition: ProviderDefinition, env: Environment): Pick<Endpoint, 'headers'> {
  const id = readVariable(env, 'DRAGOMAN_INSTALLATION_ID')
  const header = WIRE_ENDPOINTS[definition.wire].installationHeader
  return header !== undefined && id !== undefined && HEADER_VALUE_PATTERN.test(id) ? { headers: { [header]: id } } : {}
}

function readKey(definition: ProviderDefinition, env: Environment): Credential | ModelResolveError | undefined {
  const bearer = definition.tokens ?? []
  for (const variable of [...definition.keys, ...bearer]) {
    const value = readVariable(env, variable)
    if (value === undefined) continue
    if (!HEADER_VALUE_PATTERN.test(value))
      return { problem: `The key in ${variable} contains invalid characters.`, code: 41 }
    return { style: bearer.includes(variable) ? 'bearer' : definition.auth, read: () => value }
  }
  return undefined
}

/** The name is misspelt, or a model without its provider. */
function createUnknownProviderError(
  name: string,
  id: string,
  definitions: readonly ProviderDefinition[],
): ModelResolveError {
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
      ? `Name a model as provider/model, such as ${describeExample(name, definitions)}; dragoman models lists them.`
      : `Did you mean ${suggestion}?`
  return { problem: `There is no provider “${id}”. ${hint}`, code: 42 }
}

/** For the short names of Claude Code and Gemini CLI, a model of that vendor. */
function describeExample(name: string, definitions: readonly ProviderDefinition[]): string {
  const vendor = /^(?:sonnet|opus|haiku|fable|best|default|opusplan)\b/i.test(name) ? 'anthropic' : 'gemini'
  const model = definitions.find(({ id }) => id === vendor)?.model
  return model === undefined ? 'gemini/gemini-2.5-pro' : `${vendor}/${model}`
}

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
