import { describeNonPublicAddress, isIpAddress } from './ip-address.ts'
import type { Decision } from '../policy.ts'
import { allow, checkUrl, deny, isNonWebPort, isPrivateHost, parseUrl, type UrlCheckOptions } from './check-url.ts'

export type UrlUsage =
  | 'fetch'
  | 'markdown-image'
  | 'open-browser'
  | 'mcp-url'
  | 'oauth-metadata'
  | 'oauth-token'
  | 'oauth-callback'
  | 'own-server'

export interface UrlCheckContext extends UrlCheckOptions {
  /** Who named the URL. */
  readonly origin?: 'user' | 'user-config' | 'project-config' | 'tool-output'
  /** The issuer with which the user agreed to sign in. */
  readonly issuer?: string
  /** The server that names this URL, as configured by the user. */
  readonly server?: string
  /** The value that the sign-in must return. */
  readonly state?: string
  /** The headers of a request to our local server. */
  readonly request?: { readonly host?: string; readonly origin?: string }
}

/** Checks a URL for its usage, before names are resolved. */
export function checkUrlForUsage(surface: UrlUsage, text: string, context: UrlCheckContext = {}): Decision {
  if (surface === 'markdown-image')
    return deny('url-image', 'Pictures in a text are never loaded; they are shown as links.')
  if (surface === 'fetch') return checkUrl(text, { typed: context.origin === 'user', ...context })
  if (surface === 'mcp-url') return checkMcpServerUrl(text, context)
  if (surface === 'oauth-callback') return checkOAuthCallback(text, context)
  if (surface === 'own-server') return checkLocalServerRequest(text, context)
  return checkSignInUrl(surface, text, context)
}

/**
 * Sign-in and token URLs must be https, public, and of the agreed issuer. A server that the user configured on a
 * private host may name URLs of its own host.
 */
function checkSignInUrl(surface: UrlUsage, text: string, { issuer, server, ...rules }: UrlCheckContext): Decision {
  if (server !== undefined && isOnSamePrivateHost(server, text)) return checkServerHost(text, server)
  if (!/^https:/i.test(text)) return deny('url-https', 'Signing in works over https only.')
  const urlDecision = checkUrl(text, { ...rules, typed: true })
  if (urlDecision.verdict !== 'allow' || surface !== 'oauth-token' || issuer === undefined) return urlDecision
  const [host, issuerHost] = [new URL(text).hostname, URL.canParse(issuer) ? new URL(issuer).hostname : '']
  if (issuerHost !== '' && (host === issuerHost || host.endsWith(`.${issuerHost}`))) return urlDecision
  return deny('url-issuer', `${host} is not ${issuerHost || 'the issuer'}, with whom the user agreed to sign in.`)
}

/** A server may be on this machine. Others need https, and approval unless the user named them. */
function checkMcpServerUrl(text: string, { origin, ...rules }: UrlCheckContext): Decision {
  const local = isLoopbackUrl(text)
  const urlDecision = local ? allow('url-local', 'It is on this machine.') : checkUrl(text, { ...rules, typed: true })
  if (urlDecision.verdict === 'deny') return urlDecision
  if (!local && !/^https:/i.test(text)) return deny('url-https', 'A tool server elsewhere must be reached over https.')
  if (origin === 'user' || origin === 'user-config') return urlDecision
  return { verdict: 'ask', rule: 'url-origin', why: 'The address of this tool server does not come from the user.' }
}

/** Is a text a URL on the same host as a server, and is that host private? */
export function isOnSamePrivateHost(server: string, text: string): boolean {
  const [one, other] = [parseUrl(server), parseUrl(text)]
  if ('verdict' in one || 'verdict' in other || !isPrivateHost(one.hostname)) return false
  return one.hostname === other.hostname || (isLoopbackUrl(one.origin) && isLoopbackUrl(other.origin))
}

function checkServerHost(text: string, server: string): Decision {
  const [{ host, port, protocol }, serverUrl] = [new URL(text), new URL(server)]
  const number = Number(port || (protocol === 'https:' ? 443 : 80))
  if (port === serverUrl.port || !isNonWebPort(number))
    return allow('url-server-host', `${host} is the host of the server itself.`)
  return deny('url-port', `Port ${number} belongs to another service than the web.`)
}

function checkOAuthCallback(text: string, { state }: UrlCheckContext): Decision {
  if (!isLoopbackUrl(text)) return deny('url-callback', 'The answer of a sign-in must come to this machine.')
  const returnedState = new URL(text).searchParams.get('state')
  if (state !== undefined && state !== '' && returnedState === state)
    return allow('url-state', 'It answers our own sign-in.')
  return deny('url-state', 'It answers a sign-in that we did not start.')
}

/** A web page must not reach our local server, neither by another name for this machine nor from another origin. */
function checkLocalServerRequest(text: string, { request = {} }: UrlCheckContext): Decision {
  if (!isLoopbackUrl(text)) return deny('url-own', 'The server listens on this machine only.')
  const { port, protocol } = new URL(text)
  const names = ['127.0.0.1', 'localhost', '[::1]'].map((name) => (port === '' ? name : `${name}:${port}`))
  if (request.host === undefined || !names.includes(request.host)) {
    return deny('url-host-header', 'The request was made to another name than that of this machine.')
  }
  if (request.origin === undefined || request.origin === `${protocol}//${request.host}`) {
    return allow('url-own', 'It comes from this machine.')
  }
  return deny('url-origin-header', `The request comes from a page of ${request.origin}.`)
}

function isLoopbackUrl(text: string): boolean {
  if (!/^https?:\/\/[^/\\@\s]+(?:\/[^\s]*)?$/i.test(text) || !URL.canParse(text)) return false
  const { hostname, username } = new URL(text)
  const loopback =
    isIpAddress(hostname) && describeNonPublicAddress(hostname) === 'this machine' && !/^0\.|^\[::\]$/.test(hostname)
  return username === '' && (hostname === 'localhost' || loopback)
}
