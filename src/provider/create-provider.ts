import { defined } from '../model/defined.ts'
import type { JsonObject } from '../model/json.ts'
import { createRedactor } from '../model/security/redactor.ts'
import type { WireId } from '../model/turn.ts'
import { WIRE_ENDPOINTS } from '../wire/endpoint.ts'
import { listUrlVariables } from './base-url.ts'
import { type Credential, type Environment, findProvider } from './endpoint.ts'
import { createFetchClient, type FetchFunction } from './http/fetch-client.ts'
import type { HttpClient } from './http/http-client.ts'
import { getSharedHttpClient } from './http/node-http-client.ts'
import { type RecordedExchange, recordExchanges } from './middleware/recording/record-exchanges.ts'
import type { Model } from './model.ts'
import { openEndpoint } from './open-endpoint.ts'
import { parseProvider } from './parse-provider.ts'
import type { Capabilities, ProviderDefinition } from './provider-definition.ts'
import { providers } from './providers.ts'
import { type CredentialSources, resolveModel } from './resolve-model.ts'

/** The options of `provider`. What is absent comes from the table of providers and from the environment. */
export interface ProviderSettings {
  /** The key, or a function that returns it for each request. */
  readonly apiKey?: string | (() => string | Promise<string>) | undefined
  /** The address of the API, as the vendor's own SDK takes it. */
  readonly baseUrl?: string
  /** Headers that are added to each request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Sends the requests, in place of our own HTTP client. */
  readonly fetch?: FetchFunction
  /** Fields that are added to the body of each request. */
  readonly extra?: JsonObject
  /** The API format of a provider that is not in the table; the default is `openai-chat`. */
  readonly wire?: WireId
  /** What differs from other endpoints of the same wire. */
  readonly capabilities?: Capabilities
  /** The cloud project that is billed, and its region, for Google Vertex AI. */
  readonly project?: string
  readonly location?: string
  /** Gets each request and response, without secrets: once when it was sent, and once when it ended. */
  readonly onExchange?: (exchange: RecordedExchange) => void
}

/** `findCredentials` is called for a model that gets no key from the options. */
export function createProvider(
  id: string,
  options: ProviderSettings,
  findCredentials: () => CredentialSources,
): (model: string) => Model {
  const definition = toDefinition(id, options)
  const env = toEnvironment(definition, options)
  const httpClient = createClient(options)
  return (model) => {
    const endpoint = resolveModel(
      `${definition.id}/${model}`,
      env,
      [definition],
      toSignIns(definition, options, findCredentials),
    )
    if ('problem' in endpoint) throw new Error(endpoint.problem)
    return openEndpoint(endpoint, { httpClient })
  }
}

function toDefinition(
  id: string,
  { apiKey, baseUrl, headers, extra, wire, capabilities }: ProviderSettings,
): ProviderDefinition {
  const base = findProvider(id, providers)
  if (!base && baseUrl === undefined)
    throw new Error(
      `There is no provider “${id}” in the table; pass its baseUrl, and its wire if it is not openai-chat.`,
    )
  const json = defined({ url: baseUrl, headers, extra, wire, profile: capabilities })
  const parsed = parseProvider(base?.id ?? id, json, base)
  if ('problem' in parsed) throw new Error(parsed.problem)
  const { provider: found } = parsed
  // A local server needs no key, but may have one.
  return apiKey !== undefined && found.auth === 'none' ? { ...found, auth: WIRE_ENDPOINTS[found.wire].auth } : found
}

/** What the options say takes precedence over variables. */
function toEnvironment(definition: ProviderDefinition, options: ProviderSettings): Environment {
  const { apiKey, baseUrl, project, location } = options
  const hidden = new Set([
    ...(apiKey === undefined ? [] : [...definition.keys, ...(definition.tokens ?? [])]),
    ...(baseUrl === undefined ? [] : listUrlVariables(definition)),
  ])
  const variables = Object.entries(process.env).filter(([name]) => !hidden.has(name))
  return {
    ...Object.fromEntries(variables),
    ...defined({ GOOGLE_CLOUD_PROJECT: project, GOOGLE_CLOUD_LOCATION: location }),
  }
}

function toSignIns(
  { auth }: ProviderDefinition,
  { apiKey }: ProviderSettings,
  findCredentials: () => CredentialSources,
): CredentialSources {
  if (apiKey === undefined) return findCredentials()
  const key: Credential = {
    style: auth,
    read: typeof apiKey === 'string' ? () => apiKey : apiKey,
  }
  return { stored: () => ({ key }), google: () => undefined }
}

function createClient({ fetch: send, onExchange }: ProviderSettings): () => HttpClient {
  const base = send ? () => createFetchClient(send) : getSharedHttpClient
  if (!onExchange) return base
  const recorded = recordExchanges(
    base(),
    createRedactor(),
    (exchange) => void ('request' in exchange && onExchange(exchange)),
    () => undefined,
  )
  return () => recorded
}
