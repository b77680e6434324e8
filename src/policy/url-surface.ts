import { innerAddress, isAddress } from './address.ts'
import type { Decision, Verdict } from './policy.ts'
import { isInnerHost, isServicePort, judgeUrl, readUrl, type UrlRules } from './url.ts'

/** The parts of a program that meet an address. */
export type UrlSurface =
  | 'fetch'
  | 'markdown-image'
  | 'open-browser'
  | 'mcp-url'
  | 'oauth-metadata'
  | 'oauth-token'
  | 'oauth-callback'
  | 'own-server'

/** What is known around an address, by surface. */
export interface UrlContext extends UrlRules {
  /** Who named the address: the person, their settings, the project's settings, or anything that a tool or a page said. */
  readonly origin?: 'user' | 'user-config' | 'project-config' | 'tool-output'
  /** Whom the person agreed to sign in with. */
  readonly issuer?: string
  /** The server that names this address, as the person set it up. */
  readonly server?: string
  /** The value that the answer of a sign-in must bring back. */
  readonly state?: string
  /** The headers of a request to a server of ours. */
  readonly request?: { readonly host?: string; readonly origin?: string }
}

/** Judges an address for the part of the program that meets it, before names are looked up. */
export function judgeUrlOn(surface: UrlSurface, text: string, context: UrlContext = {}): Decision {
  if (surface === 'markdown-image')
    return no('url-image', 'Pictures in a text are never loaded; they are shown as links.')
  if (surface === 'fetch') return judgeUrl(text, { typed: context.origin === 'user', ...context })
  if (surface === 'mcp-url') return toolServer(text, context)
  if (surface === 'oauth-callback') return signInAnswer(text, context)
  if (surface === 'own-server') return ownServer(text, context)
  return secure(surface, text, context)
}

/**
 * Addresses where a person signs in, or a program gets its token: https, public, and of the party that was agreed to. A
 * server that the person set up on their own machine or network may name addresses of its own host.
 */
function secure(surface: UrlSurface, text: string, { issuer, server, ...rules }: UrlContext): Decision {
  if (server !== undefined && isOnInnerHostOf(server, text)) return ownHost(text, server)
  if (!/^https:/i.test(text)) return no('url-https', 'Signing in works over https only.')
  const judged = judgeUrl(text, { ...rules, typed: true })
  if (judged.verdict !== 'allow' || surface !== 'oauth-token' || issuer === undefined) return judged
  const [host, agreed] = [new URL(text).hostname, URL.canParse(issuer) ? new URL(issuer).hostname : '']
  if (agreed !== '' && (host === agreed || host.endsWith(`.${agreed}`))) return judged
  return no('url-issuer', `${host} is not ${agreed || 'the issuer'}, with whom the person agreed to sign in.`)
}

/** A tool server may be on this machine. Others need https; and one that the person did not name is asked about. */
function toolServer(text: string, { origin, ...rules }: UrlContext): Decision {
  const local = isOwnMachine(text)
  const judged = local ? yes('url-local', 'It is on this machine.') : judgeUrl(text, { ...rules, typed: true })
  if (judged.verdict === 'deny') return judged
  if (!local && !/^https:/i.test(text)) return no('url-https', 'A tool server elsewhere must be reached over https.')
  if (origin === 'user' || origin === 'user-config') return judged
  return { verdict: 'ask', rule: 'url-origin', why: 'The address of this tool server does not come from the person.' }
}

/** Is a text an address on the same host as a server, and is that a host which is not on the public net? */
export function isOnInnerHostOf(server: string, text: string): boolean {
  const [one, other] = [readUrl(server), readUrl(text)]
  if ('verdict' in one || 'verdict' in other || !isInnerHost(one.hostname)) return false
  return one.hostname === other.hostname || (isOwnMachine(one.origin) && isOwnMachine(other.origin))
}

function ownHost(text: string, server: string): Decision {
  const [{ host, port, protocol }, own] = [new URL(text), new URL(server)]
  const number = Number(port || (protocol === 'https:' ? 443 : 80))
  if (port === own.port || !isServicePort(number))
    return yes('url-server-host', `${host} is the host of the server itself.`)
  return no('url-port', `Port ${number} belongs to another service than the web.`)
}

function signInAnswer(text: string, { state }: UrlContext): Decision {
  if (!isOwnMachine(text)) return no('url-callback', 'The answer of a sign-in must come to this machine.')
  const brought = new URL(text).searchParams.get('state')
  if (state !== undefined && state !== '' && brought === state) return yes('url-state', 'It answers our own sign-in.')
  return no('url-state', 'It answers a sign-in that we did not start.')
}

/** A page in a browser must not reach a server of ours: neither by a name of its own for this machine, nor from another origin. */
function ownServer(text: string, { request = {} }: UrlContext): Decision {
  if (!isOwnMachine(text)) return no('url-own', 'The server listens on this machine only.')
  const { port, protocol } = new URL(text)
  const names = ['127.0.0.1', 'localhost', '[::1]'].map((name) => (port === '' ? name : `${name}:${port}`))
  if (request.host === undefined || !names.includes(request.host)) {
    return no('url-host-header', 'The request was made to another name than that of this machine.')
  }
  if (request.origin === undefined || request.origin === `${protocol}//${request.host}`) {
    return yes('url-own', 'It comes from this machine.')
  }
  return no('url-origin-header', `The request comes from a page of ${request.origin}.`)
}

function isOwnMachine(text: string): boolean {
  if (!/^https?:\/\/[^/\\@\s]+(?:\/[^\s]*)?$/i.test(text) || !URL.canParse(text)) return false
  const { hostname, username } = new URL(text)
  const loopback = isAddress(hostname) && innerAddress(hostname) === 'this machine' && !/^0\.|^\[::\]$/.test(hostname)
  return username === '' && (hostname === 'localhost' || loopback)
}

function no(rule: string, why: string): Decision {
  return decision('deny', rule, why)
}

function yes(rule: string, why: string): Decision {
  return decision('allow', rule, why)
}

function decision(verdict: Verdict, rule: string, why: string): Decision {
  return { verdict, rule, why }
}
