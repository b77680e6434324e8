import type { Fault } from '../model/fault.ts'
import { WIRE_ENDPOINTS } from '../wire/endpoint.ts'
import type { Endpoint } from './endpoint.ts'
import type { HttpClient, HttpRequest, HttpResponse } from './http/http-client.ts'
import { createConnectionFault, createRedirectFault } from './http/transport-faults.ts'
import { buildKeyHeader, buildRequestUrl } from './http/url-and-headers.ts'
import { getErrorMessage } from '../model/error-message.ts'

/** A request that another client wrote in the API of the endpoint. */
export interface ForwardRequest {
  readonly stream: boolean
  /** What follows the path of the endpoint, or the method that replaces that of Gemini: `/count_tokens`, `:countTokens`. */
  readonly operation?: string
  /** The query of the client, without its key. */
  readonly query: string
  /** Those of the client that say something to the vendor, with lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The client's own key, in place of ours. */
  readonly key?: string
}

/** Sends a request of another client to the endpoint as it is; only the address and the key are ours. */
export async function forwardRequest(
  endpoint: Endpoint,
  request: ForwardRequest,
  httpClient: HttpClient,
  signal: AbortSignal,
): Promise<HttpResponse | Fault> {
  const url = buildForwardUrl(endpoint, request)
  try {
    const send = async (): Promise<HttpResponse> => httpClient(await toHttpRequest(endpoint, request, url), signal)
    let response = await send()
    const renew = request.key === undefined ? endpoint.credential?.renew : undefined
    if (response.status === 401 && renew) {
      renew()
      response = await send()
    }
    if (response.status >= 300 && response.status < 400)
      return createRedirectFault(response.status, response.headers['location'], endpoint, url)
    return response
  } catch (error) {
    if (error instanceof SignInError) return { kind: 'auth', message: error.message }
    return createConnectionFault(error, endpoint, url)
  }
}

class SignInError extends Error {}

function buildForwardUrl(endpoint: Endpoint, { stream, operation, query }: ForwardRequest): URL {
  const url = buildRequestUrl(endpoint, stream)
  if (operation?.startsWith(':')) {
    url.pathname = url.pathname.replace(/:\w+$/, operation)
    url.search = ''
  } else if (operation !== undefined) url.pathname += operation
  const more = new URLSearchParams(query)
  for (const name of new Set(more.keys())) url.searchParams.delete(name)
  for (const [name, value] of more) url.searchParams.append(name, value)
  // A client that wants an array gets one.
  if (endpoint.wire === 'gemini' && !more.has('alt')) url.searchParams.delete('alt')
  return url
}

async function toHttpRequest(endpoint: Endpoint, request: ForwardRequest, url: URL): Promise<HttpRequest> {
  const { credential, provider, wire } = endpoint
  let key = request.key
  try {
    key ??= await credential?.read()
  } catch (error) {
    throw new SignInError(`The sign-in to ${provider.id} failed: ${getErrorMessage(error)}`)
  }
  const style = request.key === undefined ? (credential?.style ?? provider.auth) : provider.auth
  return {
    url,
    headers: {
      ...WIRE_ENDPOINTS[wire].headers,
      ...provider.headers,
      ...request.headers,
      // Compressed streams arrive in bursts, or not at all (T115).
      'accept-encoding': 'identity',
      ...endpoint.headers,
      ...(request.key === undefined && credential?.headers),
      ...(key !== undefined && key !== '' && buildKeyHeader({ style }, key)),
    },
    body: [request.body],
    bodyBytes: Buffer.byteLength(request.body),
  }
}
