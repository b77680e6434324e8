import { defined } from '../model/defined.ts'
import type { JsonObject } from '../model/json.ts'
import type { WireId } from '../model/turn.ts'
import type { HttpClient } from '../provider/index.ts'
import { estimateUsage, forwardRequest } from '../provider/forwarding.ts'
import type { ClientResponse } from './client-response.ts'
import type { GatewayRequest } from './gateway-request.ts'
import { pickForwardedHeaders, removeKey } from './pass-through.ts'
import type { Upstream } from './upstream.ts'
import { replaceStringField } from '../wire/json/find-field.ts'

/** Counts the tokens of a request: by the vendor if it has the client's API, otherwise by an estimate. */
export async function countTokens(
  request: GatewayRequest,
  response: ClientResponse,
  { endpoint }: Upstream,
  httpClient: HttpClient,
): Promise<'pass-through' | 'local'> {
  const operation = endpoint.wire === request.wire.id ? OPERATIONS[endpoint.wire] : undefined
  if (operation !== undefined) {
    const isRenamed = request.model !== endpoint.model && endpoint.wire === 'anthropic'
    const body = isRenamed ? replaceStringField(request.text, 'model', endpoint.model) : request.text
    const forwarded = {
      stream: false,
      operation,
      query: removeKey(request.query),
      headers: pickForwardedHeaders(request.headers),
      body,
      ...defined({ key: request.clientKey }),
    }
    const counted = await forwardRequest(endpoint, forwarded, httpClient, request.signal)
    if ('status' in counted && 'body' in counted && counted.status < 300) {
      response.writeHead(counted.status, { 'content-type': counted.headers['content-type'] ?? 'application/json' })
      for await (const bytes of counted.body) await response.write(bytes)
      response.finish()
      return 'pass-through'
    }
  }
  const { input } = estimateUsage(request.wire.readRequest(request.body).request)
  response.sendJson(200, toCount(request.wire.id, input))
  return 'local'
}

const OPERATIONS: Readonly<Partial<Record<WireId, string>>> = {
  anthropic: '/count_tokens',
  gemini: ':countTokens',
}

function toCount(wire: WireId, tokens: number): JsonObject {
  return wire === 'anthropic' ? { input_tokens: tokens } : { totalTokens: tokens }
}
