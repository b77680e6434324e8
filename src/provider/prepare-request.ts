import type { Warning } from '../model/event.ts'
import type { Fault } from '../model/fault.ts'
import type { Profile } from '../model/profile.ts'
import type { ModelRequest } from '../model/request.ts'
import type { ModelOrigin } from '../model/turn.ts'
import { defined } from '../model/defined.ts'
import { lazy } from '../model/lazy.ts'
import { tryOrUndefined } from '../model/try-or-undefined.ts'
import { createFramer } from '../wire/framing/framer.ts'
import { mergeHeaderLists } from '../wire/header-lists.ts'
import { collectDeclaredTools } from '../wire/late-tools.ts'
import type { DecodeContext, Wire } from '../wire/wire.ts'
import { loadWire } from '../wire/wires.ts'
import type { Endpoint } from './endpoint.ts'
import type { HttpRequest } from './http/http-client.ts'
import { addExtraFields, countBodyBytes, type RequestBodyWriter } from './http/request-body.ts'
import { buildRequestUrl, tryBuildRequestHeaders } from './http/url-and-headers.ts'
import type { RequestOptions } from './model.ts'
import { completeProfile } from './resolve-capabilities.ts'

export type EndpointCodec = Awaited<ReturnType<typeof loadEndpointCodec>>

/** Loaded once per model, so that a body writer can continue from what it wrote before. */
export async function loadEndpointCodec(endpoint: Endpoint, start: (wire: Wire) => RequestBodyWriter) {
  const wire = await loadWire(endpoint.wire)
  const profile = completeProfile(wire.profile, endpoint.profile)
  return { wire, profile, writeBody: start(wire), loadDecoder: lazy(() => useDecoder(wire, profile)) }
}

/**
 * Code that reads responses is loaded when it is first used. This uses it while the model works, before there is a response. If that fails,
 * so will the use for the response, and that is reported.
 */
function useDecoder(wire: Wire, profile: Profile): void {
  tryOrUndefined(() => {
    wire.startDecoding({ turnKey: '', profile, tools: [] })
    createFramer(undefined)
  })
}

export interface PreparedRequest {
  readonly warnings: readonly Warning[]
  readonly httpRequest: HttpRequest
  /** How to read the response. */
  readonly reading: DecodeContext
  readonly isStreamed: boolean
  /** The key, to be redacted everywhere else. */
  readonly secret: string
}

/** The HTTP request for a model request; only a fault if signing in failed. */
export async function prepareRequest(
  endpoint: Endpoint,
  { profile, writeBody, loadDecoder }: EndpointCodec,
  request: ModelRequest,
  options: RequestOptions,
): Promise<PreparedRequest | { readonly warnings: readonly Warning[]; readonly fault: Fault }> {
  const endpointRequest = toEndpointRequest(request, endpoint)
  const isStreamed = endpointRequest.params?.stream ?? true
  const { pieces, warnings, headers, prefixHashes } = writeBody(endpointRequest, profile)
  const headersOrFault = await tryBuildRequestHeaders(endpoint, isStreamed)
  if ('kind' in headersOrFault) return { warnings, fault: headersOrFault }
  const body = addExtraFields(pieces, endpoint.provider.extra ?? {}, profile)
  const bytes = countBodyBytes(body)
  const onSent = lazy(() => {
    options.onSent?.({ origin: getOrigin(endpoint), bytes, ...defined({ prefixHashes }) })
    loadDecoder()
  })
  return {
    warnings,
    httpRequest: {
      url: buildRequestUrl(endpoint, isStreamed),
      headers: mergeHeaderLists(headersOrFault.headers, headers),
      body,
      bodyBytes: bytes,
      onSent,
    },
    reading: {
      turnKey: options.turnKey,
      profile,
      tools: collectDeclaredTools(request).known,
      ...defined({ toolChoice: request.toolChoice, output: request.output }),
    },
    isStreamed,
    secret: headersOrFault.secret,
  }
}

export function getOrigin({ provider, wire, model }: Endpoint): ModelOrigin {
  return { provider: provider.id, wire, model }
}

/** A model is for one endpoint, whatever the request says. */
function toEndpointRequest(request: ModelRequest, { model, project, profile }: Endpoint): ModelRequest {
  const whole = profile.stream === false ? { params: { ...request.params, stream: false } } : {}
  return { ...request, model, ...whole, ...(project !== undefined && { project: request.project ?? project }) }
}
