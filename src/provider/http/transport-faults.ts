import type { Fault } from '../../model/fault.ts'
import { getPageTitle } from './explain-vendor-fault.ts'
import { getBaseUrlSource, type Endpoint } from '../endpoint.ts'
import type { Timeouts } from './timeouts.ts'

export function createConnectionFault(error: unknown, endpoint: Endpoint, url: URL): Fault {
  const { code = '', message, proxy } = getErrorDetails(error)
  const name = endpoint.provider.id
  const serverLabel = `${name} (${url.host})`
  const source = getBaseUrlSource(endpoint)
  const fault = (sentence: string, kind: Fault['kind'] = 'transport'): Fault => ({
    kind,
    message: sentence,
    ...(code !== '' && { code }),
  })
  if (proxy !== undefined) return createProxyFault(code, message, proxy)
  if (CERTIFICATE_ERROR_CODE.test(code)) {
    const advice = "If it is signed by a proxy, set NODE_EXTRA_CA_CERTS to the proxy's certificate."
    return fault(`The certificate of ${serverLabel} is not trusted (${code}). ${advice}`, 'invalid')
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return fault(
      `The host name of ${serverLabel} could not be resolved. Check the network, or the address in ${source}.`,
    )
  if (code === 'ECONNREFUSED' && endpoint.provider.port !== undefined)
    return fault(`Nothing answers at ${url.host}. Start the ${name} server, or set ${source}.`)
  if (code === 'ECONNREFUSED')
    return fault(`${serverLabel} refuses the connection. Try again later, or check the address in ${source}.`)
  if (/^(?:ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL)$/.test(code))
    return fault(`${serverLabel} cannot be reached. Check the network and the proxy.`)
  if (/^(?:HPE_|Z_|ERR__ERROR_|ERR_PADDING)/.test(code))
    return fault(`${serverLabel} sent an invalid HTTP response (${code}). Try again, or check the address.`, 'decode')
  if (/^ERR_(?:INVALID|UNESCAPED|HTTP_INVALID)/.test(code))
    return fault(`The request to ${serverLabel} could not be sent: ${message}`, 'invalid')
  return fault(`The connection to ${serverLabel} broke off${code === '' ? '' : ` (${code})`}. Try again.`)
}

export function createTimeoutFault(which: keyof Timeouts, limits: Timeouts, endpoint: Endpoint): Fault {
  const time = formatDuration(limits[which])
  const what = {
    firstByte: `did not begin to answer within ${time}`,
    idle: `went silent for ${time}, though the connection stayed open`,
    quiet: `said nothing for ${time}, though it kept the connection open`,
    lifetime: `did not finish its response within ${time}`,
  }
  const waited = which === 'quiet' ? limits.quiet / 2 : limits[which]
  return { kind: 'transport', code: 'timeout', message: `${endpoint.provider.id} ${what[which]}. Try again.`, waited }
}

/** A response that cannot be decoded, and could not be if it came again (T112). */
export function findUnusableResponseFault(
  text: string,
  deep: boolean,
  endpoint: Endpoint,
  url: URL,
): Fault | undefined {
  const who = `${endpoint.provider.id} (${url.host})`
  if (deep)
    return { kind: 'invalid', code: 'too-deep', message: `The response of ${who} is nested too deeply to be decoded.` }
  if (!/^\s*</.test(text)) return undefined
  const message = `${who} answered with a web page (“${getPageTitle(text)}”). Check the address in ${getBaseUrlSource(endpoint)}, or whether this network requires a sign-in.`
  return { kind: 'invalid', code: 'web-page', message }
}

/** In bytes: enough for images; anything longer would only fill the memory. */
export const MAX_RESPONSE_BYTES = 32 * 2 ** 20

export function createOversizedFault(endpoint: Endpoint): Fault {
  const size = `${MAX_RESPONSE_BYTES / 2 ** 20} MB`
  const message = `The response of ${endpoint.provider.id} is too long: more than ${size}.`
  return { kind: 'invalid', code: 'too-long', message }
}

/** A request with a key in it is never redirected. */
export function createRedirectFault(status: number, location: string | undefined, endpoint: Endpoint, url: URL): Fault {
  const to = location !== undefined && URL.canParse(location, url.href) ? new URL(location, url).host : 'nowhere'
  const message = `${endpoint.provider.id} (${url.host}) redirects to ${to}, which is not followed. If that is right, set ${getBaseUrlSource(endpoint)}.`
  return { kind: 'invalid', status, message }
}

/** Nobody asked for another protocol, so this is a proxy or a wrong address. */
export function createProtocolSwitchFault(status: number, endpoint: Endpoint, url: URL): Fault {
  const name = status === 101 ? ' (Switching Protocols)' : ''
  const message = `${endpoint.provider.id} (${url.host}) answered ${status}${name}, which is not a response to a request. Check the address in ${getBaseUrlSource(endpoint)}, and the proxy.`
  return { kind: 'invalid', status, message }
}

export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 120_000) return `${Math.round(ms / 1000)} s`
  return ms < 2 * 3_600_000 ? `${Math.round(ms / 60_000)} minutes` : `${Math.round(ms / 3_600_000)} hours`
}

export const UNSUPPORTED_PROXY_CODE = 'unsupported'

/** `proxy` is the proxy's address; empty if it could not be parsed. */
export class ProxyError extends Error {
  readonly proxy: string
  readonly code: string

  constructor(proxy: string, code: string, message: string) {
    super(message)
    this.proxy = proxy
    this.code = code
  }
}

function createProxyFault(code: string, message: string, proxy: string): Fault {
  if (code === UNSUPPORTED_PROXY_CODE) return { kind: 'invalid', message }
  const authMessage = `The proxy ${proxy} requires authentication: put user:password@ into its URL.`
  if (code === '407') return { kind: 'auth', status: 407, message: authMessage }
  const failure = `The proxy ${proxy} cannot be used (${message}). Try again, or check the proxy variables.`
  return { kind: 'transport', code, message: failure }
}

function getErrorDetails(error: unknown): { code?: string; message: string; proxy?: string } {
  if (!(error instanceof Error)) return { message: String(error) }
  const { code, proxy } = error as { code?: unknown; proxy?: unknown }
  return {
    message: error.message,
    ...(typeof code === 'string' && { code }),
    ...(typeof proxy === 'string' && { proxy }),
  }
}

const CERTIFICATE_ERROR_CODE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|ERR_TLS_CERT/
