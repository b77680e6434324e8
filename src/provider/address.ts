import manifest from '../../package.json' with { type: 'json' }
import type { Fault } from '../model/fault.ts'
import { ENDPOINTS } from '../wire/endpoint.ts'
import type { Credential, Target } from './target.ts'

/** The address of a request: the base URL, and below it the place where the wire is spoken. */
export function addressOf(target: Target, stream: boolean): URL {
  const url = new URL(target.baseUrl)
  const [path = '', query = ''] = pathOf(target, stream).split('?')
  const base = url.pathname.replace(/\/+$/, '')
  // People write the base with and without the version, or paste the whole address.
  const version = base.slice(base.lastIndexOf('/') + 1)
  const doubled = version !== '' && path.startsWith(`/${version}/`)
  url.pathname = base.endsWith(path) ? base : doubled ? base + path.slice(version.length + 1) : base + path
  if (query !== '') url.search = url.search === '' ? query : `${url.search}&${query}`
  url.hash = ''
  return url
}

/** The headers of a request, with the key; and the key, so that it can be kept out of everything else. */
export async function headersOf(target: Target, stream: boolean): Promise<{ headers: Headers; secret: string }> {
  const secret = (await target.key?.read()) ?? ''
  const headers = {
    'content-type': 'application/json',
    accept: stream ? 'text/event-stream, application/json' : 'application/json',
    // Compressed streams come in bursts, or not at all (T115).
    'accept-encoding': 'identity',
    'cache-control': 'no-transform',
    'user-agent': USER_AGENT,
    ...ENDPOINTS[target.wire].headers,
    ...target.row.headers,
    ...target.headers,
    ...target.key?.headers,
    ...(secret !== '' && target.key && keyHeader(target.key, secret)),
  }
  return { headers, secret }
}

/** The same; a sign-in that fails is a fault. */
export async function sign(target: Target, stream: boolean): Promise<Awaited<ReturnType<typeof headersOf>> | Fault> {
  try {
    return await headersOf(target, stream)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return { kind: 'auth', message: `The sign-in to ${target.row.id} failed: ${why}` }
  }
}

/** Who we are, in the form in which Google's own client says it. */
export const USER_AGENT = `dragoman/${manifest.version} (${process.platform}; ${process.arch})`

type Headers = Readonly<Record<string, string>>

/** The header that carries a key. */
export function keyHeader({ style }: Pick<Credential, 'style'>, key: string): Headers {
  if (style === 'google') return { 'x-goog-api-key': key }
  if (style === 'anthropic') return { 'x-api-key': key }
  return style === 'bearer' ? { authorization: `Bearer ${key}` } : {}
}

function pathOf({ wire, row, model, key, project, location }: Target, stream: boolean): string {
  // An API key stands for its project; a token must say which one it is about.
  const scope = key?.style === 'bearer' && project !== undefined ? { project, ...(location && { location }) } : {}
  return ENDPOINTS[wire].path({ model, stream, ...(row.path === 'vertex' && { vertex: scope }) })
}
