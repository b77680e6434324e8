import { isObject, type Json } from '../model/json.ts'
import type { Fault } from '../model/fault.ts'
import { WIRE_ENDPOINTS } from '../wire/endpoint.ts'
import { buildRequestUrl, tryBuildRequestHeaders } from './http/url-and-headers.ts'
import { readJsonBody } from './http/fetch-json.ts'
import type { Endpoint } from './endpoint.ts'
import type { HttpClient, HttpRequest } from './http/http-client.ts'
import { createConnectionFault } from './http/transport-faults.ts'
import { defined } from '../model/defined.ts'

/** A model in the list of an endpoint, with what the list says about it. */
export interface ListedModel {
  readonly id: string
  readonly window?: number
  readonly output?: number
}

export async function listModels(
  endpoint: Endpoint,
  httpClient: HttpClient,
  ms = REQUEST_TIMEOUT_MS,
): Promise<readonly ListedModel[] | { readonly problem: string }> {
  const url = buildModelListUrl(endpoint)
  if (!url) return { problem: `${endpoint.provider.id} has no list of models.` }
  const answer = await fetchEndpointJson(endpoint, url, httpClient, ms)
  if ('kind' in answer) return { problem: answer.message }
  const { status, json } = answer
  if (status >= 300)
    return { problem: `The list of models of ${endpoint.provider.id} is not available: it answered ${status}.` }
  return json === undefined
    ? { problem: `The list of models of ${endpoint.provider.id} is not JSON.` }
    : parseModelList(json as Json)
}

/** A request with the credential, a GET without `body`; `json` is undefined if the body is not JSON. */
export async function fetchEndpointJson(
  endpoint: Endpoint,
  url: URL,
  httpClient: HttpClient,
  ms = REQUEST_TIMEOUT_MS,
  body?: object,
): Promise<{ readonly status: number; readonly json: unknown } | Fault> {
  const headersOrFault = await tryBuildRequestHeaders(endpoint, false)
  if ('kind' in headersOrFault) return headersOrFault
  try {
    const { headers } = headersOrFault
    const request: HttpRequest = body
      ? { url, headers, body: [JSON.stringify(body)] }
      : { url, method: 'GET', headers, body: [] }
    const response = await httpClient(request, AbortSignal.timeout(ms))
    return { status: response.status, json: await readJsonBody(response.body, MAX_RESPONSE_BYTES) }
  } catch (error) {
    return createConnectionFault(error, endpoint, url)
  }
}

/** The longest lists have about one megabyte. */
const REQUEST_TIMEOUT_MS = 15_000
const MAX_RESPONSE_BYTES = 16_000_000

/** The list of models is next to the request path. */
export function buildModelListUrl(endpoint: Endpoint): URL | undefined {
  const { models } = WIRE_ENDPOINTS[endpoint.wire]
  if (!models) return undefined
  const url = buildRequestUrl(endpoint, false)
  const { modelList } = endpoint.provider
  if (modelList !== undefined) return new URL(modelList, `${endpoint.baseUrl}/`)
  url.pathname = url.pathname.replace(models.replaces, '/models')
  url.search = models.query
  return url
}

/** Each vendor uses other keys, and some lists contain limits. */
function parseModelList(json: Json): ListedModel[] {
  const list = isObject(json) ? (json['data'] ?? json['models'] ?? json['publisherModels'] ?? json['result']) : json
  if (!Array.isArray(list)) return []
  return list.flatMap((one) => {
    if (!isObject(one)) return []
    const id = typeof one['id'] === 'string' && UUID.test(one['id']) ? one['name'] : (one['id'] ?? one['name'])
    const methods = one['supportedGenerationMethods']
    if (typeof id !== 'string' || id === '' || NON_CHAT_MODEL.test(id)) return []
    if (Array.isArray(methods) && !methods.includes('generateContent')) return []
    const limits = { window: findFirstNumber(one, WINDOW_KEYS), output: findFirstNumber(one, OUTPUT_KEYS) }
    return [{ id: id.replace(/^(?:publishers\/google\/)?models\//, ''), ...defined(limits) }]
  })
}

/** Cloudflare's models have a number as well as a name. */
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const WINDOW_KEYS =
  'inputTokenLimit max_input_tokens context_length context_window max_model_len loaded_context_length'.split(' ')
const OUTPUT_KEYS = ['outputTokenLimit', 'max_tokens', 'max_completion_tokens']

const NON_CHAT_MODEL = /embed|rerank|whisper|tts|moderation|dall-e|transcribe/i

function findFirstNumber(one: Readonly<Record<string, unknown>>, keys: readonly string[]): number | undefined {
  const values = keys.map((key) => one[key])
  return values.find((value): value is number => typeof value === 'number' && value > 0)
}
