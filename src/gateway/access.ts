import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { defined } from '../model/defined.ts'
import { isLoopback } from '../provider/index.ts'

/** Why a request is refused; or the key that the client sent besides the token of the gateway. */
export type Access = { readonly status: 401 | 403; readonly message: string } | { readonly clientKey?: string }

interface AccessOptions {
  readonly token: string
  /** The address that the server listens on. */
  readonly host: string
}

/** Checks that a request was made for this server: by its Host, its Origin and the token. */
export function checkAccess(request: Pick<IncomingMessage, 'headers' | 'url'>, options: AccessOptions): Access {
  const place = checkHostAndOrigin(request.headers, options.host)
  if (place) return place
  const credentials = listCredentials(request)
  if (!credentials.some((one) => isEqual(one, options.token)))
    return { status: 401, message: credentials.length === 0 ? NO_TOKEN_MESSAGE : WRONG_TOKEN_MESSAGE }
  return defined({ clientKey: credentials.find((one) => !isEqual(one, options.token)) })
}

/** A page of another site must not reach the server, also if its host name resolves to this machine. */
export function checkHostAndOrigin(
  { host = '', origin }: IncomingMessage['headers'],
  ownHost: string,
): { status: 403; message: string } | undefined {
  const name = parseHostName(host)
  const isOwn =
    name !== undefined && (isLoopback(name) || name === ownHost || (!isLoopback(ownHost) && isIP(name) !== 0))
  if (!isOwn) return { status: 403, message: `The Host header “${host.slice(0, 100)}” does not name this server.` }
  if (origin !== undefined && origin !== `http://${host}`)
    return { status: 403, message: `Requests from the origin ${origin.slice(0, 100)} are refused.` }
  return undefined
}

const NO_TOKEN_MESSAGE =
  'The token of the gateway is missing. Send it as a bearer token, as x-api-key, as x-goog-api-key or as x-dragoman-token.'
const WRONG_TOKEN_MESSAGE = 'The token is not that of this gateway.'

/** Headers with secrets of the client, which go nowhere else. */
export const CREDENTIAL_HEADERS: readonly string[] = [
  'authorization',
  'x-api-key',
  'x-goog-api-key',
  'api-key',
  'x-dragoman-token',
  'proxy-authorization',
  'cookie',
]

function listCredentials({ headers, url = '' }: Pick<IncomingMessage, 'headers' | 'url'>): string[] {
  const values = [
    headers['x-dragoman-token'],
    headers.authorization?.replace(/^Bearer\s+/i, ''),
    headers['x-api-key'],
    headers['x-goog-api-key'],
    headers['api-key'],
    new URLSearchParams(url.split('?', 2)[1] ?? '').get('key') ?? undefined,
  ]
  return values.flatMap((value) => (typeof value === 'string' && value !== '' ? [value] : []))
}

/** Takes the same time wherever they differ. */
function isEqual(one: string, other: string): boolean {
  return timingSafeEqual(hash(one), hash(other))
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** The name in a Host header, without port and brackets. */
function parseHostName(host: string): string | undefined {
  if (!/^[\w.:[\]-]+$/.test(host) || !URL.canParse(`http://${host}`)) return undefined
  return new URL(`http://${host}`).hostname.replace(/^\[|\]$/g, '')
}
