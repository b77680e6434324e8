import { WIRE_ENDPOINTS } from '../../wire/endpoint.ts'
import { fetchEndpointJson, buildModelListUrl } from '../list-models.ts'
import { getBaseUrlSource, type Endpoint } from '../endpoint.ts'
import type { HttpClient } from '../http/http-client.ts'

type KeyCheckResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly isRefused: boolean; readonly reason: string }

/** Tests a key with a request that costs nothing: the list of models, or the path that the provider names. */
export async function checkKey(endpoint: Endpoint, httpClient: HttpClient): Promise<KeyCheckResult> {
  const { provider, wire, baseUrl } = endpoint
  const url = provider.check === undefined ? buildModelListUrl(endpoint) : new URL(`${baseUrl}${provider.check}`)
  const createFailure = (reason: string, isRefused = false): KeyCheckResult => ({ ok: false, isRefused, reason })
  if (!url) return createFailure(`${provider.id} has no request that can test a key`)
  const answer = await fetchEndpointJson(endpoint, url, httpClient)
  if ('kind' in answer) return createFailure(answer.message)
  const { status, json } = answer
  if (status === 401 || status === 403 || status === WIRE_ENDPOINTS[wire].badKeyStatus)
    return createFailure(`${provider.id} rejects it (${status})`, true)
  if (status >= 300) return createFailure(`${provider.id} answered ${status}`)
  // A network's sign-in page answers every key with 200.
  if (json !== undefined) return { ok: true }
  const who = `${provider.id} (${url.host})`
  return createFailure(`${who} answered with something other than JSON; check ${getBaseUrlSource(endpoint)}`)
}
