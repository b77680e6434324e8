import manifest from '../../../package.json' with { type: 'json' }
import type { Fault } from '../../model/fault.ts'
import { WIRE_ENDPOINTS } from '../../wire/endpoint.ts'
import type { Credential, Endpoint } from '../endpoint.ts'
import { getErrorMessage } from '../../model/error-message.ts'

export function buildRequestUrl(endpoint: Endpoint, stream: boolean): URL {
  const url = new URL(endpoint.baseUrl)
  const [path = '', query = ''] = buildRequestPath(endpoint, stream).split('?')
  const base = url.pathname.replace(/\/+$/, '')
  // Users write the base URL with and without the version, or paste the whole address.
  const version = base.slice(base.lastIndexOf('/') + 1)
  const repeatsVersion = version !== '' && path.startsWith(`/${version}/`)
  url.pathname = base.endsWith(path) ? base : repeatsVersion ? base + path.slice(version.length + 1) : base + path
  if (query !== '') url.search = url.search === '' ? query : `${url.search}&${query}`
  url.hash = ''
  return url
}

/** `secret` is the key, to be redacted everywhere else. */
export async function buildRequestHeaders(
  endpoint: Endpoint,
  stream: boolean,
): Promise<{ headers: HeaderMap; secret: string }> {
  const secret = (await endpoint.credential?.read()) ?? ''
  const headers = {
    'content-type': 'application/json',
    accept: stream ? 'text/event-stream, application/json' : 'application/json',
    // Compressed streams arrive in bursts, or not at all (T115).
    'accept-encoding': 'identity',
    'cache-control': 'no-transform',
    'user-agent': USER_AGENT,
    ...WIRE_ENDPOINTS[endpoint.wire].headers,
    ...endpoint.provider.headers,
    ...endpoint.headers,
    ...endpoint.credential?.headers,
    ...(secret !== '' && endpoint.credential && buildKeyHeader(endpoint.credential, secret)),
  }
  return { headers, secret }
}

/** A failed sign-in is a fault. */
export async function tryBuildRequestHeaders(
  endpoint: Endpoint,
  stream: boolean,
): Promise<Awaited<ReturnType<typeof buildRequestHeaders>> | Fault> {
  try {
    return await buildRequestHeaders(endpoint, stream)
  } catch (error) {
    const why = getErrorMessage(error)
    return { kind: 'auth', message: `The sign-in to ${endpoint.provider.id} failed: ${why}` }
  }
}

/** In the form of Google's own client. */
export const USER_AGENT = `dragoman/${manifest.version} (${process.platform}; ${process.arch})`

type HeaderMap = Readonly<Record<string, string>>

export function buildKeyHeader({ style }: Pick<Credential, 'style'>, key: string): HeaderMap {
  switch (style) {
    case 'google':
      return { 'x-goog-api-key': key }
    case 'anthropic':
      return { 'x-api-key': key }
    case 'bearer':
      return { authorization: `Bearer ${key}` }
    case 'none':
      return {}
    default:
      return style satisfies never
  }
}

function buildRequestPath({ wire, provider, model, credential, project, location }: Endpoint, stream: boolean): string {
  // An API key implies its project; a token does not.
  const scope =
    credential?.style === 'bearer' && project !== undefined ? { project, ...(location && { location }) } : {}
  return WIRE_ENDPOINTS[wire].buildPath({ model, stream, ...(provider.path === 'vertex' && { vertex: scope }) })
}
